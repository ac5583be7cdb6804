// A listener of a network may be destroyed as soon as end() has returned, whichever thread was notifying it.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "net/listener_guard.hpp"

namespace fairlead::net {
namespace {

struct Ear {
  int heard = 0;
};

TEST(ListenerGuard, NotifiesBetweenBeginAndEnd) {
  Ear ear;
  ListenerGuard<Ear> hearing;
  const auto notify = [&] { return hearing.notify([](Ear& it) { ++it.heard; }); };
  EXPECT_FALSE(hearing.has_begun() || hearing.is_open() || notify());
  hearing.begin(ear);
  EXPECT_TRUE(hearing.has_begun() && hearing.is_open() && notify());
  hearing.notify([&](Ear&) { EXPECT_TRUE(notify()); });
  EXPECT_THROW(hearing.notify([](Ear&) { throw 1; }), int);
  hearing.end();  // does not wait for the call that has thrown
  EXPECT_TRUE(hearing.has_begun() && !hearing.is_open() && !notify());
  EXPECT_EQ(ear.heard, 2);
}

// ThreadSanitizer reports a use after the end as a race, AddressSanitizer as an error.
TEST(ListenerGuard, EndWaitsForRunningNotifications) {
  for (int round = 0; round < 40; ++round) {
    ListenerGuard<std::atomic<int>> hearing;
    auto ear = std::make_unique<std::atomic<int>>(0);
    hearing.begin(*ear);
    std::atomic<bool> over{false};
    std::vector<std::thread> notifiers;
    for (int i = 0; i < 3; ++i)
      notifiers.emplace_back([&] {
        while (!over.load(std::memory_order_relaxed)) {
          hearing.notify([](std::atomic<int>& it) {
            it.fetch_add(1, std::memory_order_relaxed);
            std::this_thread::yield();
            it.fetch_add(1, std::memory_order_relaxed);
          });
        }
      });
    while (ear->load(std::memory_order_relaxed) < 10) std::this_thread::yield();
    hearing.end();
    EXPECT_EQ(ear->load(std::memory_order_relaxed) % 2, 0);
    ear.reset();
    over.store(true, std::memory_order_relaxed);
    for (std::thread& notifier : notifiers) notifier.join();
  }
}

}  // namespace
}  // namespace fairlead::net
