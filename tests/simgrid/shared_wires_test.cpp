// Random sets of copies finish at SimGrid's times within 1 %. Its plain max-min model: no factors on
// bandwidth and latency, no windows, no traffic of acknowledgements.
#include <gtest/gtest.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
#include <simgrid/s4u.hpp>
#pragma GCC diagnostic pop

#include <algorithm>
#include <queue>
#include <string>
#include <vector>

#include "backend/sim/shared_links.hpp"
#include "base/random.hpp"

namespace fairlead::backend {
namespace {

namespace s4u = simgrid::s4u;

struct Copy {
  Bytes bytes;
  Time begins;
  std::vector<SharedLinks::LinkIndex> wires;
};
struct Set {
  std::vector<double> bytes_per_second;  // by wire
  std::vector<Copy> copies;
};

/// Few wires and many copies, so that most wires are shared: every second set has a wire that three copies
/// or more cross, and two wires that hold copies back.
Set random_set(std::uint64_t seed) {
  Random random(seed);
  Set set;
  const auto wires = static_cast<std::size_t>(random.between(1, 6));
  for (std::size_t i = 0; i < wires; ++i)
    set.bytes_per_second.push_back(static_cast<double>(random.between(1, 100)) * 1e7);
  const auto copies = static_cast<std::size_t>(random.between(2, 12));
  for (std::size_t i = 0; i < copies; ++i) {
    Copy copy{static_cast<Bytes>(random.between(1'000'000, 1'000'000'000)),
              std::chrono::milliseconds(random.once_in(2) ? 0 : random.between(0, 3000)),
              {}};
    for (SharedLinks::LinkIndex wire = 0; wire < wires; ++wire)
      if (random.once_in(2)) copy.wires.push_back(wire);
    if (copy.wires.empty()) copy.wires.push_back(static_cast<SharedLinks::LinkIndex>(random.below(wires)));
    set.copies.push_back(copy);
  }
  return set;
}

std::vector<double> ends_here(const Set& set) {
  SharedLinks shared(set.bytes_per_second);
  std::vector<std::size_t> order(set.copies.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return set.copies[i].begins; });
  std::vector<double> ends(order.size());
  std::vector<std::size_t> copy_of(order.size());  // by number
  for (auto next = order.begin(); next != order.end() || !shared.idle();) {
    const SharedLinks::End first = shared.next();
    if (next != order.end() && set.copies[*next].begins <= first.at) {
      const Copy& copy = set.copies[*next];
      const std::vector<SharedLinks::Crossing> crossed(copy.wires.begin(), copy.wires.end());
      copy_of[shared.begin(copy.bytes, crossed, copy.begins)] = *next++;
    } else {
      ends[copy_of[first.copy]] = seconds(first.at);
      shared.end(first.copy, first.at);
    }
  }
  return ends;
}

/// All sets at once: they have nothing in common. One process can simulate once.
std::vector<std::vector<double>> ends_in_simgrid(const std::vector<Set>& sets) {
  int count = 1;
  std::string name = "test";
  char* arguments[] = {name.data(), nullptr};
  char** given = arguments;
  s4u::Engine engine(&count, given);
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/TCP-gamma:1e30");
  s4u::NetZone* zone = s4u::create_full_zone("all");
  std::vector<std::vector<double>> ends(sets.size());
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const std::string prefix = std::to_string(s) + "-";
    std::vector<s4u::Link*> links;
    for (const double rate : sets[s].bytes_per_second)
      links.push_back(
          zone->create_link(prefix + std::to_string(links.size()), rate)->set_latency(0.0)->seal());
    ends[s].resize(sets[s].copies.size());
    for (std::size_t i = 0; i < sets[s].copies.size(); ++i) {
      const Copy& copy = sets[s].copies[i];
      s4u::Host* from = zone->create_host(prefix + std::to_string(i) + "-from", 1e9)->seal();
      s4u::Host* to = zone->create_host(prefix + std::to_string(i) + "-to", 1e9)->seal();
      std::vector<s4u::LinkInRoute> route;
      for (const auto wire : copy.wires) route.emplace_back(links[wire]);
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
      double& end = ends[s][i];
      s4u::Actor::create(prefix + std::to_string(i), from, [from, to, copy, &end] {
        s4u::this_actor::sleep_until(seconds(copy.begins));
        s4u::Comm::sendto(from, to, copy.bytes);
        end = s4u::Engine::get_clock();
      });
    }
  }
  zone->seal();
  engine.run();
  return ends;
}

}  // namespace

TEST(SharedLinksComparedWithSimGrid, FinishRandomSetsAtTheSameTimes) {
  std::vector<Set> sets;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) sets.push_back(random_set(seed));
  const auto theirs = ends_in_simgrid(sets);
  std::size_t crowded = 0;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    SCOPED_TRACE(s + 1);
    const std::vector<double> ours = ends_here(sets[s]);
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[s][i], 0.01 * theirs[s][i]);
    std::vector<int> users(sets[s].bytes_per_second.size());
    for (const Copy& copy : sets[s].copies)
      for (const auto wire : copy.wires) ++users[wire];
    crowded += users.size() >= 2 && std::ranges::count_if(users, [](int n) { return n >= 3; }) >= 1;
  }
  EXPECT_GE(crowded, sets.size() / 2);
}

}  // namespace fairlead::backend
