// Which carrier gets which piece; see chains.hpp.
#include "backend/chain/chains.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <utility>

namespace fairlead::backend {

Chains::Chains(World world, const TransitBuffers& buffers)
    : world_(std::move(world)), devices_(world_.topology->devices()) {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    transits_.push_back(std::make_unique<Transit>(
        Transit::Settings{buffers.piece_bytes, buffers.pieces,
                          buffers.memory + i * buffers.pieces * buffers.piece_bytes},
        [this](const Hop& hop) { carry(hop); },
        [](const Load& load, const Outcome& outcome) { load.receiver->over(load.token, outcome); }));
}

void Chains::start(const Load& load) {
  // The buffers are those of the device that gets the bytes, or of the one that has them.
  auto device = std::ranges::find(devices_, load.to.node);
  if (device == devices_.end()) device = std::ranges::find(devices_, load.from.node);
  if (device == devices_.end())
    throw Error("internal: a copy crosses two links, and neither of its ends is a device");
  const memory::Replica* const via = load.copy->via;
  transits_[static_cast<std::size_t>(device - devices_.begin())]->start(
      load, via == nullptr ? nullptr : world_.addresses->place_of(via->location()).host);
}

void Chains::carry(const Hop& hop) {
  const Load& whole = *hop.load;
  const memory::Route& route = world_.routes->of(*whole.copy);
  const Leg& leg = route.legs[hop.wire];
  const Place end = (hop.wire == 0 ? whole.from : whole.to).after(hop.first);
  const Place buffer{route.through, 0, hop.buffer, hop.buffer};
  world_.carriers[index(leg.link)]->start({.link = leg.link,
                                           .away_from_home = leg.away_from_home,
                                           .from = hop.wire == 0 ? end : buffer,
                                           .to = hop.wire == 0 ? buffer : end,
                                           .first = whole.first + hop.first,
                                           .bytes = hop.bytes,
                                           .copy = whole.copy,
                                           .receiver = this,
                                           .token = hop.token});
}

void Chains::over(void* token, const Outcome& outcome) noexcept {
  try {
    Transit::hop_done(token, outcome);
  } catch (...) {
    world_.stop_run(std::current_exception());
  }
}

void Chains::stop() noexcept {
  for (const auto& transit : transits_) transit->stop();
}

}  // namespace fairlead::backend
