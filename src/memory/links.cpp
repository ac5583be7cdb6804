// See links.hpp.
#include "memory/links.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::memory {

Links::Links(const Topology& topology, const Routes& routes)
    : routes_(routes),
      queues_(topology.links.size()),
      crossings_(topology.links.size()),
      traffic_(topology.links.size()) {
  for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i].most = topology.links[i].concurrent_copies;
}

void Links::add(Copy& copy) {
  Queue& link = queues_[index(copy.link)];
  copy.state = Copy::State::queued;
  (copy.cause == Cause::prefetch ? link.prefetches : link.urgent).push_back(&copy);
}

void Links::remove(Copy& copy) {
  ensure(copy.state == Copy::State::queued, "a copy that is taken back has not started");
  Queue& link = queues_[index(copy.link)];
  std::erase(link.urgent, &copy);
  std::erase(link.prefetches, &copy);
}

void Links::start(LinkId id, std::vector<Copy*>& started) {
  Queue& link = queues_[index(id)];
  while (link.in_flight < link.most) {
    auto& queue = !link.urgent.empty() ? link.urgent : link.prefetches;
    if (queue.empty()) return;
    Copy* copy = queue.front();
    if (copy->cause == Cause::prefetch) {
      // Half of what is started at once: what is urgent tomorrow does not wait behind all of it.
      if (link.prefetches_in_flight >= std::max(1u, link.most / 2)) return;
      ++link.prefetches_in_flight;
    }
    queue.pop_front();
    copy->state = Copy::State::in_flight;
    ++link.in_flight;
    ++in_flight_;
    for (const Leg& leg : routes_.of(*copy).legs)
      if (Crossing& crossing = crossings_[index(leg.link)]; crossing.copies++ == 0) crossing.first = copy;
    started.push_back(copy);
  }
}

void Links::ended(const Copy& copy) {
  Queue& link = queues_[index(copy.link)];
  --link.in_flight;
  if (copy.cause == Cause::prefetch) --link.prefetches_in_flight;
  --in_flight_;
  ++ended_;
  // For how long wires were in use: from the first copy's beginning to the last one's end.
  for (const Leg& leg : routes_.of(copy).legs) {
    Crossing& crossing = crossings_[index(leg.link)];
    if (crossing.first == &copy) {
      crossing.since = copy.started;
      crossing.first = nullptr;
    }
    crossing.until = std::max(crossing.until, copy.at);
    if (--crossing.copies == 0 && crossing.until > crossing.since)
      traffic_[index(leg.link)].busy += crossing.until - crossing.since;
  }
}

void Links::count(const Copy& copy) noexcept {
  for (const Leg& leg : routes_.of(copy).legs) {
    LinkTraffic& traffic = traffic_[index(leg.link)];
    auto& direction = leg.away_from_home ? traffic.from_home : traffic.to_home;
    auto& sum = direction[static_cast<std::size_t>(copy.cause.get())];
    sum.bytes += copy.bytes;
    ++sum.copies;
  }
}

}  // namespace fairlead::memory
