// The mailbox between the engine and one worker, with two threads: each task is delivered exactly once or recalled, and none
// is lost.
#include "backend/cpu/mailbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace fairlead::backend {
namespace {

constexpr std::size_t room = Mailbox::capacity;

struct Tasks {
  explicit Tasks(std::size_t count) : tasks(std::make_unique<Task[]>(count)), taken(count) {}
  std::size_t number_of(const Task& task) const { return static_cast<std::size_t>(&task - tasks.get()); }
  std::unique_ptr<Task[]> tasks;
  std::vector<std::atomic<int>> taken;
};

TEST(Mailbox, DeliversTasksInOrder) {
  Mailbox mailbox;
  Tasks some(3);
  EXPECT_TRUE(mailbox.empty());
  EXPECT_EQ(mailbox.take(), nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(mailbox.put(some.tasks[i]));
  EXPECT_FALSE(mailbox.empty());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mailbox.take(), &some.tasks[i]);
  EXPECT_EQ(mailbox.take(), nullptr);
  EXPECT_TRUE(mailbox.empty());
}

TEST(Mailbox, RejectsTasksWhenFull) {
  Mailbox mailbox;
  Tasks some(room + 1);
  for (std::size_t i = 0; i < room; ++i) EXPECT_TRUE(mailbox.put(some.tasks[i]));
  EXPECT_FALSE(mailbox.put(some.tasks[room]));
  EXPECT_EQ(mailbox.take(), &some.tasks[0]);
  EXPECT_TRUE(mailbox.put(some.tasks[room]));
  for (std::size_t i = 1; i <= room; ++i) EXPECT_EQ(mailbox.take(), &some.tasks[i]);
}

TEST(Mailbox, RecallsTasksThatTheWorkerHasNotTaken) {
  Mailbox mailbox;
  Tasks some(4);
  for (int i = 0; i < 3; ++i) mailbox.put(some.tasks[i]);
  EXPECT_EQ(mailbox.take(), &some.tasks[0]);
  EXPECT_FALSE(mailbox.take_back(some.tasks[0]));  // too late
  EXPECT_FALSE(mailbox.take_back(some.tasks[3]));  // never there
  EXPECT_TRUE(mailbox.take_back(some.tasks[1]));   // in the middle
  EXPECT_FALSE(mailbox.take_back(some.tasks[1]));  // once
  EXPECT_EQ(mailbox.take(), &some.tasks[2]);
  EXPECT_EQ(mailbox.take(), nullptr);
}

// Marks of recalled tasks do not occupy slots permanently.
TEST(Mailbox, HasFreeSlotsAfterAllWereRecalled) {
  Mailbox mailbox;
  Tasks some(room);
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < room; ++i) ASSERT_TRUE(mailbox.put(some.tasks[i]));
    // In the first rounds from the front, so that marks remain; then from the back.
    for (std::size_t k = 0; k < room; ++k)
      ASSERT_TRUE(mailbox.take_back(some.tasks[round < 2 ? k : room - 1 - k]));
    EXPECT_EQ(mailbox.take(), nullptr);
    EXPECT_TRUE(mailbox.empty());
  }
}

class MailboxUnderStress : public testing::TestWithParam<int> {};

TEST_P(MailboxUnderStress, DeliversEachTaskExactlyOnce) {
  constexpr std::size_t count = 6'000;
  Mailbox mailbox;
  Tasks all(count);
  std::vector<std::uint8_t> taken_back(count);
  std::atomic<bool> ended = false;
  std::uint64_t seen = 0;
  std::thread worker([&] {
    Random random(static_cast<std::uint64_t>(GetParam()) + 100);
    for (bool last = false;;) {
      Task* task = mailbox.take();
      if (task != nullptr) {
        all.taken[all.number_of(*task)].fetch_add(1, std::memory_order_relaxed);
        seen += task->priority != 0 ? 1 : 0;  // written before it was put: a race if it cannot be seen
        if (random.once_in(64)) std::this_thread::yield();
      } else if (last) {
        return;
      } else {
        last = ended.load();
      }
    }
  });
  Random random(static_cast<std::uint64_t>(GetParam()));
  std::vector<std::size_t> recent;
  for (std::size_t next = 0; next < count;) {
    all.tasks[next].priority = 1;
    if (mailbox.put(all.tasks[next])) {
      recent.push_back(next++);
    } else {
      std::this_thread::yield();
    }
    if (!recent.empty() && random.once_in(3)) {
      const std::size_t back = 1 + random.below(std::min<std::size_t>(recent.size(), 8));
      const std::size_t number = recent[recent.size() - back];
      if (taken_back[number] == 0 && mailbox.take_back(all.tasks[number])) taken_back[number] = 1;
    }
  }
  ended = true;
  worker.join();
  std::size_t wrong = 0, back = 0;
  for (std::size_t i = 0; i < count; ++i) {
    wrong += all.taken[i].load() + taken_back[i] != 1;
    back += taken_back[i];
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(seen, count - back);
  EXPECT_GT(back, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MailboxUnderStress, testing::Range(0, 4));

}  // namespace
}  // namespace fairlead::backend
