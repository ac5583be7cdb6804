// Several threads push, and the thread that gets the lock takes all events out, as the engine's entrance does:
// no event may be left when all threads have ended.
#include "engine/inbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace fairlead::engine {
namespace {

struct Delivery {
  Inbox inbox;
  EngineLock lock;
  std::vector<std::uint64_t>
      next;  // per pusher: the number that must come next. Guarded by the lock, like the others
  std::uint64_t out_of_order = 0;

  void enter(EventChain& chain) {
    inbox.push(chain);
    while (!inbox.empty() && lock.try_lock()) {
      drain();
      lock.unlock();
    }
  }
  void drain() {
    for (Event *event = inbox.drain(), *following; event != nullptr; event = following) {
      following = event->next;
      out_of_order += static_cast<std::uint64_t>(event->at.count()) != next[index(event->worker)]++;
    }
  }
};

}  // namespace

TEST(Inbox, ReturnsEventsOldestFirst) {
  Inbox inbox;
  std::vector<Event> events(5);
  EventChain first, second, none;
  for (int i = 0; i < 3; ++i) first.append(events[static_cast<std::size_t>(i)]);
  for (int i = 3; i < 5; ++i) second.append(events[static_cast<std::size_t>(i)]);
  EXPECT_TRUE(inbox.empty());
  inbox.push(none);
  EXPECT_TRUE(inbox.empty());
  EXPECT_EQ(inbox.drain(), nullptr);
  inbox.push(first);
  inbox.push(second);
  EXPECT_TRUE(first.empty());
  Event* event = inbox.drain();
  for (Event& expected : events) {
    ASSERT_EQ(event, &expected);
    event = event->next;
  }
  EXPECT_EQ(event, nullptr);
  EXPECT_TRUE(inbox.empty());
}

// A pusher returns at once if another thread holds the lock. The holder's last check must find its events.
TEST(Inbox, LosesNoEventAndKeepsEachPushersOrder) {
  constexpr std::size_t pushers = 4, rounds = 20'000;
  Delivery delivery;
  delivery.next.assign(pushers, 0);
  std::vector<std::uint64_t> pushed(pushers);
  std::vector<std::vector<Event>> all_events(pushers, std::vector<Event>(rounds * 3));
  std::latch start(pushers);  // all at once
  {
    std::vector<std::jthread> threads;
    for (std::size_t p = 0; p < pushers; ++p)
      threads.emplace_back([&delivery, &pushed, &start, &events = all_events[p], p] {
        Random random(p);
        std::uint64_t number = 0;
        start.arrive_and_wait();
        for (std::size_t round = 0; round < rounds; ++round) {
          EventChain chain;
          for (std::int64_t i = random.between(1, 3); i-- > 0; ++number) {
            events[number].worker = static_cast<WorkerId>(p);
            events[number].at = Time(static_cast<std::int64_t>(number));
            chain.append(events[number]);
          }
          delivery.enter(chain);
        }
        pushed[p] = number;
      });
  }
  EXPECT_TRUE(delivery.inbox.empty());  // no thread is left that would check
  EXPECT_EQ(delivery.next, pushed);
  EXPECT_EQ(delivery.out_of_order, 0u);
}

TEST(EngineLock, AdmitsOneThreadAtATime) {
  EngineLock lock;
  std::uint64_t entries = 0;  // guarded by the lock
  std::latch start(4);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (int i = 0; i < 20'000; ++i) {
          if (i % 2 == 0 || !lock.try_lock()) lock.lock();
          ++entries;
          lock.unlock();
        }
      });
  }
  EXPECT_EQ(entries, 80'000u);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
}

}  // namespace fairlead::engine
