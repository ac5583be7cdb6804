// The memory of a device to which others than its own wires bring bytes: what comes from other ranks. It stands between the
// backend that has the memory and the network that fills it, of which neither knows the other.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>

namespace fairlead {

/// Any thread. Where a device is lost, nobody will look at its memory again: that is an answer and no error.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  /// Cores follow its addresses, and so does every network.
  virtual bool is_ram() const noexcept = 0;
  /// Brings bytes of RAM there: they are there when it returns. False: the device is lost. Throws SystemError.
  virtual bool write(void* to, const void* from, Bytes bytes) = 0;
  /// Calls what follows such addresses by itself, in a way in which it can. False: the device is lost, and nothing was called. Throws
  /// what that does, and SystemError.
  virtual bool call(const std::function<void()>& it) = 0;
};

}  // namespace fairlead
