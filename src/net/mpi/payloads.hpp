// Payloads in flight over MPI, each in one or more parts. Tracks which of them arrive in device memory: while there
// are any, MPI is called as the device's driver requires.
#pragma once
#include <cstddef>
#include <unordered_map>

#include "base/device_memory.hpp"
#include "net/endpoint_commands.hpp"

namespace fairlead::net {

class MpiPayloads {
 public:
  /// `memory`: the destination, if not RAM.
  void add(PayloadId payload, std::size_t parts, DeviceMemory* memory = nullptr) {
    parts_[payload] = parts;
    if (memory != nullptr) into_devices_[payload] = memory;
  }
  /// One part has ended. True if that was the last.
  bool is_over(PayloadId payload) {
    const auto parts = parts_.find(payload);
    if (parts == parts_.end() || --parts->second != 0) return false;
    drop(payload);
    return true;
  }
  void drop(PayloadId payload) {
    parts_.erase(payload);
    into_devices_.erase(payload);
  }
  /// Calls MPI to make progress, through a device that is not lost if there is one.
  template <class Call>
  void go_on(const Call& call) const {
    for (const auto& [payload, memory] : into_devices_)
      if (memory->call(call)) return;
    call();
  }

 private:
  std::unordered_map<PayloadId, std::size_t> parts_;           // parts left
  std::unordered_map<PayloadId, DeviceMemory*> into_devices_;  // of these payloads
};

}  // namespace fairlead::net
