// Sleeping without lost wake-ups: two threads alternate on a counter, and each sleeps until its turn. A lost wake-up hangs.
#include "backend/cpu/sleeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace fairlead::backend {
namespace {

TEST(Sleeper, DoesNotSleepWhenThereIsWork) {
  Sleeper sleeper;
  sleeper.sleep_unless([] { return true; });
  EXPECT_FALSE(sleeper.asleep());
}

TEST(Sleeper, LosesNoWakeUp) {
  constexpr int turns = 4'000;
  Sleeper sleepers[2];
  std::atomic<int> turn = 0;
  const auto play = [&](int me) {
    for (int mine = me; mine < turns; mine += 2) {
      while (turn.load() != mine) sleepers[me].sleep_unless([&] { return turn.load() == mine; });
      turn.store(mine + 1);
      // As the engine does: only sleeping threads are woken.
      if (sleepers[1 - me].asleep()) sleepers[1 - me].wake();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn, turns);
}

// A wake-up while no thread sleeps does not block the next sleep.
TEST(Sleeper, AnEarlyWakeUpCostsAtMostOneCheck) {
  Sleeper sleeper;
  sleeper.wake();
  std::atomic<bool> work = false;
  std::thread other([&] {
    while (!sleeper.asleep()) std::this_thread::yield();
    work = true;
    sleeper.wake();
  });
  while (!work) sleeper.sleep_unless([&] { return work.load(); });
  other.join();
  EXPECT_FALSE(sleeper.asleep());
}

}  // namespace
}  // namespace fairlead::backend
