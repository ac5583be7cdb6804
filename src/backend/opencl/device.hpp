// A device of a runtime: its context, and the buffer that is its memory. OpenCL buffers have no addresses, so bodies
// get artificial ones, which this class translates to buffer offsets.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "backend/opencl/driver.hpp"

namespace fairlead::backend::cl {

class OpenclDevice {
 public:
  struct Settings {
    std::string name;  ///< in the runtime: "opencl 0"
    Bytes memory_bytes = 0;
    std::uintptr_t begin{};  ///< artificial start address of its memory, where no process has anything
  };
  /// Allocates the memory. Throws SystemError if the device refuses.
  OpenclDevice(std::shared_ptr<const OpenclDriver> driver, const OpenclDeviceInfo& device, Settings settings);
  OpenclDevice(const OpenclDevice&) = delete;
  OpenclDevice& operator=(const OpenclDevice&) = delete;
  ~OpenclDevice();

  const OpenclDriver& driver() const noexcept { return *driver_; }
  Context context() const noexcept { return context_; }
  Device device() const noexcept { return device_; }
  void* begin() const noexcept { return reinterpret_cast<void*>(settings_.begin); }

  /// Makes a queue; the caller owns it and calls release(). Throws SystemError.
  Queue make_queue() const;
  void release(Queue queue) const noexcept;
  /// A separate buffer, fully allocated on the device; the caller owns it. Throws SystemError.
  Buffer take(Queue queue, Bytes bytes) const;

  /// The buffer and byte offset for an offset in its memory.
  OpenclBuffer at(Bytes offset) const noexcept { return {memory_, offset}; }
  /// The buffer and byte offset of a body's address. Throws UsageError if it is not in this memory.
  OpenclBuffer where(const void* address) const;

  /// "opencl 0 (pthread-AMD EPYC): clFinish: CL_OUT_OF_RESOURCES (-5)".
  std::string problem(Status status, const char* what) const;
  /// Throws SystemError with this text if the status is an error.
  void check(Status status, const char* what) const;

 private:
  const std::shared_ptr<const OpenclDriver> driver_;
  const Device device_;
  const std::string device_name_;
  const Settings settings_;
  Context context_ = nullptr;
  Buffer memory_ = nullptr;
};

}  // namespace fairlead::backend::cl
