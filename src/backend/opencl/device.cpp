// Contexts, queues and memory of an OpenCL device.
#include "backend/opencl/device.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "config/value.hpp"

namespace fairlead::backend::cl {

OpenclDevice::OpenclDevice(std::shared_ptr<const OpenclDriver> driver, const OpenclDeviceInfo& device,
                           Settings settings)
    : driver_(std::move(driver)),
      device_(device.device),
      device_name_(device.name),
      settings_(std::move(settings)) {
  Status status = success;
  context_ = driver_->clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
  if (context_ == nullptr || status != success) check(status == success ? -6 : status, "clCreateContext");
  Queue queue = nullptr;
  try {
    queue = make_queue();
    memory_ = take(queue, settings_.memory_bytes);
  } catch (...) {
    if (queue != nullptr) release(queue);
    driver_->clReleaseContext(context_);
    throw;
  }
  release(queue);
}

OpenclDevice::~OpenclDevice() {
  driver_->clReleaseMemObject(memory_);
  driver_->clReleaseContext(context_);
}

/// Writes to the buffer at once, since drivers may defer the allocation until the first use.
Buffer OpenclDevice::take(Queue queue, Bytes bytes) const {
  Status status = success;
  const Buffer buffer = driver_->clCreateBuffer(context_, read_write, bytes, nullptr, &status);
  constexpr std::uint32_t nothing = 0;
  if (status == success)
    status = driver_->clEnqueueWriteBuffer(queue, buffer, yes, bytes - sizeof nothing, sizeof nothing,
                                           &nothing, 0, nullptr, nullptr);
  if (status == success) return buffer;
  if (buffer != nullptr) driver_->clReleaseMemObject(buffer);
  throw SystemError(fmt::format("{}\n  It cannot allocate {}: let Fairlead use less of its memory.",
                                problem(status, "clCreateBuffer"), config::readable_size(bytes)));
}

Queue OpenclDevice::make_queue() const {
  Status status = success;
  const Queue queue = driver_->clCreateCommandQueue(context_, device_, 0, &status);
  check(status, "clCreateCommandQueue");
  return queue;
}

void OpenclDevice::release(Queue queue) const noexcept { driver_->clReleaseCommandQueue(queue); }

OpenclBuffer OpenclDevice::where(const void* address) const {
  const Bytes offset = reinterpret_cast<std::uintptr_t>(address) - settings_.begin;
  if (offset >= settings_.memory_bytes)
    throw UsageError(fmt::format(
        "{}: buffer() got an address outside of its memory\n  It accepts the data and scratch that a "
        "body gets, not the program's own memory.",
        settings_.name));
  return at(offset);
}

std::string OpenclDevice::problem(Status status, const char* what) const {
  return fmt::format("{} ({}): {}: {}", settings_.name, device_name_, what, name_of_status(status));
}

void OpenclDevice::check(Status status, const char* what) const {
  if (status != success) throw SystemError(problem(status, what));
}

}  // namespace fairlead::backend::cl
