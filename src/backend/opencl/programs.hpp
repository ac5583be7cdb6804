// Programs in OpenCL C, compiled once per device, when the first task needs them.
#pragma once
#include <fairlead/opencl.hpp>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "backend/opencl/device.hpp"

namespace fairlead::backend::cl {

/// Any thread.
class Programs {
 public:
  /// The device must outlive it.
  explicit Programs(const OpenclDevice& device) : device_(device) {}
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs();

  /// Makes a kernel for the caller alone, since setting arguments is not thread-safe. The caller releases it. Throws
  /// SystemError with the compiler's messages.
  Kernel make(const OpenclKernel::Text& text);

 private:
  Program compile(const OpenclKernel::Text& text) const;

  const OpenclDevice& device_;
  std::mutex mutex_;                                                // guards the field below
  std::map<std::pair<std::string, std::string>, Program> by_text_;  // source and options
};

}  // namespace fairlead::backend::cl
