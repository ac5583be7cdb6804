// Tracks the RAM of the runtime that is registered with the driver (pinned), so that copies are asynchronous and need
// no staging. Registers chunks at their first use: it takes long, and registering all at once may fail. A copy lies
// within one chunk.
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

  /// `regions`: they and the devices must outlive it; no copy of them may be in flight at its destruction.
  explicit PinnedMemory(std::vector<std::span<std::byte>> regions);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  /// Registers the missing chunks of this range with the device, which is current. False if the range is not within a
  /// region, or if the driver refuses. Any thread. Throws DeviceLostError.
  bool pin(const CudaDevice& device, const std::byte* begin, Bytes bytes);
  /// Bytes from `begin` to the end of its chunk; `begin` is in a region.
  Bytes bytes_left_in_chunk(const std::byte* begin) const noexcept;

 private:
  enum class State : std::uint8_t { unregistered, registered, refused };
  struct Region {
    std::span<std::byte> bytes;
    std::vector<State> chunks;
    std::span<std::byte> chunk(std::size_t number) const noexcept;
  };
  const Region* region_of(const std::byte* begin) const noexcept;
  /// Unregisters until the device, which is current, is lost.
  void unregister_by(const CudaDevice& device) noexcept;

  std::mutex mutex_;  // guards the chunk states and the fields below
  std::vector<Region> regions_;
  std::vector<const CudaDevice*> devices_;  // that registered chunks
};

}  // namespace fairlead::backend::cu
