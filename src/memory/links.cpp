// See links.hpp.
#include "memory/links.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::memory {

Links::Links(const Topology& topology, const Routes& routes)
    : routes_(routes),
      queues_(2 * topology.links.size()),
      crossings_(topology.links.size()),
      traffic_(topology.links.size()) {
  for (std::size_t i = 0; i < queues_.size(); ++i) queues_[i].most = topology.links[i / 2].concurrent_copies;
  for (const LinkSpec& link : topology.links) duplex_.push_back(link.duplex);
}

bool Links::is_idle(const Route& route) const noexcept {
  const Queue& queue = queues_[static_cast<std::size_t>(way_of(route.link, route.away_from_home))];
  return queue.in_flight == 0 && queue.urgent.empty() && queue.prefetches.empty();
}

void Links::add(Copy& copy) {
  Queue& queue = queue_of(copy);
  copy.state = Copy::State::queued;
  (copy.cause == Cause::prefetch ? queue.prefetches : queue.urgent).push_back(&copy);
}

void Links::remove(Copy& copy) {
  ensure(copy.state != Copy::State::in_flight, "a cancelled copy has not started");
  if (copy.state == Copy::State::joined) return;
  Queue& queue = queue_of(copy);
  std::erase(queue.urgent, &copy);
  std::erase(queue.prefetches, &copy);
}

void Links::start(WayId way, std::vector<Copy*>& started) {
  Queue& queue = queues_[static_cast<std::size_t>(way)];
  while (queue.in_flight < queue.most) {
    auto& waiting = !queue.urgent.empty() ? queue.urgent : queue.prefetches;
    if (waiting.empty()) return;
    Copy* copy = waiting.front();
    if (copy->cause == Cause::prefetch) {
      // Prefetches use half of the slots at most, so that later urgent copies do not wait behind them.
      if (queue.prefetches_in_flight >= std::max(1u, queue.most / 2)) return;
      ++queue.prefetches_in_flight;
    }
    waiting.pop_front();
    copy->state = Copy::State::in_flight;
    ++queue.in_flight;
    ++in_flight_;
    for (const RouteStep& leg : routes_.of(*copy).legs)
      if (Crossing& crossing = crossings_[index(leg.link)]; crossing.copies++ == 0) crossing.first = copy;
    started.push_back(copy);
  }
}

void Links::ended(const Copy& copy) {
  Queue& queue = queue_of(copy);
  --queue.in_flight;
  if (copy.cause == Cause::prefetch) --queue.prefetches_in_flight;
  --in_flight_;
  ++ended_;
  // Busy time of the links: from the start of the first concurrent copy to the end of the last.
  for (const RouteStep& leg : routes_.of(copy).legs) {
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
  for (const RouteStep& leg : routes_.of(copy).legs) {
    LinkTraffic& traffic = traffic_[index(leg.link)];
    auto& direction = leg.outward ? traffic.from_home : traffic.to_home;
    auto& sum = direction[static_cast<std::size_t>(copy.cause.get())];
    sum.bytes += copy.bytes;
    ++sum.copies;
  }
}

}  // namespace fairlead::memory
