// Copies are queued for their link by urgency, and counted by physical link and direction.
#include "memory/links.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace fairlead::memory {
namespace {

constexpr NodeId disk{0}, cache{1};
constexpr LinkId wire{0};

Topology one_wire(unsigned concurrent, bool duplex) {
  Topology topology;
  topology.nodes = {{.name = "disk", .role = NodeRole::home}, {.name = "RAM", .role = NodeRole::cache}};
  topology.links = {
      {.name = "wire", .first = disk, .second = cache, .duplex = duplex, .concurrent_copies = concurrent}};
  return topology;
}

struct Wire {
  explicit Wire(unsigned concurrent, bool duplex = false) : topology(one_wire(concurrent, duplex)) {}

  Copy& add(Cause cause, bool away = true) {
    Copy& copy = copies.emplace_back(away ? at_home : cached, away ? cached : at_home, wire, cause, 100);
    links.add(copy);
    return copy;
  }
  std::vector<Copy*> start_like(const Copy& copy) {
    std::vector<Copy*> started;
    links.start(links.way_of(copy), started);
    return started;
  }
  std::vector<Copy*> start() { return start_like(copies.front()); }
  void end(Copy& copy, Time at) {
    copy.at = at;
    links.ended(copy);
    links.count(copy);
  }

  const Topology topology;
  const Routes routes{topology};
  Links links{topology, routes};
  Replica at_home{.node = disk}, cached{.node = cache};
  std::deque<Copy> copies;
};

}  // namespace

TEST(Links, StartUrgentCopiesFirstUpToTheLimitOfTheLink) {
  Wire it(2);
  Copy& ahead = it.add(Cause::prefetch);
  Copy& first = it.add(Cause::demand);
  Copy& second = it.add(Cause::eviction, false);
  EXPECT_EQ(it.start(), (std::vector{&first, &second}));
  EXPECT_TRUE(it.start().empty());
  it.end(first, Time{10});
  EXPECT_EQ(it.start(), (std::vector{&ahead}));
  EXPECT_EQ(it.links.copies_in_flight(), 2u);
}

TEST(Links, ReserveHalfOfTheLinkForUrgentCopies) {
  Wire it(4);
  Copy& first = it.add(Cause::prefetch);
  Copy& second = it.add(Cause::prefetch);
  it.add(Cause::prefetch);
  EXPECT_EQ(it.start(), (std::vector{&first, &second}));
}

TEST(Links, ServeBothDirectionsIndependentlyIfTheyAreDuplex) {
  Wire it(1, true);
  Copy& goes = it.add(Cause::eviction, false);
  Copy& goes_later = it.add(Cause::eviction, false);
  Copy& comes = it.add(Cause::demand);
  Copy& comes_later = it.add(Cause::demand);
  EXPECT_EQ(it.start_like(goes), (std::vector{&goes}));
  EXPECT_EQ(it.start_like(comes), (std::vector{&comes}));
  it.links.remove(goes_later);
  it.end(comes, Time{10});
  EXPECT_TRUE(it.start_like(goes).empty());
  EXPECT_EQ(it.start_like(comes), (std::vector{&comes_later}));
}

TEST(Links, RemoveCancelledCopies) {
  Wire it(1);
  Copy& first = it.add(Cause::demand);
  Copy& second = it.add(Cause::demand);
  it.links.remove(first);
  EXPECT_EQ(it.start(), (std::vector{&second}));
}

TEST(Links, CountBytesByDirectionAndTheirBusyTime) {
  Wire it(4);
  Copy& first = it.add(Cause::demand);
  Copy& second = it.add(Cause::eviction, false);
  first.started = second.started = Time{5};
  it.start();
  it.end(first, Time{20});
  it.end(second, Time{30});
  const LinkTraffic& traffic = it.links.traffic()[index(wire)];
  EXPECT_EQ(traffic.from_home[static_cast<std::size_t>(Cause::demand)].bytes, 100u);
  EXPECT_EQ(traffic.to_home[static_cast<std::size_t>(Cause::eviction)].copies, 1u);
  EXPECT_EQ(traffic.busy, Duration(25));
  EXPECT_EQ(it.links.copies_ended(), 2u);
}

}  // namespace fairlead::memory
