// Runs bodies in the worker's queue and waits for their commands.
#include "backend/opencl/processor.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

namespace fairlead::detail {

void offset_is_no_multiple(std::size_t offset, std::size_t element_bytes) {
  throw UsageError(
      fmt::format("an offset of {} bytes is not a multiple of the element size, {} bytes\n  Use "
                  "buffer_in_bytes() for such data.",
                  offset, element_bytes));
}

}  // namespace fairlead::detail

namespace fairlead::backend::cl {

OpenclProcessor::OpenclProcessor(const OpenclDevice& device, Programs& programs, Bytes workspace)
    : device_(device), programs_(programs), queue_(device.make_queue()), workspace_bytes_(workspace) {
  if (workspace == 0) return;
  try {
    workspace_ = device_.take(queue_, workspace);
  } catch (...) {
    device_.release(queue_);
    throw;
  }
}

OpenclProcessor::~OpenclProcessor() {
  for (const auto& [text, kernel] : kernels_) device_.driver().clReleaseKernel(kernel);
  if (workspace_ != nullptr) device_.driver().clReleaseMemObject(workspace_);
  device_.release(queue_);
}

bool OpenclProcessor::run(const Implementation& implementation, TaskContext& context) {
  context.launcher = static_cast<detail::OpenclLauncher*>(this);
  try {
    implementation.run(implementation.body.get(), context);
  } catch (...) {
    try {
      wait();
    } catch (const SystemError&) {  // the first error is reported
    }
    throw;
  }
  wait();
  return true;
}

/// Waits until all commands in the queue have completed.
void OpenclProcessor::wait() {
  const OpenclDriver& driver = device_.driver();
  const Status finished = driver.clFinish(queue_);
  Status failed = success;
  const std::string* kernel = nullptr;
  for (const Launched& one : launched_) {
    Status status = success;
    const Status asked = driver.clGetEventInfo(one.event, execution_status, sizeof status, &status, nullptr);
    if (asked != success) status = asked;
    if (status < 0 && failed == success) {
      failed = status;
      kernel = one.kernel;
    }
    driver.clReleaseEvent(one.event);
  }
  launched_.clear();
  if (failed != success)
    throw SystemError(device_.problem(failed, fmt::format("running the kernel \"{}\"", *kernel).c_str()));
  device_.check(finished, "clFinish");
}

Kernel OpenclProcessor::kernel_of(const OpenclKernel::Text& text, const std::string*& name) {
  auto found = kernels_.find(std::tie(text.name, text.source, text.options));
  if (found == kernels_.end()) {
    const Kernel made = programs_.make(text);
    try {
      found = kernels_.emplace(std::tuple(text.name, text.source, text.options), made).first;
    } catch (...) {
      device_.driver().clReleaseKernel(made);
      throw;
    }
  }
  name = &std::get<0>(found->first);
  return found->second;
}

void OpenclProcessor::launch(const OpenclKernel& kernel, const OpenclRange& range,
                             std::span<const Argument> arguments) {
  const OpenclDriver& driver = device_.driver();
  const std::string* name = nullptr;
  const Kernel ours = kernel_of(kernel.text(), name);
  const auto check = [&](Status status, const std::string& what) {
    if (status != success)
      throw SystemError(device_.problem(status, fmt::format("{} the kernel \"{}\"", what, *name).c_str()));
  };
  for (std::size_t i = 0; i < arguments.size(); ++i)
    check(driver.clSetKernelArg(ours, static_cast<Number>(i), arguments[i].bytes, arguments[i].value),
          fmt::format("argument {}, counted from 0, of", i));
  launched_.reserve(launched_.size() + 1);
  Event event = nullptr;
  check(driver.clEnqueueNDRangeKernel(queue_, ours, range.dimensions(), nullptr, range.items(), range.group(),
                                      0, nullptr, &event),
        "launching");
  launched_.push_back({event, name});
}

}  // namespace fairlead::backend::cl
