// Moves bytes between RAM and the memory of an OpenCL device, one copy after the other in each direction, by a thread
// and a queue of its own for each. Copies are always made, also where a device is the processor and has its memory in
// RAM: where the bytes are is decided by the engine alone.
#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/carrier.hpp"
#include "backend/opencl/device.hpp"

namespace fairlead::backend::cl {

class DeviceWire final : public Carrier {
 public:
  /// The device outlives it. Throws SystemError.
  explicit DeviceWire(const OpenDevice& device);
  DeviceWire(const DeviceWire&) = delete;
  DeviceWire& operator=(const DeviceWire&) = delete;
  ~DeviceWire() override;

  void start(const Load& load) override;
  /// Waits for the copies that are under way; those that wait are forgotten.
  void stop() noexcept override;
  std::size_t threads() const noexcept override { return ways_.size(); }

 private:
  struct Way {
    Queue queue = nullptr;
    std::deque<Load> loads;
    std::vector<std::byte> packed;  // of data that the program's own functions pack
    std::thread thread;
  };
  void run(Way& way);
  Outcome move(Way& way, const Load& load) const;
  Status write(Way& way, const Load& load) const;
  Status read(Way& way, const Load& load) const;

  const OpenDevice& device_;
  std::mutex mutex_;  // guards the loads, and what follows but the threads
  std::condition_variable changed_;
  bool ending_ = false;
  std::array<Way, 2> ways_;  // to the device, and back
};

}  // namespace fairlead::backend::cl
