// Transfers between RAM and the memory of a CUDA device. Each direction has a stream with two copies in flight, so
// that the link is busy when the first ends. The runtime's RAM is pinned and copied directly; the program's own
// memory passes through a pinned staging buffer.
#pragma once
#include <array>
#include <cstddef>
#include <optional>

#include "backend/cuda/device.hpp"
#include "backend/cuda/pinned_memory.hpp"
#include "backend/device/driver_link.hpp"

namespace fairlead::backend::cu {

class CudaDeviceLink final : public DriverLink {
 public:
  /// Both must outlive it. Throws SystemError.
  CudaDeviceLink(const CudaDevice& device, PinnedMemory& pinned);
  ~CudaDeviceLink() override;

 private:
  static constexpr unsigned together = 2;
  struct Slot {
    Event event = nullptr;
    std::byte* buffer = nullptr;
    Bytes buffer_bytes = 0;
    bool passes_buffer = false;  // the copy in flight uses the buffer
  };
  struct Way {
    Stream stream = nullptr;
    std::optional<CudaDevice::Current>
        current;  // for the direction's thread; kept, so that nothing can fail at the end of a copy
    std::array<Slot, together> slots;
  };
  TransferResult start_copy(unsigned direction, unsigned slot, const Transfer& load) override;
  TransferResult wait_for_copy(unsigned direction, unsigned slot, const Transfer& load) override;
  void thread_ending(unsigned direction) noexcept override { ways_[direction].current.reset(); }
  void copy(unsigned direction, const Transfer& load, std::byte* host, bool in_chunks);
  void make_room(Slot& slot, Bytes bytes) const;
  void release() noexcept;

  const CudaDevice& device_;
  PinnedMemory& pinned_;
  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend::cu
