// Moves bytes between RAM and the memory of a CUDA device: a stream for each direction, with two copies in it, so that
// the wire has the next one when the first is over. What lies in the runtime's RAM is copied from and to where it is;
// what is in the program's own memory passes a buffer that the driver knows.
#pragma once
#include <array>
#include <cstddef>
#include <optional>

#include "backend/cuda/device.hpp"
#include "backend/cuda/pinned_memory.hpp"
#include "backend/device/two_way_wire.hpp"

namespace fairlead::backend::cu {

class DeviceWire final : public TwoWayWire {
 public:
  /// Both outlive it. Throws SystemError.
  DeviceWire(const OpenDevice& device, PinnedMemory& pinned);
  ~DeviceWire() override;

 private:
  static constexpr unsigned together = 2;
  struct Slot {
    Event event = nullptr;
    std::byte* buffer = nullptr;
    Bytes buffer_bytes = 0;
    bool passes_buffer = false;  // what is under way
  };
  struct Way {
    Stream stream = nullptr;
    std::optional<OpenDevice::Current>
        current;  // for the thread, so that nothing can fail when a copy is to end
    std::array<Slot, together> slots;
  };
  Outcome begin(unsigned direction, unsigned slot, const Load& load) override;
  Outcome end(unsigned direction, unsigned slot, const Load& load) override;
  void leave(unsigned direction) noexcept override { ways_[direction].current.reset(); }
  void copy(unsigned direction, const Load& load, std::byte* host, bool in_chunks);
  void make_room(Slot& slot, Bytes bytes) const;
  void release() noexcept;

  const OpenDevice& device_;
  PinnedMemory& pinned_;
  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend::cu
