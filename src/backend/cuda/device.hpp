// A device of a runtime: its context, which it shares with all else in the process that uses CUDA, and the block that is
// its memory. A device may be lost: then the runtime is told, once, and nothing is called for it any more.
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

/// Whether a device of the driver is lost. All that a runtime has on it shares this, as its context: it is lost at once.
class Fate {
 public:
  /// `on_lost`: called once, with what the driver said.
  explicit Fate(std::function<void(const std::string& words)> on_lost) : on_lost_(std::move(on_lost)) {}
  bool lost() const noexcept { return lost_.load(); }
  /// Nothing more is to be called for it, and nobody is told, but who wants to use it afterwards.
  void end(const std::string& words);
  void become_lost(const std::string& words);
  std::string how() const;

 private:
  const std::function<void(const std::string& words)> on_lost_;
  mutable std::mutex mutex_;  // guards the next
  std::string how_;           // once it is lost, it stays as it is
  std::atomic<bool> lost_ = false;
};

class OpenDevice {
 public:
  struct Settings {
    std::string name;        ///< as the runtime calls it: "cuda 0"
    Bytes memory_bytes = 0;  ///< all that it takes; 0: none, it is its context only
    std::shared_ptr<Fate> fate;
    std::atomic<bool>* somebody_asks =
        nullptr;  ///< of all that wait for devices of a runtime one; outlives it
  };
  /// Takes the memory at once. Throws SystemError if the device does not give it.
  OpenDevice(std::shared_ptr<const Driver> driver, const FoundDevice& device, Settings settings);
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  ~OpenDevice();

  const Driver& driver() const noexcept { return *driver_; }
  int number() const noexcept { return device_; }
  Context context() const noexcept { return context_; }
  const std::string& name() const noexcept { return settings_.name; }
  std::byte* at(Bytes offset) const noexcept { return reinterpret_cast<std::byte*>(memory_ + offset); }

  /// While it lives, the thread's calls are for this device. Throws DeviceLostError.
  class Current {
   public:
    explicit Current(const OpenDevice& device);
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current();

   private:
    const OpenDevice& device_;
  };

  // All of them with this device current; what they give is the caller's, until it is released. Throw SystemError.
  Stream make_stream() const;
  Event make_event() const;
  /// Of a module that is loaded when one of its kernels is first asked for.
  Function function(const CudaKernel& kernel) const;
  /// RAM that the device follows at the same address.
  std::byte* take_host(Bytes bytes) const;
  /// With this device current, `act` gives back what is on it, and throws nothing. Not if the device is lost. A driver that does
  /// not make it current is asked once more: else all that would stay until the process ends.
  void give_back(const std::function<void()>& act) const noexcept;
  // Nothing is done if the device is lost.
  void release(Stream stream) const noexcept;
  void release(Event event) const noexcept;
  void release_host(void* memory) const noexcept;
  /// Something was, with that status. While things end nobody wants to be told that the device is lost, but nothing more is to
  /// be called for it.
  void given_back(Status status, const char* what) const noexcept;

  /// Marks what is in the stream so far. Throws SystemError, when nothing is in it any more.
  void mark(Stream stream, Event event) const;
  /// Until the device has done what was in the stream when the event was put there: asked for a while, unless somebody else asks,
  /// then waited for.
  /// Throws SystemError, when nothing is in the stream any more.
  void wait(Stream stream, Event event) const;
  /// Until nothing is in the stream. A driver that cannot say so, asked three times, has lost the device. Throws DeviceLostError.
  void empty(Stream stream) const;

  bool lost() const noexcept { return settings_.fate->lost(); }
  /// Throws DeviceLostError if it is.
  void check_there() const;
  /// The same, and the driver is asked, which may know it before anybody here does.
  void ask_whether_there() const;
  /// "cuda 0 (NVIDIA H200): cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  std::string problem(Status status, const char* what) const;
  /// Throws SystemError with that if it is one; DeviceLostError if the device is lost by it, which then has been told.
  void check(Status status, const char* what) const;

 private:
  Status ask(Event event) const;
  [[noreturn]] void throw_lost() const;
  void become_lost(Status status, const char* what) const;

  const std::shared_ptr<const Driver> driver_;
  const Device device_;
  const std::string device_name_;
  const Settings settings_;
  Context context_ = nullptr;
  Pointer memory_ = 0;
  mutable Modules modules_;
};

}  // namespace fairlead::backend::cu
