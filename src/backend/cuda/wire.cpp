// See wire.hpp.
#include "backend/cuda/wire.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/cuda/outcome.hpp"

namespace fairlead::backend::cu {

DeviceWire::DeviceWire(const OpenDevice& device, PinnedMemory& pinned)
    : TwoWayWire(together), device_(device), pinned_(pinned) {
  try {
    const OpenDevice::Current current(device_);
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

DeviceWire::~DeviceWire() {
  stop();
  release();
}

void DeviceWire::release() noexcept {
  device_.give_back([&] {
    for (Way& way : ways_) {
      for (Slot& slot : way.slots) {
        device_.release_host(slot.buffer);
        device_.release(slot.event);
      }
      device_.release(way.stream);
    }
  });
}

void DeviceWire::make_room(Slot& slot, Bytes bytes) const {
  if (slot.buffer_bytes >= bytes) return;
  slot.buffer_bytes = 0;
  if (std::byte* const smaller = std::exchange(slot.buffer, nullptr); smaller != nullptr) {
    const Status status = device_.driver().cuMemFreeHost(smaller);
    // Not given_back(): in the middle of a run it has to be told that the device is lost.
    if (ends_the_device(status)) device_.check(status, "cuMemFreeHost");
  }
  slot.buffer = device_.take_host(bytes);
  slot.buffer_bytes = bytes;
}

/// Puts the copy into the stream.
void DeviceWire::copy(unsigned direction, const Load& load, std::byte* host, bool in_chunks) {
  const Driver& driver = device_.driver();
  const Stream stream = ways_[direction].stream;
  for (Bytes at = 0; at < load.bytes;) {
    const Bytes bytes = in_chunks ? std::min(pinned_.in_one_piece(host + at), load.bytes - at) : load.bytes;
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

Outcome DeviceWire::begin(unsigned direction, unsigned number, const Load& load) {
  Way& way = ways_[direction];
  Slot& slot = way.slots[number];
  std::byte* const host = direction == to_device ? load.from.host : load.to.host;
  return outcome_of_driver([&] {
    device_.check_there();
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
    } catch (const SystemError&) {  // pieces that were taken are over before anybody is told
      device_.empty(way.stream);
      throw;
    }
    device_.mark(way.stream, slot.event);
  });
}

Outcome DeviceWire::end(unsigned direction, unsigned number, const Load& load) {
  const Slot& slot = ways_[direction].slots[number];
  const Outcome outcome = outcome_of_driver([&] {
    device_.check_there();
    device_.wait(ways_[direction].stream, slot.event);
  });
  if (!outcome.good() || direction == to_device || !slot.passes_buffer) return outcome;
  if (load.layout != nullptr)
    load.layout->unpack(slot.buffer, load.to.host);
  else
    std::memcpy(load.to.host, slot.buffer, load.bytes);
  return {};
}

}  // namespace fairlead::backend::cu
