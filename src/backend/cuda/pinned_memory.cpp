// Registers host memory chunk by chunk.
#include "backend/cuda/pinned_memory.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <functional>

namespace fairlead::backend::cu {

PinnedMemory::PinnedMemory(std::vector<std::span<std::byte>> regions) {
  for (const std::span<std::byte> bytes : regions)
    if (!bytes.empty())
      regions_.push_back(
          {bytes, std::vector<State>((bytes.size() + chunk_bytes - 1) / chunk_bytes, State::unregistered)});
}

/// Any device can unregister a chunk. If all devices are lost, it stays registered until the process ends.
PinnedMemory::~PinnedMemory() {
  for (const CudaDevice* const device : devices_)
    device->with_context_noexcept([&] { unregister_by(*device); });
}

void PinnedMemory::unregister_by(const CudaDevice& device) noexcept {
  for (Region& region : regions_)
    for (std::size_t i = 0; i < region.chunks.size() && !device.lost(); ++i) {
      if (region.chunks[i] != State::registered) continue;
      const Status status = device.driver().cuMemHostUnregister(region.chunk(i).data());
      device.check_released(status, "cuMemHostUnregister");
      if (status == success) region.chunks[i] = State::unregistered;
    }
}

std::span<std::byte> PinnedMemory::Region::chunk(std::size_t number) const noexcept {
  const Bytes first = number * chunk_bytes;
  return bytes.subspan(first, std::min(chunk_bytes, bytes.size() - first));
}

const PinnedMemory::Region* PinnedMemory::region_of(const std::byte* begin) const noexcept {
  const auto found = std::ranges::find_if(regions_, [&](const Region& region) {
    return std::less_equal<>()(region.bytes.data(), begin) &&
           std::less<>()(begin, region.bytes.data() + region.bytes.size());
  });
  return found == regions_.end() ? nullptr : &*found;
}

bool PinnedMemory::pin(const CudaDevice& device, const std::byte* begin, Bytes bytes) {
  const Region* const found = region_of(begin);
  if (found == nullptr) return false;
  const auto first = static_cast<Bytes>(begin - found->bytes.data());
  if (bytes > found->bytes.size() - first) return false;
  const std::lock_guard lock(mutex_);
  Region& region = regions_[static_cast<std::size_t>(found - regions_.data())];
  for (std::size_t i = first / chunk_bytes; i * chunk_bytes < first + bytes; ++i) {
    State& state = region.chunks[i];
    if (state == State::unregistered) {
      const std::span<std::byte> chunk = region.chunk(i);
      const Status status =
          device.driver().cuMemHostRegister_v2(chunk.data(), chunk.size(), register_for_all);
      if (is_fatal(status)) device.check(status, "cuMemHostRegister");
      state = status == success ? State::registered : State::refused;
      if (std::ranges::find(devices_, &device) == devices_.end()) devices_.push_back(&device);
    }
    if (state == State::refused) return false;
  }
  return true;
}

Bytes PinnedMemory::bytes_left_in_chunk(const std::byte* begin) const noexcept {
  const Region& region = *region_of(begin);
  const auto first = static_cast<Bytes>(begin - region.bytes.data());
  return chunk_bytes - first % chunk_bytes;
}

}  // namespace fairlead::backend::cu
