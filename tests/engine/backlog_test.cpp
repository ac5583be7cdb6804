// The backlog: sources with remaining tasks are polled in turn, one batch at a time, by one thread at a time. A
// source that is added while it is polled is kept.
#include "engine/backlog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "graph/dependency_graph.hpp"

namespace fairlead::engine {
namespace {

/// A source of the given number of identical tasks.
struct Handful : TaskSource {
  explicit Handful(std::size_t tasks) : left(tasks) {}
  void release(Task&, ReadyTasks&) override {}
  bool more(ReadyTasks& ready) override {
    ++asked;
    if (while_asked) while_asked();
    for (; left > 0 && !ready.full(); --left) ready.add(static_cast<LazyTask&>(task));
    return left > 0;
  }
  Task task;
  std::atomic<std::size_t> left;
  int asked = 0;
  std::function<void()> while_asked;
};

struct Asking {
  Backlog backlog;
  graph::Pool<Task> tasks;
  graph::Pool<graph::Epoch> epochs;

  /// The number of tasks that a poll returns.
  std::size_t ask() {
    Recycler recycler(tasks, epochs);
    EventChain described;
    ReadyTasks ready(recycler, described, 1);
    const bool some = backlog.ask(ready);
    EXPECT_EQ(some, ready.size() != 0);
    return ready.size();
  }
};

}  // namespace

TEST(Backlog, ReturnsOneBatchAtATimeUntilItIsEmpty) {
  Asking asking;
  Handful source(2 * ReadyTasks::most + 3);
  asking.backlog.add(source);
  EXPECT_EQ(asking.ask(), ReadyTasks::most);
  EXPECT_EQ(asking.ask(), ReadyTasks::most);
  EXPECT_TRUE(asking.backlog.any());
  EXPECT_EQ(asking.ask(), 3u);
  EXPECT_FALSE(asking.backlog.any());
  EXPECT_EQ(asking.ask(), 0u);
}

TEST(Backlog, PollsSourcesInTurn) {
  Asking asking;
  Handful first(3 * ReadyTasks::most), second(3 * ReadyTasks::most);
  asking.backlog.add(first);
  asking.backlog.add(second);
  asking.backlog.add(first);
  for (int i = 0; i < 4; ++i) asking.ask();
  EXPECT_EQ(first.asked, 2);
  EXPECT_EQ(second.asked, 2);
}

TEST(Backlog, PollsTheNextSourceWhenOneIsEmpty) {
  Asking asking;
  Handful empty(0), other(1);
  asking.backlog.add(empty);
  asking.backlog.add(other);
  EXPECT_EQ(asking.ask(), 1u);
  EXPECT_FALSE(asking.backlog.any());
}

TEST(Backlog, KeepsASourceThatIsAddedWhileItReportsThatItIsEmpty) {
  Asking asking;
  Handful source(1);
  source.while_asked = [&] { asking.backlog.add(source); };  // a release, on another thread
  asking.backlog.add(source);
  EXPECT_EQ(asking.ask(), 1u);
  EXPECT_TRUE(asking.backlog.any());
  source.while_asked = nullptr;
  EXPECT_EQ(asking.ask(), 0u);
  EXPECT_FALSE(asking.backlog.any());
}

TEST(Backlog, IsPolledByOneThreadAtATime) {
  Asking asking;
  Handful source(2 * ReadyTasks::most);
  std::size_t brought = 1;
  source.while_asked = [&] { std::thread([&] { brought = asking.ask(); }).join(); };
  asking.backlog.add(source);
  EXPECT_EQ(asking.ask(), ReadyTasks::most);
  EXPECT_EQ(brought, 0u);
}

TEST(Backlog, DoesNotPollARemovedSource) {
  Asking asking;
  Handful source(1);
  asking.backlog.add(source);
  asking.backlog.forget(source);
  EXPECT_FALSE(asking.backlog.any());
  EXPECT_EQ(asking.ask(), 0u);
  EXPECT_EQ(source.asked, 0);
}

/// Three threads poll while a fourth adds tasks repeatedly, as releases do: all tasks are returned.
TEST(Backlog, LosesNoTaskThatIsAddedWhileOthersPoll) {
  constexpr std::size_t rounds = 5'000, each = 3;
  struct Leaving : TaskSource {
    void release(Task&, ReadyTasks&) override {}
    bool more(ReadyTasks& ready) override {
      for (std::size_t n = left.exchange(0); n > 0; --n) ready.add(static_cast<LazyTask&>(task));
      return false;
    }
    Task task;
    std::atomic<std::size_t> left{0};
  };
  Asking asking;
  Leaving source;
  std::atomic<std::size_t> got{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (; got.load() < rounds * each; std::this_thread::yield()) got += asking.ask();
    });
  for (std::size_t i = 0; i < rounds; ++i) {
    while (source.left.load() > ReadyTasks::most / 2) std::this_thread::yield();
    source.left += each;
    asking.backlog.add(source);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got.load(), rounds * each);
}

}  // namespace fairlead::engine
