// The branches of insertion and completion, one at a time, on one thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "graph/allocation_hook.hpp"
#include "graph/small_graph.hpp"

namespace fairlead::tests {

using enum AccessMode;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Protocol, TheFirstAccessOfADatumMayRunAtOnce) {
  for (const AccessMode mode : {read, write, read_write, commutative, reduction}) {
    SmallGraph g;
    Task& only = g.submit({{'A', mode}});
    EXPECT_THAT(g.ready, ElementsAre(&only)) << name_of(mode);
  }
}

// write A -> read A, read A -> write A
TEST(Protocol, ReadersFollowTheWriterTogetherAndTheNextWriterFollowsAllReaders) {
  SmallGraph g;
  Task& writer = g.submit({{'A', write}});
  Task& first = g.submit({{'A', read}});
  Task& second = g.submit({{'A', read}});
  Task& next = g.submit({{'A', read_write}});
  EXPECT_THAT(g.ready, ElementsAre(&writer));
  g.complete(writer);
  EXPECT_THAT(g.ready, ElementsAre(&first, &second));
  g.complete(second);
  EXPECT_THAT(g.ready, ElementsAre(&first));
  g.complete(first);
  EXPECT_THAT(g.ready, ElementsAre(&next));
}

// Each of these modes shares with itself only.
TEST(Protocol, ReadsCommutativesAndReductionsShareWithTheirOwnKindOnly) {
  const std::array modes{read, write, read_write, commutative, reduction};
  for (const AccessMode first : modes)
    for (const AccessMode second : modes) {
      SmallGraph g;
      g.submit({{'A', first}});
      g.submit({{'A', second}});
      const bool together = first == second && first != write && first != read_write;
      EXPECT_EQ(g.ready.size(), together ? 2u : 1u) << name_of(first) << " then " << name_of(second);
    }
}

// A task joins a group that has started and is partly finished; later tasks wait for it as well.
TEST(Protocol, ATaskThatJoinsAStartedGroupIsReadyAtOnce) {
  for (const AccessMode mode : {read, commutative, reduction}) {
    SmallGraph g;
    Task& writer = g.submit({{'A', write}});
    Task& first = g.submit({{'A', mode}});
    Task& second = g.submit({{'A', mode}});
    g.complete(writer);
    g.complete(first);
    Task& joiner = g.submit({{'A', mode}});
    EXPECT_TRUE(g.is_ready(joiner));
    EXPECT_EQ(joiner.accesses()[0].epoch, second.accesses()[0].epoch);
    Task& behind = g.submit({{'A', write}});
    g.complete(second);
    EXPECT_FALSE(g.is_ready(behind));
    g.complete(joiner);
    EXPECT_THAT(g.ready, ElementsAre(&behind));
  }
}

TEST(Protocol, AFinishedGroupIsStillJoinedByItsOwnKind) {
  SmallGraph g;
  Task& first = g.submit({{'A', read}});
  graph::Epoch* epoch = g.last_epoch('A');
  g.complete(first);
  Task& second = g.submit({{'A', read}});
  EXPECT_TRUE(g.is_ready(second));
  EXPECT_EQ(g.last_epoch('A'), epoch);
}

// All tasks of the last epoch have finished: the next access reuses it, whatever its mode.
TEST(Protocol, AFinishedEpochIsReusedInPlace) {
  SmallGraph g;
  Task& first = g.submit({{'A', write}});
  graph::Epoch* epoch = g.last_epoch('A');
  g.complete(first);
  for (const AccessMode mode : {read, write, commutative, read_write, write, reduction}) {
    Task& task = g.submit({{'A', mode}});
    EXPECT_THAT(g.ready, ElementsAre(&task)) << name_of(mode);
    EXPECT_EQ(g.last_epoch('A'), epoch) << name_of(mode);
    EXPECT_EQ(epoch->mode, mode);
    Task& behind = g.submit({{'B', write}, {'A', write}});
    EXPECT_FALSE(g.is_ready(behind));
    g.complete(task);
    EXPECT_THAT(g.ready, ElementsAre(&behind));
    g.complete(behind);
    epoch = g.last_epoch('A');
  }
}

// The previous task finishes after the insertion has checked its epoch, and before the new epoch is linked behind it.
// Only an allocation lies between the two, so the test empties the pool of epochs first.
TEST(Protocol, ATaskWhosePredecessorFinishesDuringItsInsertionIsReadyAtOnce) {
  SmallGraph g;
  Task& before = g.submit({{'A', write}});
  for (std::size_t i = 1; i < graph::Pool<graph::Epoch>::chunk_size; ++i) g.graph.epochs().take();
  Task* task = g.graph.make_task(1);
  const std::array insertion{graph::Insertion{&g.tails['A'], DatumId{0}, write}};
  bool finished_meanwhile = false;
  at_next_allocation([&] {
    g.complete(before);
    finished_meanwhile = true;
  });
  const bool ready = g.graph.insert(*task, insertion);
  at_next_allocation(nullptr);
  ASSERT_TRUE(finished_meanwhile);
  EXPECT_TRUE(ready);
  EXPECT_THAT(g.ready, IsEmpty());  // reported once only

  // The new epoch has started: tasks of its own kind would join it, others wait behind it.
  Task& behind = g.submit({{'A', write}});
  EXPECT_THAT(g.ready, IsEmpty());
  g.complete(*task);
  EXPECT_THAT(g.ready, ElementsAre(&behind));
}

TEST(Protocol, AGroupBehindATaskThatFinishesDuringTheInsertionHasStarted) {
  SmallGraph g;
  Task& before = g.submit({{'A', write}});
  for (std::size_t i = 1; i < graph::Pool<graph::Epoch>::chunk_size; ++i) g.graph.epochs().take();
  Task* task = g.graph.make_task(1);
  const std::array insertion{graph::Insertion{&g.tails['A'], DatumId{0}, read}};
  at_next_allocation([&] { g.complete(before); });
  EXPECT_TRUE(g.graph.insert(*task, insertion));
  EXPECT_TRUE(g.is_ready(g.submit({{'A', read}})));
}

TEST(Protocol, ATaskWithSeveralDataWaitsForTheLastOfThem) {
  SmallGraph g;
  Task& a = g.submit({{'A', write}});
  Task& b = g.submit({{'B', write}});
  Task& both = g.submit({{'A', read}, {'B', read}, {'C', write}});
  Task& after = g.submit({{'C', read}});
  g.complete(b);
  EXPECT_FALSE(g.is_ready(both));
  g.complete(a);
  EXPECT_THAT(g.ready, ElementsAre(&both));
  g.complete(both);
  EXPECT_THAT(g.ready, ElementsAre(&after));
}

// More accesses than fit into a descriptor are stored in a separate block, which is freed with the task.
TEST(Protocol, ATaskMayHaveMoreAccessesThanItsDescriptorHolds) {
  SmallGraph g;
  std::vector<Task*> writers;
  for (const char name : {'A', 'B', 'C', 'D', 'E', 'F', 'G'}) writers.push_back(&g.submit({{name, write}}));
  Task& all = g.submit({{'A', read},
                        {'B', read},
                        {'C', read},
                        {'D', read_write},
                        {'E', read},
                        {'F', commutative},
                        {'G', read}});
  EXPECT_EQ(all.access_count, 7u);
  EXPECT_NE(all.accesses_begin, all.inline_access.data());
  Task& after = g.submit({{'D', read}, {'F', write}, {'A', read}});
  EXPECT_EQ(after.accesses_begin, after.inline_access.data());
  for (Task* writer : writers) {
    EXPECT_FALSE(g.is_ready(all));
    g.complete(*writer);
  }
  EXPECT_THAT(g.ready, ElementsAre(&all));
  g.complete(all);
  EXPECT_THAT(g.ready, ElementsAre(&after));
}

TEST(Protocol, TwoAccessesOfOneTaskToOneDatumBecomeOne) {
  for (const AccessMode first : {read, write, read_write, commutative, reduction})
    for (const AccessMode second : {read, write, read_write, commutative, reduction})
      EXPECT_EQ(graph::merged(first, second), first == second ? first : read_write);
  SmallGraph g;
  Task& twice = g.submit({{'A', read}, {'B', read}, {'A', write}});
  EXPECT_EQ(twice.access_count, 2u);
  EXPECT_TRUE(g.is_ready(twice));  // it does not wait for itself
  EXPECT_FALSE(g.is_ready(g.submit({{'A', read}})));
}

// Successors become ready in the order of their submission, datum by datum.
TEST(Protocol, TasksBecomeReadyInTheOrderOfTheirSubmission) {
  SmallGraph g;
  Task& writer = g.submit({{'A', write}, {'B', write}});
  std::vector<Task*> expected;
  for (int i = 0; i < 5; ++i) expected.push_back(&g.submit({{'A', read}}));
  for (int i = 0; i < 5; ++i) expected.push_back(&g.submit({{'B', reduction}}));
  g.complete(writer);
  EXPECT_EQ(g.ready, expected);
}

TEST(Protocol, AReadyTaskRecordsWhichTaskReleasedItAndWhen) {
  SmallGraph g;
  Task& writer = g.submit({{'A', write}});
  Task& reader = g.submit({{'A', read}});
  writer.worker = WorkerId{3};
  writer.at = Time{1234};
  g.complete(writer);
  EXPECT_EQ(reader.kind, EventKind::task_ready);
  EXPECT_EQ(reader.worker, WorkerId{3});
  EXPECT_EQ(reader.at, Time{1234});
}

TEST(Protocol, AForgottenDatumStartsAgain) {
  SmallGraph g;
  g.graph.forget(g.tails['A'], g.recycler);  // never used: nothing to forget
  g.complete(g.submit({{'A', write}}));
  g.graph.forget(g.tails['A'], g.recycler);
  EXPECT_EQ(g.last_epoch('A'), nullptr);
  EXPECT_TRUE(g.is_ready(g.submit({{'A', read}})));
}

}  // namespace fairlead::tests
