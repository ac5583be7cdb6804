// The queue of one worker of the fast path: its owner takes the oldest task, a thief takes half of the tasks, and no
// task is lost or taken twice while both access it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "engine/stealing_queue.hpp"
#include "sanitized.hpp"

namespace fairlead::engine {
namespace {

using Stolen = std::array<LazyTask*, StealingQueue::most_stolen>;

constexpr TaskFamily descriptors{.described = true};
Task& queued(Task& task) {
  task.family = &descriptors;
  return task;
}

struct Queue {
  std::unique_ptr<StealingQueue> stealing = std::make_unique<StealingQueue>();
  std::deque<Task> tasks;

  void put(std::size_t count) {
    while (count-- > 0) EXPECT_TRUE(stealing->put(queued(tasks.emplace_back())));
  }
};

}  // namespace

TEST(StealingQueue, ReturnsTheOldestTaskToItsOwner) {
  Queue queue;
  queue.put(3);
  for (Task& task : queue.tasks) EXPECT_EQ(queue.stealing->take(), &task);
  EXPECT_FALSE(queue.stealing->take());
}

TEST(StealingQueue, GivesAThiefHalfOfTheTasksRoundedUp) {
  Queue queue;
  queue.put(5);
  Stolen stolen;
  ASSERT_EQ(queue.stealing->steal(stolen), 3u);
  EXPECT_EQ(stolen[0], &queue.tasks[0]);
  EXPECT_EQ(stolen[2], &queue.tasks[2]);
  EXPECT_EQ(queue.stealing->size(), 2u);
  EXPECT_EQ(queue.stealing->take(), &queue.tasks[3]);
}

TEST(StealingQueue, GivesAThiefAtMostItsCapacity) {
  Queue queue;
  queue.put(1000);
  Stolen stolen;
  EXPECT_EQ(queue.stealing->steal(stolen), StealingQueue::most_stolen);
}

TEST(StealingQueue, RefusesTasksBeyondItsCapacity) {
  Queue queue;
  queue.put(StealingQueue::capacity);
  Task one_more;
  EXPECT_FALSE(queue.stealing->put(queued(one_more)));
  queue.stealing->take();
  EXPECT_TRUE(queue.stealing->put(queued(one_more)));
}

TEST(StealingQueue, KeepsTasksBeyondItsCapacityInItsOverflowList) {
  constexpr std::size_t count = 3 * StealingQueue::capacity + 5;
  for (const bool alone : {false, true}) {
    Queue queue;
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_TRUE(queue.stealing->put_or_overflow(queued(queue.tasks.emplace_back()), alone));
    EXPECT_EQ(queue.stealing->size(), count);
    Stolen stolen;
    std::size_t next = alone ? 0 : queue.stealing->steal(stolen);
    for (; next < count; ++next) {
      EXPECT_FALSE(queue.stealing->empty());
      ASSERT_EQ(alone ? queue.stealing->take_single_threaded() : queue.stealing->take(), &queue.tasks[next]);
    }
    EXPECT_EQ(alone ? queue.stealing->take_single_threaded() : queue.stealing->take(), nullptr);
    EXPECT_TRUE(queue.stealing->empty());
    // Once it is empty, it is in its first state again.
    ASSERT_TRUE(queue.stealing->put_or_overflow(queue.tasks[0], alone));
    EXPECT_EQ(queue.stealing->steal(stolen), 1u);
  }
}

TEST(StealingQueue, ReturnsTheTasksOfItsOverflowList) {
  Queue queue;
  for (std::size_t i = 0; i < StealingQueue::capacity + 3; ++i)
    ASSERT_TRUE(queue.stealing->put_or_overflow(queued(queue.tasks.emplace_back()), false));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(queue.stealing->take_kept(), &queue.tasks[StealingQueue::capacity + i]);
  EXPECT_EQ(queue.stealing->take_kept(), nullptr);
  EXPECT_EQ(queue.stealing->size(), StealingQueue::capacity);
  EXPECT_EQ(queue.stealing->take(), &queue.tasks[0]);
}

/// The owner puts and takes in bursts, three thieves steal. Each task counts how often it was taken, and has a plain
/// value that the owner wrote before.
void lose_nothing(bool keeps) {
  constexpr std::size_t count = fairlead::tests::thread_sanitized ? 50'000 : 200'000, thieves = 3;
  StealingQueue queue;
  std::vector<Task> tasks(count);
  std::vector<std::atomic<int>> got(count);
  std::atomic<std::size_t> all{0}, wrong{0};
  const auto have = [&](LazyTask* taken) {
    const Task* const task = static_cast<Task*>(taken);
    const auto at = static_cast<std::size_t>(task - tasks.data());
    wrong += task->priority != static_cast<std::int32_t>(at) || ++got[at] != 1;
    ++all;
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thieves; ++i)
    threads.emplace_back([&] {
      Stolen stolen;
      while (all.load() < count)
        for (std::size_t k = 0, n = queue.steal(stolen); k < n; ++k) have(stolen[k]);
    });
  std::size_t put = 0;
  for (std::size_t burst = 1; put < count; burst = burst % 61 + 1) {
    for (std::size_t k = 0; k < burst && put < count; ++k) {
      tasks[put].priority = static_cast<std::int32_t>(put);
      if (!(keeps ? queue.put_or_overflow(queued(tasks[put]), false) : queue.put(queued(tasks[put])))) break;
      ++put;
    }
    // Some bursts are kept whole, and exceed the capacity.
    for (std::size_t k = 0; k < (keeps ? burst / 8 : burst / 2); ++k)
      if (LazyTask* const task = queue.take()) have(task);
  }
  while (all.load() < count)
    if (LazyTask* const task = queue.take()) have(task);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(all, count);
  EXPECT_TRUE(queue.empty());
}

TEST(StealingQueue, ReturnsEachTaskOnce) { lose_nothing(false); }
TEST(StealingQueue, ReturnsEachTaskOfItsOverflowListOnce) { lose_nothing(true); }

}  // namespace fairlead::engine
