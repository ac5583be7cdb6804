// See peer_wire.hpp.
#include "backend/cuda/peer_wire.hpp"

#include "backend/cuda/outcome.hpp"
#include "backend/cuda/peers.hpp"

namespace fairlead::backend::cu {

PeerWire::PeerWire(const OpenDevice& first, const OpenDevice& second)
    : TwoWayWire(together), ways_{Way{.from = &first, .to = &second}, Way{.from = &second, .to = &first}} {
  try {
    for (Way& way : ways_) {
      const OpenDevice::Current current(*way.from);
      way.stream = way.from->make_stream();
      for (Event& event : way.events) event = way.from->make_event();
    }
    begin_threads();
  } catch (...) {
    stop();
    release();
    throw;
  }
}

PeerWire::~PeerWire() {
  stop();
  release();
}

void PeerWire::release() noexcept {
  for (const Way& way : ways_)
    way.from->give_back([&] {
      for (const Event event : way.events) way.from->release(event);
      way.from->release(way.stream);
    });
}

Outcome PeerWire::begin(unsigned direction, unsigned slot, const Load& load) {
  Way& way = ways_[direction];
  const OpenDevice &from = *way.from, &to = *way.to;
  return outcome_of_driver([&] {
    from.check_there();
    to.check_there();
    if (!way.current) way.current.emplace(from);
    copy_to_peer(from, reinterpret_cast<Pointer>(from.at(load.from.offset)), to,
                 reinterpret_cast<Pointer>(to.at(load.to.offset)), load.bytes, way.stream);
    from.mark(way.stream, way.events[slot]);
  });
}

Outcome PeerWire::end(unsigned direction, unsigned slot, const Load&) {
  const Way& way = ways_[direction];
  return outcome_of_driver([&] {
    way.from->check_there();
    way.from->wait(way.stream, way.events[slot]);
  });
}

}  // namespace fairlead::backend::cu
