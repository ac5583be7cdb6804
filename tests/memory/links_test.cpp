// Copies wait for their link, what is urgent first, and are counted by the wire and the direction.
#include "memory/links.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace fairlead::memory {
namespace {

constexpr NodeId disk{0}, cache{1};
constexpr LinkId wire{0};

Topology one_wire(unsigned concurrent) {
  Topology topology;
  topology.nodes = {{.name = "disk", .role = NodeRole::home}, {.name = "RAM", .role = NodeRole::cache}};
  topology.links = {{.name = "wire", .first = disk, .second = cache, .concurrent_copies = concurrent}};
  return topology;
}

struct Wire {
  explicit Wire(unsigned concurrent) : topology(one_wire(concurrent)) {}

  Copy& add(Cause cause, bool away = true) {
    Copy& copy = copies.emplace_back(away ? at_home : cached, away ? cached : at_home, wire, cause, 100);
    links.add(copy);
    return copy;
  }
  std::vector<Copy*> start() {
    std::vector<Copy*> started;
    links.start(wire, started);
    return started;
  }
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

TEST(Links, StartWhatIsUrgentFirstAndNoMoreThanTheLinkTakes) {
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

TEST(Links, LeaveHalfOfTheLinkToWhatIsUrgentTomorrow) {
  Wire it(4);
  Copy& first = it.add(Cause::prefetch);
  Copy& second = it.add(Cause::prefetch);
  it.add(Cause::prefetch);
  EXPECT_EQ(it.start(), (std::vector{&first, &second}));
}

TEST(Links, ForgetWhatWasTakenBack) {
  Wire it(1);
  Copy& first = it.add(Cause::demand);
  Copy& second = it.add(Cause::demand);
  it.links.remove(first);
  EXPECT_EQ(it.start(), (std::vector{&second}));
}

TEST(Links, CountBytesByDirectionAndTheTimeInWhichTheWireWasUsed) {
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
