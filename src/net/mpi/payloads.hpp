// Payloads that go or come by MPI, each perhaps in several parts, and which of those that come land in devices: as long as there are
// some, MPI is called as the driver of such a device wants it.
#pragma once
#include <cstddef>
#include <unordered_map>

#include "base/device_memory.hpp"
#include "net/commands.hpp"

namespace fairlead::net {

class MpiPayloads {
 public:
  /// `memory`: where it lands, if not in RAM.
  void add(PayloadId payload, std::size_t parts, DeviceMemory* memory = nullptr) {
    parts_[payload] = parts;
    if (memory != nullptr) into_devices_[payload] = memory;
  }
  /// One of its parts is. True if that was the last.
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
  /// Calls MPI, which goes on with what is under way: by a device that is not lost, if there is one.
  template <class Call>
  void go_on(const Call& call) const {
    for (const auto& [payload, memory] : into_devices_)
      if (memory->call(call)) return;
    call();
  }

 private:
  std::unordered_map<PayloadId, std::size_t> parts_;           // so many are left
  std::unordered_map<PayloadId, DeviceMemory*> into_devices_;  // of these
};

}  // namespace fairlead::net
