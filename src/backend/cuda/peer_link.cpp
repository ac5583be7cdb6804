// Copies between two CUDA devices, with a stream and events per direction.
#include "backend/cuda/peer_link.hpp"

#include "backend/cuda/outcome.hpp"
#include "backend/cuda/peers.hpp"

namespace fairlead::backend::cu {

PeerLink::PeerLink(const CudaDevice& first, const CudaDevice& second)
    : DriverLink(together), ways_{Way{.from = &first, .to = &second}, Way{.from = &second, .to = &first}} {
  try {
    for (Way& way : ways_) {
      const CudaDevice::Current current(*way.from);
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

PeerLink::~PeerLink() {
  stop();
  release();
}

void PeerLink::release() noexcept {
  for (const Way& way : ways_)
    way.from->with_context_noexcept([&] {
      for (const Event event : way.events) way.from->release(event);
      way.from->release(way.stream);
    });
}

TransferResult PeerLink::start_copy(unsigned direction, unsigned slot, const Transfer& load) {
  Way& way = ways_[direction];
  const CudaDevice &from = *way.from, &to = *way.to;
  return outcome_of_driver([&] {
    from.throw_if_lost();
    to.throw_if_lost();
    if (!way.current) way.current.emplace(from);
    copy_to_peer(from, reinterpret_cast<Pointer>(from.at(load.from.offset)), to,
                 reinterpret_cast<Pointer>(to.at(load.to.offset)), load.bytes, way.stream);
    from.record(way.stream, way.events[slot]);
  });
}

TransferResult PeerLink::wait_for_copy(unsigned direction, unsigned slot, const Transfer&) {
  const Way& way = ways_[direction];
  return outcome_of_driver([&] {
    way.from->throw_if_lost();
    way.from->wait(way.stream, way.events[slot]);
  });
}

}  // namespace fairlead::backend::cu
