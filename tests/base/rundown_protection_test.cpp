// An object ends when its last use has ended, and no use starts afterwards.
#include "base/rundown_protection.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace fairlead {
namespace {

TEST(RundownProtection, GrantsUsesUntilItsEnd) {
  std::optional<RundownProtection> owner(std::in_place);
  const auto gate = owner->gate();
  {
    const RundownProtection::Use first(*gate), second(*gate);
    EXPECT_TRUE(first);
    EXPECT_TRUE(second);
  }
  owner.reset();
  const RundownProtection::Use late(*gate);
  EXPECT_FALSE(late);
}

TEST(RundownProtection, ItsEndWaitsForUses) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> entered = false, over = false;
    std::optional<RundownProtection> owner(std::in_place);
    std::thread user([&, gate = owner->gate()] {
      const RundownProtection::Use use(*gate);
      ASSERT_TRUE(use);
      entered.store(true);
      entered.notify_one();
      std::this_thread::sleep_for(std::chrono::microseconds(round));
      over.store(true);
    });
    entered.wait(false);
    owner.reset();
    EXPECT_TRUE(over.load());
    user.join();
  }
}

}  // namespace
}  // namespace fairlead
