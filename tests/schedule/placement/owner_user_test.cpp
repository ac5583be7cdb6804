// owner-user: the program's hints for tasks and data. Three nodes, each an accelerator.
#include <gtest/gtest.h>

#include "schedule/placed.hpp"

namespace fairlead::schedule {
namespace {

Spec writes_c(const std::string& name, PlaceHint place = {}) { return {name, {}, 1, 0, {}, {"C"}, place}; }
/// Updates C after reading A: access 0 is A.
Spec reads_a(const std::string& name, PlaceHint place) { return {name, {"A"}, 1, 0, {"C"}, {}, place}; }

}  // namespace

struct OwnerUser : testing::Test {
  PlacedWorld world{3, "owner-user"};
  void SetUp() override { world.begin(); }
};

TEST_F(OwnerUser, ATaskRunsOnTheDeviceThatIsNamed) {
  EXPECT_EQ(world.place(writes_c("T", {.device = 2})), 2);
  EXPECT_EQ(world.place({"reads only", {"A"}, 1, 0, {}, {}, {.device = 1}}), 1);
}

TEST_F(OwnerUser, OwnedDataAreNotMoved) {
  EXPECT_EQ(world.place(writes_c("T", {.device = 2})), 2);
  EXPECT_EQ(world.place(writes_c("again", {.device = 1})), 2);
}

TEST_F(OwnerUser, ATaskInheritsTheDeviceOfAnInput) {
  EXPECT_EQ(world.place({"A", {}, 1, 0, {}, {"A"}, {.device = 1}}), 1);
  EXPECT_EQ(world.place(reads_a("T", {.like = 0})), 1);
  EXPECT_EQ(world.place(writes_c("later", {.device = 2})), 1);  // C lives there now
}

TEST_F(OwnerUser, AnInputWithOnlyAHintIsFollowed) {
  world.advised["A"] = 2;
  world.load("A", node(0));
  EXPECT_EQ(world.place(reads_a("T", {.like = 0})), 2);
}

TEST_F(OwnerUser, AnInputWithOnlyACopyIsFollowed) {
  world.load("A", node(1));
  EXPECT_EQ(world.place(reads_a("T", {.device = 2, .like = 0})), 1);
}

TEST_F(OwnerUser, WithoutADeviceToInheritTheAbsoluteOneCounts) {
  EXPECT_EQ(world.place(reads_a("T", {.device = 2, .like = 0})), 2);
}

TEST_F(OwnerUser, WithoutEitherTheLoadDecides) {
  world.busy({1, 0, 1});
  EXPECT_EQ(world.place(reads_a("T", {.like = 0})), 1);
}

TEST_F(OwnerUser, WrittenDataGoToTheDeviceOfTheirHint) {
  world.advised["C"] = 2;
  EXPECT_EQ(world.place(writes_c("T")), 2);
}

TEST_F(OwnerUser, TheTasksHintComesBeforeThatOfItsData) {
  world.advised["C"] = 2;
  EXPECT_EQ(world.place(writes_c("T", {.device = 1})), 1);
}

// The tile is evicted, and returns to the device of its hint.
TEST_F(OwnerUser, AHintCountsAgainAfterEviction) {
  world.advised["C"] = 2;
  EXPECT_EQ(world.place(writes_c("T")), 2);
  world.load("C", node(2));
  world.drop("C", node(2));
  world.busy({0, 0, 50});
  EXPECT_EQ(world.place(writes_c("again")), 2);
}

TEST_F(OwnerUser, ADeviceThatCannotRunTheTaskIsSkipped) {
  world.only_workers["T"] = {1};
  EXPECT_EQ(world.place(writes_c("T", {.device = 2})), 1);
}

TEST_F(OwnerUser, ADeviceThatDoesNotExistIsSkipped) {
  EXPECT_EQ(world.place(writes_c("T", {.device = 3, .like = 7})), 0);
}

// Node 0 belongs to cores: the accelerators are nodes 1 and 2.
TEST(OwnerUserWithCores, DevicesAreCountedWithoutTheNodesOfCores) {
  PlacedWorld world(3, "owner-user");
  world.kind(0, WorkerKind::cpu);
  world.advised["D"] = 1;
  world.begin();
  EXPECT_EQ(world.place(writes_c("T", {.device = 0})), 1);
  EXPECT_EQ(world.place({"U", {}, 1, 0, {}, {"D"}}), 2);
}

// The other policies ignore hints.
TEST(OwnerUserAlone, OtherPoliciesIgnoreHints) {
  for (const char* other : {"owner-load", "owner-random"}) {
    PlacedWorld plain(3, other), wishing(3, other);
    plain.begin();
    wishing.begin();
    for (int i = 0; i < 12; ++i) {
      const std::string name = "D" + std::to_string(i);
      wishing.advised[name] = 1;
      const int expected = plain.place({"T" + name, {}, 1, 0, {}, {name}});
      EXPECT_EQ(wishing.place({"T" + name, {}, 1, 0, {}, {name}, {.device = 2}}), expected) << other;
    }
  }
}

}  // namespace fairlead::schedule
