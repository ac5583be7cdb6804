// Codelets of the C interface: functions of the program, and Fairlead's own kernels.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <fairlead_tasks.h>

#include <cstddef>
#include <memory>
#include <span>

#include "c/task_data.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead::c {

/// A task as the program has given it.
struct GivenTask {
  std::span<fairlead_datum* const> data;
  const void* arguments = nullptr;
  std::size_t argument_bytes = 0;
  int priority = 0;
  const char* file = "";
  std::uint32_t line = 0;
};

/// The failure of a body that returned `status`.
class BodyError : public CallbackError {
 public:
  BodyError(const std::string& text, int status) : CallbackError(text), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

}  // namespace fairlead::c

struct fairlead_codelet {
  fairlead_codelet() = default;
  virtual ~fairlead_codelet() = default;
  fairlead_codelet(const fairlead_codelet&) = delete;
  fairlead_codelet& operator=(const fairlead_codelet&) = delete;
  /// Throws as FlowSource::submit(), and UsageError if the data are not those of its parameters.
  virtual void submit(fairlead::front::FlowSource& flow, const fairlead::c::GivenTask& task) const = 0;
};
