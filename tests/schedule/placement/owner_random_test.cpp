// owner-random: a device per datum, drawn once until the datum is staged out.
#include <gtest/gtest.h>

#include <set>

#include "schedule/placed.hpp"

namespace fairlead::schedule {
namespace {

std::string datum(int i) { return "D" + std::to_string(i); }
Spec write(int i, const std::string& when = "") { return {"T" + datum(i) + when, {}, 1, 0, {}, {datum(i)}}; }

/// The placement of `count` data that are used in order, or in reverse order.
std::vector<int> places(const std::string& policy, int count, bool backwards = false) {
  PlacedWorld world(4, policy);
  world.begin();
  for (int i = 0; i < count; ++i) world.datum(datum(i));
  std::vector<int> found(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const int i = backwards ? count - 1 - k : k;
    found[static_cast<std::size_t>(i)] = world.place(write(i));
  }
  return found;
}

}  // namespace

TEST(OwnerRandom, DataAreSpreadOverAllDevices) {
  std::vector<int> count(4);
  for (const int place : places("owner-random", 400)) ++count[static_cast<std::size_t>(place)];
  for (const int on_one : count) {
    EXPECT_GT(on_one, 70);
    EXPECT_LT(on_one, 130);
  }
}

TEST(OwnerRandom, TheDeviceFollowsFromTheDatumAndTheSeedNotFromTheOrder) {
  EXPECT_EQ(places("owner-random", 40), places("owner-random", 40, true));
  EXPECT_EQ(places("owner-random", 40), places("owner-random:seed=1", 40));
  EXPECT_NE(places("owner-random", 40), places("owner-random:seed=2", 40));
}

TEST(OwnerRandom, ADatumIsDrawnOnceUntilItIsStagedOut) {
  PlacedWorld world(4, "owner-random");
  world.begin();
  int moved = 0;
  for (int i = 0; i < 40; ++i) {
    const int first = world.place(write(i));
    for (const char* when : {" second", " third"}) EXPECT_EQ(world.place(write(i, when)), first);
    world.load(datum(i), node(static_cast<unsigned>(first)));
    world.drop(datum(i), node(static_cast<unsigned>(first)));
    const int later = world.place(write(i, " later"));
    EXPECT_EQ(world.place(write(i, " last")), later);
    moved += later != first;
  }
  EXPECT_GT(moved, 20);
  EXPECT_LT(moved, 40);
}

TEST(OwnerRandom, OnlyDevicesThatCanRunTheTaskAreDrawn) {
  PlacedWorld world(4, "owner-random");
  world.begin();
  std::set<int> found;
  for (int i = 0; i < 40; ++i) {
    world.only_workers["T" + datum(i)] = {1, 3};
    found.insert(world.place(write(i)));
  }
  EXPECT_EQ(found, (std::set{1, 3}));
}

TEST(OwnerRandom, ATaskWithoutOutputsGoesByLoad) {
  PlacedWorld world(4, "owner-random");
  world.begin();
  world.busy({10, 10, 0, 10});
  EXPECT_EQ(world.place({"T", {"A"}}), 2);
}

}  // namespace fairlead::schedule
