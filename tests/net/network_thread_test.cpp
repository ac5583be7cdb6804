// A thread that drives a network does so as long as that listens, sleeps meanwhile, and ends when it is to.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "net/network_thread.hpp"

namespace fairlead::net {
namespace {

/// Counts how often it is driven.
class Silence final : public Network {
 public:
  RankId own() const noexcept override { return RankId{0}; }
  std::uint32_t ranks() const noexcept override { return 2; }
  std::string description() const override { return "silence"; }
  std::string why_not_into_devices() const override { return {}; }
  void begin(Listener&) override {}
  void poke() override {}
  bool has_to_be_driven() const noexcept override { return true; }
  bool drive() override {
    if (breaks.load()) throw SystemError("the cable is out");
    ++driven;
    return false;
  }
  void end() override {}
  void expect(const Commands::Expected&) override {}
  void send(Commands::Message) override {}
  void send(const Commands::Payload&) override {}
  void drop(PayloadId) override {}
  void break_off() noexcept override {}

  std::atomic<std::uint64_t> driven{0};
  std::atomic<bool> breaks{false};
};

TEST(NetworkThread, DrivesWhileItListensAndSleepsElse) {
  const auto network = std::make_shared<Silence>();
  EXPECT_FALSE(network->has_own_driver());
  {
    const NetworkThread thread(network, [](std::exception_ptr) { FAIL(); });
    EXPECT_TRUE(network->has_own_driver());
    EXPECT_EQ(network->driven.load(), 0);
    for (int round = 0; round < 200; ++round) {
      const std::uint64_t before = network->driven.load();
      network->listen(true);
      while (network->driven.load() < before + 3) std::this_thread::yield();
      network->listen(false);
    }
    // One look more at most is under way.
    std::uint64_t now = network->driven.load();
    std::clock_t used = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_LE(network->driven.load(), now + 1);
    used = std::clock() - used;
    EXPECT_LT(used, CLOCKS_PER_SEC / 50);  // of processor time
    network->listen(true);                 // it ends all the same
  }
  EXPECT_FALSE(network->has_own_driver());
  network->listen(true);  // nobody hears of it
}

TEST(NetworkThread, TellsOnceThatTheNetworkFails) {
  const auto network = std::make_shared<Silence>();
  std::atomic<int> failures{0};
  std::string why;
  {
    const NetworkThread thread(network, [&](std::exception_ptr failure) {
      try {
        std::rethrow_exception(failure);
      } catch (const SystemError& error) {
        why = error.what();
      }
      ++failures;
    });
    network->breaks.store(true);
    network->listen(true);
    while (failures.load() == 0) std::this_thread::yield();
    network->listen(false);
    network->listen(true);
  }
  EXPECT_EQ(failures.load(), 1);
  EXPECT_EQ(why, "the cable is out");
}

}  // namespace
}  // namespace fairlead::net
