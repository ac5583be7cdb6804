// Device memory as the target of messages from other ranks. The interface decouples the backend that owns the memory
// from the network that fills it.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>

namespace fairlead {

/// May be used by any thread. A lost device is a return value, not an error: its memory is never read again.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  /// True if cores and every network can access the addresses directly.
  virtual bool is_ram() const noexcept = 0;
  /// Copies bytes from RAM; they have arrived when it returns. False: the device is lost. Throws SystemError.
  virtual bool write(void* to, const void* from, Bytes bytes) = 0;
  /// Calls `it`, which accesses such addresses directly, in a context that permits this. False: the device is lost
  /// and nothing was called. Throws what `it` throws, and SystemError.
  virtual bool call(const std::function<void()>& it) = 0;
};

}  // namespace fairlead
