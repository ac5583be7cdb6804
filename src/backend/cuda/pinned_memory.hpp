// Which of the runtime's RAM the driver has registered, so that devices copy from and to it by themselves while streams
// go on. It is registered in chunks, each when bytes in it are first copied: that takes long, and all at once may fail.
// A copy lies within one chunk.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backend/cuda/device.hpp"

namespace fairlead::backend::cu {

class PinnedMemory {
 public:
  static constexpr Bytes chunk_bytes = Bytes{64} << 20;

  /// `regions`: they and the devices outlive it, and no copy of theirs is under way when it ends.
  explicit PinnedMemory(std::vector<std::span<std::byte>> regions);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  /// Registers what is not yet, by the device, which is current. False if not all of that is in the regions, or if
  /// the driver refuses. Any thread. Throws DeviceLostError.
  bool pin(const OpenDevice& device, const std::byte* begin, Bytes bytes);
  /// From there on in one chunk; `begin` is in a region.
  Bytes in_one_piece(const std::byte* begin) const noexcept;

 private:
  enum class State : std::uint8_t { as_it_is, registered, refused };
  struct Region {
    std::span<std::byte> bytes;
    std::vector<State> chunks;
    std::span<std::byte> chunk(std::size_t number) const noexcept;
  };
  const Region* region_of(const std::byte* begin) const noexcept;
  /// As long as the device, which is current, is there.
  void unregister_by(const OpenDevice& device) noexcept;

  std::mutex mutex_;  // guards the states of chunks and what follows
  std::vector<Region> regions_;
  std::vector<const OpenDevice*> devices_;  // by which something was registered
};

}  // namespace fairlead::backend::cu
