// A device of a runtime: its context, shared with all other CUDA code in the process, and the block that is its
// memory. When a device is lost, the runtime is notified once, and no more driver calls are made for it.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/modules.hpp"

namespace fairlead::backend::cu {

/// Whether a device of the driver is lost. All users of it in a runtime share this object and the context, so they
/// lose it at the same time.
class LossState {
 public:
  /// `on_lost`: called once, with the driver's error text.
  explicit LossState(std::function<void(const std::string& words)> on_lost) : on_lost_(std::move(on_lost)) {}
  bool lost() const noexcept { return lost_.load(); }
  /// Marks the device as lost without a notification; later uses throw.
  void mark_lost_silently(const std::string& words);
  void become_lost(const std::string& words);
  std::string reason() const;

 private:
  const std::function<void(const std::string& words)> on_lost_;
  mutable std::mutex mutex_;  // guards the next field
  std::string how_;           // does not change once the device is lost
  std::atomic<bool> lost_ = false;
};

class CudaDevice {
 public:
  struct Settings {
    std::string name;        ///< in the runtime: "cuda 0"
    Bytes memory_bytes = 0;  ///< to allocate; 0: context only
    std::shared_ptr<LossState> loss;
    std::atomic<bool>* has_poller =
        nullptr;  ///< true while one thread polls, among all that wait for devices of a runtime; outlives
                  ///< this
  };
  /// Allocates the memory. Throws SystemError if the device refuses.
  CudaDevice(std::shared_ptr<const CudaDriver> driver, const CudaDeviceInfo& device, Settings settings);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice();

  const CudaDriver& driver() const noexcept { return *driver_; }
  int number() const noexcept { return device_; }
  Context context() const noexcept { return context_; }
  const std::string& name() const noexcept { return settings_.name; }
  std::byte* at(Bytes offset) const noexcept { return reinterpret_cast<std::byte*>(memory_ + offset); }

  /// During its lifetime, driver calls of this thread are for this device. Throws DeviceLostError.
  class Current {
   public:
    explicit Current(const CudaDevice& device);
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current();

   private:
    const CudaDevice& device_;
  };

  // These need the device to be current. The caller owns the results and releases them. Throw SystemError.
  Stream make_stream() const;
  Event make_event() const;
  /// Loads the kernel's module at the first use of one of its kernels.
  Function function(const CudaKernel& kernel) const;
  /// Pinned RAM that the device accesses at the same address.
  std::byte* allocate_pinned(Bytes bytes) const;
  /// Calls `act`, which frees resources and does not throw, with this device current; not if the device is lost.
  /// Retries once if the driver fails to make it current, since otherwise the resources stay until the process ends.
  void with_context_noexcept(const std::function<void()>& act) const noexcept;
  // These do nothing if the device is lost.
  void release(Stream stream) const noexcept;
  void release(Event event) const noexcept;
  void release_host(void* memory) const noexcept;
  /// Handles the status of freeing a resource. A loss during destruction is not reported, but no more driver calls
  /// are made.
  void check_released(Status status, const char* what) const noexcept;

  /// Records the event after the stream's current work. Throws SystemError, after the stream is empty.
  void record(Stream stream, Event event) const;
  /// Waits for the work before the event: polls for a while, unless another thread polls, then blocks. Throws
  /// SystemError, after the stream is empty.
  void wait(Stream stream, Event event) const;
  /// Waits until the stream is empty. If the driver fails to confirm this three times, the device counts as lost.
  /// Throws DeviceLostError.
  void synchronize(Stream stream) const;

  bool lost() const noexcept { return settings_.loss->lost(); }
  /// Throws DeviceLostError if the device is lost.
  void throw_if_lost() const;
  /// As throw_if_lost(), but also queries the driver, which may report the loss first.
  void query_and_throw_if_lost() const;
  /// "cuda 0 (NVIDIA H200): cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  std::string problem(Status status, const char* what) const;
  /// Throws SystemError with this text if the status is an error; DeviceLostError if the error means the loss of the
  /// device, after reporting the loss.
  void check(Status status, const char* what) const;

 private:
  Status poll(Event event) const;
  [[noreturn]] void throw_lost() const;
  void become_lost(Status status, const char* what) const;

  const std::shared_ptr<const CudaDriver> driver_;
  const Device device_;
  const std::string device_name_;
  const Settings settings_;
  Context context_ = nullptr;
  Pointer memory_ = 0;
  mutable Modules modules_;
};

}  // namespace fairlead::backend::cu
