// A device of a runtime: its context, and the buffer that is its memory. To OpenCL that has no address, so bodies get
// numbers that no core can follow, and where those are in the buffer is found here.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "backend/opencl/driver.hpp"

namespace fairlead::backend::cl {

class OpenDevice {
 public:
  struct Settings {
    std::string name;  ///< as the runtime calls it: "opencl 0"
    Bytes memory_bytes = 0;
    std::uintptr_t begin{};  ///< where bodies believe that its memory begins; no core finds anything there
  };
  /// Takes the memory at once. Throws SystemError if the device does not give it.
  OpenDevice(std::shared_ptr<const Driver> driver, const FoundDevice& device, Settings settings);
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  ~OpenDevice();

  const Driver& driver() const noexcept { return *driver_; }
  Context context() const noexcept { return context_; }
  Device device() const noexcept { return device_; }
  void* begin() const noexcept { return reinterpret_cast<void*>(settings_.begin); }

  /// One more; the caller's, until release(). Throws SystemError.
  Queue make_queue() const;
  void release(Queue queue) const noexcept;
  /// A buffer beside its memory, of which the device has given every byte; the caller's. Throws SystemError.
  Buffer take(Queue queue, Bytes bytes) const;

  /// Of what begins so far from the beginning of its memory; the offset is in bytes, as that of where().
  OpenclBuffer at(Bytes offset) const noexcept { return {memory_, offset}; }
  /// Of an address that a body has. Throws UsageError if it is not in this memory.
  OpenclBuffer where(const void* address) const;

  /// "opencl 0 (pthread-AMD EPYC): clFinish: CL_OUT_OF_RESOURCES (-5)".
  std::string problem(Status status, const char* what) const;
  /// Throws SystemError with that if it is one.
  void check(Status status, const char* what) const;

 private:
  const std::shared_ptr<const Driver> driver_;
  const Device device_;
  const std::string device_name_;
  const Settings settings_;
  Context context_ = nullptr;
  Buffer memory_ = nullptr;
};

}  // namespace fairlead::backend::cl
