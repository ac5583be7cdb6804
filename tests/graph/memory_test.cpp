// The size of the graph's descriptors, and their reuse.
#include <gtest/gtest.h>
#include <fairlead/codelet_info.hpp>

#include <array>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "graph/allocation_hook.hpp"
#include "graph/crew.hpp"
#include "graph/small_graph.hpp"
#include "sanitized.hpp"

namespace fairlead::tests {

using enum AccessMode;

namespace {
std::size_t pool_bytes(graph::DependencyGraph& graph) {
  return graph.tasks().bytes_allocated() + graph.epochs().bytes_allocated();
}
}  // namespace

// A million tasks (a tenth under a sanitizer), at most 64 unfinished: there are descriptors for the window and for tasks
// that are being recycled.
TEST(Descriptors, AreBoundedByTheWindowForAnyNumberOfTasks) {
  graph::DependencyGraph graph;
  Recycler recycler(graph.tasks(), graph.epochs());
  std::array<graph::DatumState, 20> tails;
  std::vector<Task*> ready;
  Random random(5);
  std::size_t unfinished = 0, after_warm_up = 0, blocks = 0;
  constexpr std::size_t tasks = sanitized ? 100'000 : 1'000'000;
  for (std::size_t t = 0; t < tasks; ++t) {
    std::array<graph::Insertion, 4> insertions;
    const std::size_t count = 1 + t % 4, first = random.below(tails.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t datum = (first + i * 3) % tails.size();
      insertions[i] = {&tails[datum], static_cast<DatumId>(datum), random.once_in(2) ? read : read_write};
    }
    Task* task = graph.make_task(count);
    blocks += count > inline_accesses;
    if (graph.insert(*task, std::span(insertions).first(count))) ready.push_back(task);
    for (++unfinished; unfinished == 64 || (t + 1 == tasks && unfinished > 0); --unfinished) {
      ASSERT_FALSE(ready.empty());
      const std::size_t i = random.below(ready.size());
      Task* done = std::exchange(ready[i], ready.back());
      ready.pop_back();
      EventChain chain;
      graph::DependencyGraph::complete(*done, chain, recycler);
      recycler.recycle(*done);
      for (Event *event = chain.take_in_order(), *following; event != nullptr; event = following) {
        following = event->next;
        ready.push_back(static_cast<Task*>(event));
      }
    }
    if (t == 10'000) after_warm_up = pool_bytes(graph);
  }
  EXPECT_EQ(blocks, tasks / 4);
  EXPECT_LE(pool_bytes(graph), after_warm_up + 64 * (sizeof(Task) + sizeof(graph::Epoch)));
  // 64 in the window, 63 with the recycler, rounded up to chunks; at most one epoch per access, and one per
  // datum.
  EXPECT_LE(graph.tasks().bytes_allocated(), 3 * 64 * sizeof(Task));
  EXPECT_LE(graph.epochs().bytes_allocated(), 6 * 64 * sizeof(graph::Epoch));
}

TEST(Descriptors, AreReusedFromSeveralThreads) {
  graph::DependencyGraph graph;
  std::array<graph::DatumState, 30> tails;
  Crew crew(graph, 3, 1, [](Task&) {});
  Random random(6);
  for (std::size_t t = 0; t < 100'000; ++t) {
    const std::size_t first = random.below(tails.size()), second = (first + 1) % tails.size();
    const std::array insertions{
        graph::Insertion{&tails[first], static_cast<DatumId>(first), read_write},
        graph::Insertion{&tails[second], static_cast<DatumId>(second), read},
    };
    crew.submit(*graph.make_task(2), insertions);
    ASSERT_TRUE(crew.help(63));
  }
  ASSERT_TRUE(crew.finish());
  // Each of the four threads caches up to 63 descriptors.
  EXPECT_LE(graph.tasks().bytes_allocated(), (64 + 4 * 64 + 64) * sizeof(Task));
  EXPECT_LE(graph.epochs().bytes_allocated(), (30 + 2 * 64 + 4 * 64 + 64) * sizeof(graph::Epoch));
}

// A chain in which each task has three data in common with its predecessor, without shared epochs: three epochs a task.
TEST(Descriptors, TakeAtMost512BytesForAWaitingTaskWithThreeAccesses) {
  constexpr std::size_t window = 2048;
  SmallGraph g;
  for (std::size_t t = 0; t < window; ++t) g.submit({{'A', read_write}, {'B', write}, {'C', read_write}});
  ASSERT_EQ(g.ready.size(), 1u);
  const std::size_t bytes = pool_bytes(g.graph);
  EXPECT_LE(bytes / window, 512u);
  EXPECT_GE(bytes / window, sizeof(Task) + 3 * sizeof(graph::Epoch));  // counted at all
  RecordProperty("bytes_per_waiting_task", static_cast<int>(bytes / window));

  // No other memory is allocated while descriptors are reused.
  while (!g.ready.empty()) g.complete(*g.ready.front());
  g.recycler.flush();
  const std::array insertions{graph::Insertion{&g.tails['A'], DatumId{0}, read_write},
                              graph::Insertion{&g.tails['B'], DatumId{1}, write},
                              graph::Insertion{&g.tails['C'], DatumId{2}, read_write}};
  const std::size_t before = allocations();
  for (std::size_t t = 0; t < window; ++t) g.graph.insert(*g.graph.make_task(3), insertions);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(pool_bytes(g.graph), bytes);
}

// A run that was stopped leaves some. More than three accesses have a block of their own.
TEST(Descriptors, OfUnfinishedTasksAreFreedWithTheGraph) {
  const std::size_t before = allocations() - deallocations();
  {
    SmallGraph g;
    for (int t = 0; t < 3; ++t)
      g.submit({{'A', read_write}, {'B', read_write}, {'C', read_write}, {'D', read_write}});
    EXPECT_GT(allocations() - deallocations(), before);
  }
  EXPECT_EQ(allocations() - deallocations(), before);
}

// The body's arguments no longer exist then: the reporter destroys them when the task ends.
TEST(Descriptors, ReleaseTheirFailure) {
  SmallGraph g;
  Task& task = g.submit({{'A', write}});
  task.failure = std::make_exception_ptr(1);
  g.complete(task);
  EXPECT_EQ(task.failure, nullptr);
}

}  // namespace fairlead::tests
