// The workers that simulations exclude: whole devices, never a part of a device's streams.
#include "schedule/what_if/unneeded_workers.hpp"

#include "schedule/fake_world.hpp"

namespace fairlead::schedule::what_if {
namespace {

std::vector<std::string> half_of(unsigned devices, unsigned streams) {
  FakeWorld world(devices, streams);
  return find_unneeded_workers(world, {}).redundant;
}

TEST(UnneededWorkers, HalfOfManyEqualDevices) {
  using Sets = std::vector<std::string>;
  EXPECT_EQ(half_of(4, 1), Sets{"2+3"});
  EXPECT_EQ(half_of(2, 2), Sets{"2+3"});
  EXPECT_EQ(half_of(3, 2), Sets{"4+5"});
  EXPECT_EQ(half_of(4, 2), Sets{"4+5+6+7"});
  EXPECT_EQ(half_of(2, 1), Sets{});
  EXPECT_EQ(half_of(1, 4), Sets{});
}

TEST(UnneededWorkers, TheSlowerOfTwo) {
  FakeWorld world(2);
  world.times_slower[1] = 3;
  std::vector<Task*> tasks{&world.submit({"T", {"A"}})};
  const UnneededWorkers found = find_unneeded_workers(world, tasks);
  EXPECT_EQ(found.slower, std::vector<std::string>{"1"});
  EXPECT_TRUE(found.redundant.empty());
}

}  // namespace
}  // namespace fairlead::schedule::what_if
