// A network thread polls its network only while the network listens, and ends with its object.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "net/network_thread.hpp"

namespace fairlead::net {
namespace {

/// Counts how often it is polled.
class Silence final : public Network {
 public:
  RankId own() const noexcept override { return RankId{0}; }
  std::uint32_t ranks() const noexcept override { return 2; }
  std::string description() const override { return "silence"; }
  std::string why_not_into_devices() const override { return {}; }
  void begin(Listener&) override {}
  void poke() override {}
  bool needs_polling() const noexcept override { return true; }
  bool poll() override {
    if (breaks.load()) throw SystemError("the cable is out");
    ++driven;
    return false;
  }
  void end() override {}
  void expect(const EndpointCommands::PostedReceive&) override {}
  void send(EndpointCommands::Message) override {}
  void send(const EndpointCommands::Payload&) override {}
  void drop(PayloadId) override {}
  void abort_out_of_memory() noexcept override {}

  std::atomic<std::uint64_t> driven{0};
  std::atomic<bool> breaks{false};
};

TEST(NetworkThread, PollsOnlyWhileTheNetworkListens) {
  const auto network = std::make_shared<Silence>();
  EXPECT_FALSE(network->has_own_driver());
  std::uint64_t before_the_end = 0;
  {
    const NetworkThread thread(network, [](std::exception_ptr) { FAIL(); });
    EXPECT_TRUE(network->has_own_driver());
    EXPECT_EQ(network->driven.load(), 0);
    for (int round = 0; round < 200; ++round) {
      const std::uint64_t before = network->driven.load();
      network->set_active(true);
      while (network->driven.load() < before + 3) std::this_thread::yield();
      network->set_active(false);
    }
    before_the_end = network->driven.load();
  }
  EXPECT_LE(network->driven.load(), before_the_end + 1);  // a call that was in progress
  EXPECT_FALSE(network->has_own_driver());
  network->set_active(true);  // without a thread
}

TEST(NetworkThread, EndsWhileTheNetworkListens) {
  const auto network = std::make_shared<Silence>();
  for (int round = 0; round < 200; ++round) {
    const NetworkThread thread(network, [](std::exception_ptr) { FAIL(); });
    const std::uint64_t before = network->driven.load();
    network->set_active(true);
    while (network->driven.load() < before + static_cast<unsigned>(round % 3)) std::this_thread::yield();
  }
  EXPECT_FALSE(network->has_own_driver());
}

TEST(NetworkThread, ReportsAFailureOfTheNetworkOnce) {
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
    network->set_active(true);
    while (failures.load() == 0) std::this_thread::yield();
    network->set_active(false);
    network->set_active(true);
  }
  EXPECT_EQ(failures.load(), 1);
  EXPECT_EQ(why, "the cable is out");
}

}  // namespace
}  // namespace fairlead::net
