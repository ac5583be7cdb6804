// Passes each chunk to the transfer engine of its current link.
#include "backend/chain/two_link_transfers.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <utility>

namespace fairlead::backend {

TwoLinkTransfers::TwoLinkTransfers(ChainContext world, const StagingBuffers& buffers)
    : world_(std::move(world)), devices_(world_.topology->devices()) {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    transits_.push_back(std::make_unique<ChunkPipeline>(
        ChunkPipeline::Settings{buffers.chunk_bytes, buffers.chunks,
                                buffers.memory + i * buffers.chunks * buffers.chunk_bytes},
        [this](const ChunkTransfer& hop) { transfer(hop); },
        [](const Transfer& load, const TransferResult& outcome) {
          load.receiver->completed(load.token, outcome);
        }));
}

void TwoLinkTransfers::start(const Transfer& load) {
  // Uses the buffers of the target device, or of the source device if the target is none.
  auto device = std::ranges::find(devices_, load.to.node);
  if (device == devices_.end()) device = std::ranges::find(devices_, load.from.node);
  if (device == devices_.end())
    throw Error("internal: a copy crosses two links, and neither of its ends is a device");
  const memory::Replica* const via = load.copy->via;
  transits_[static_cast<std::size_t>(device - devices_.begin())]->start(
      load, via == nullptr ? nullptr : world_.addresses->place_of(via->location()).host);
}

void TwoLinkTransfers::transfer(const ChunkTransfer& hop) {
  const Transfer& whole = *hop.load;
  const memory::Route& route = world_.routes->of(*whole.copy);
  const RouteStep& leg = route.legs[hop.leg];
  const TransferEnd end = (hop.leg == 0 ? whole.from : whole.to).after(hop.first);
  const TransferEnd buffer{route.through, 0, hop.buffer, hop.buffer};
  world_.engines[index(leg.link)]->start({.link = leg.link,
                                          .away_from_home = leg.outward,
                                          .from = hop.leg == 0 ? end : buffer,
                                          .to = hop.leg == 0 ? buffer : end,
                                          .first = whole.first + hop.first,
                                          .bytes = hop.bytes,
                                          .copy = whole.copy,
                                          .receiver = this,
                                          .token = hop.token});
}

void TwoLinkTransfers::completed(void* token, const TransferResult& outcome) noexcept {
  try {
    ChunkPipeline::hop_done(token, outcome);
  } catch (...) {
    world_.stop_run(std::current_exception());
  }
}

void TwoLinkTransfers::stop() noexcept {
  for (const auto& transit : transits_) transit->stop();
}

}  // namespace fairlead::backend
