// Programs in OpenCL C, each compiled for a device once, when the first task there wants it.
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
  /// The device outlives it.
  explicit Programs(const OpenDevice& device) : device_(device) {}
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs();

  /// A kernel of its own for whoever asks, since setting its arguments is one thread's. The caller's, until he releases
  /// it. Throws SystemError, with what the compiler says.
  Kernel make(const OpenclKernel::Text& text);

 private:
  Program compile(const OpenclKernel::Text& text) const;

  const OpenDevice& device_;
  std::mutex mutex_;                                                // guards what follows
  std::map<std::pair<std::string, std::string>, Program> by_text_;  // source and options
};

}  // namespace fairlead::backend::cl
