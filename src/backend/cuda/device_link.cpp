// Copies between RAM and a CUDA device, directly or through a pinned buffer.
#include "backend/cuda/device_link.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/cuda/outcome.hpp"

namespace fairlead::backend::cu {

CudaDeviceLink::CudaDeviceLink(const CudaDevice& device, PinnedMemory& pinned)
    : DriverLink(together), device_(device), pinned_(pinned) {
  try {
    const CudaDevice::Current current(device_);
    for (Way& way : ways_) {
      way.stream = device_.make_stream();
      for (Slot& slot : way.slots) slot.event = device_.make_event();
    }
    begin_threads();
  } catch (...) {
    stop();
    release();
    throw;
  }
}

CudaDeviceLink::~CudaDeviceLink() {
  stop();
  release();
}

void CudaDeviceLink::release() noexcept {
  device_.with_context_noexcept([&] {
    for (Way& way : ways_) {
      for (Slot& slot : way.slots) {
        device_.release_host(slot.buffer);
        device_.release(slot.event);
      }
      device_.release(way.stream);
    }
  });
}

void CudaDeviceLink::make_room(Slot& slot, Bytes bytes) const {
  if (slot.buffer_bytes >= bytes) return;
  slot.buffer_bytes = 0;
  if (std::byte* const smaller = std::exchange(slot.buffer, nullptr); smaller != nullptr) {
    const Status status = device_.driver().cuMemFreeHost(smaller);
    // Not check_released(): during a run, the loss of the device must be reported.
    if (is_fatal(status)) device_.check(status, "cuMemFreeHost");
  }
  slot.buffer = device_.allocate_pinned(bytes);
  slot.buffer_bytes = bytes;
}

/// Enqueues the copy in the stream.
void CudaDeviceLink::copy(unsigned direction, const Transfer& load, std::byte* host, bool in_chunks) {
  const CudaDriver& driver = device_.driver();
  const Stream stream = ways_[direction].stream;
  for (Bytes at = 0; at < load.bytes;) {
    const Bytes bytes =
        in_chunks ? std::min(pinned_.bytes_left_in_chunk(host + at), load.bytes - at) : load.bytes;
    if (direction == to_device)
      device_.check(driver.cuMemcpyHtoDAsync_v2(reinterpret_cast<Pointer>(device_.at(load.to.offset + at)),
                                                host + at, bytes, stream),
                    "cuMemcpyHtoDAsync");
    else
      device_.check(
          driver.cuMemcpyDtoHAsync_v2(host + at, reinterpret_cast<Pointer>(device_.at(load.from.offset + at)),
                                      bytes, stream),
          "cuMemcpyDtoHAsync");
    at += bytes;
  }
}

TransferResult CudaDeviceLink::start_copy(unsigned direction, unsigned number, const Transfer& load) {
  Way& way = ways_[direction];
  Slot& slot = way.slots[number];
  std::byte* const host = direction == to_device ? load.from.host : load.to.host;
  return outcome_of_driver([&] {
    device_.throw_if_lost();
    if (!way.current) way.current.emplace(device_);
    slot.passes_buffer = load.layout != nullptr || !pinned_.pin(device_, host, load.bytes);
    if (slot.passes_buffer) {
      make_room(slot, load.bytes);
      if (direction == to_device) {
        if (load.layout != nullptr)
          load.layout->pack(host, slot.buffer);
        else
          std::memcpy(slot.buffer, host, load.bytes);
      }
    }
    try {
      copy(direction, load, slot.passes_buffer ? slot.buffer : host, !slot.passes_buffer);
    } catch (const DeviceLostError&) {
      throw;
    } catch (const SystemError&) {  // enqueued chunks must end before the failure is reported
      device_.synchronize(way.stream);
      throw;
    }
    device_.record(way.stream, slot.event);
  });
}

TransferResult CudaDeviceLink::wait_for_copy(unsigned direction, unsigned number, const Transfer& load) {
  const Slot& slot = ways_[direction].slots[number];
  const TransferResult outcome = outcome_of_driver([&] {
    device_.throw_if_lost();
    device_.wait(ways_[direction].stream, slot.event);
  });
  if (!outcome.succeeded() || direction == to_device || !slot.passes_buffer) return outcome;
  if (load.layout != nullptr)
    load.layout->unpack(slot.buffer, load.to.host);
  else
    std::memcpy(load.to.host, slot.buffer, load.bytes);
  return {};
}

}  // namespace fairlead::backend::cu
