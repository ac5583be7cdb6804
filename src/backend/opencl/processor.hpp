// Runs the tasks of one worker of an OpenCL device. A body enqueues its commands in the worker's queue; the task
// completes when the device has done them. So a worker has one task on the device at a time.
#pragma once
#include <fairlead/opencl.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backend/backend.hpp"
#include "backend/opencl/device.hpp"
#include "backend/opencl/programs.hpp"

namespace fairlead::backend::cl {

class OpenclProcessor final : public DeviceProcessor, public detail::OpenclLauncher {
 public:
  /// Both must outlive it. `workspace`: bytes to allocate on the device as workspace. Throws SystemError.
  OpenclProcessor(const OpenclDevice& device, Programs& programs, Bytes workspace);
  OpenclProcessor(const OpenclProcessor&) = delete;
  OpenclProcessor& operator=(const OpenclProcessor&) = delete;
  ~OpenclProcessor() override;

  /// Throws the exception of the body, after launched work has ended, so that the data are unused; or SystemError if
  /// the device fails.
  bool run(const Implementation& implementation, TaskContext& context) override;

  _cl_command_queue* queue() const noexcept override { return queue_; }
  _cl_context* context() const noexcept override { return device_.context(); }
  _cl_device_id* device() const noexcept override { return device_.device(); }
  OpenclBuffer where(const void* address) const override { return device_.where(address); }
  void launch(const OpenclKernel& kernel, const OpenclRange& range,
              std::span<const Argument> arguments) override;
  void check(int status, const char* what) const override { device_.check(status, what); }
  _cl_mem* workspace() const noexcept override { return workspace_; }
  std::size_t workspace_bytes() const noexcept override { return workspace_bytes_; }

 private:
  struct Launched {
    Event event;
    const std::string* kernel;
  };
  Kernel kernel_of(const OpenclKernel::Text& text, const std::string*& name);
  void wait();

  const OpenclDevice& device_;
  Programs& programs_;
  const Queue queue_;
  const Bytes workspace_bytes_;
  Buffer workspace_ = nullptr;
  std::map<std::tuple<std::string, std::string, std::string>, Kernel, std::less<>>
      kernels_;                     // name, source, options
  std::vector<Launched> launched_;  // by the running task
};

}  // namespace fairlead::backend::cl
