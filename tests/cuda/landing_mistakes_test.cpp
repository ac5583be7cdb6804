// Deliberate mistakes in receiving values of other ranks into device memory, between protocol and network, or between network
// and device memory: each is detected, by the driver's checker or by wrong values.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "at_length.hpp"
#include "cuda/landing_program.hpp"
#include "net/network.hpp"

#include <fairlead/ranks.hpp>

namespace fairlead::tests::landing {

namespace {

enum class Mistake : std::uint8_t {
  none,
  reported_when_posted,    // a value counts as arrived when its receive is posted
  reported_when_started,   // its copy to the device has started, but not finished
  written_after_reported,  // the memory is still written, and may have another owner by then
};

/// Writes bytes after it reports completion, or a second time.
class Hasty final : public DeviceMemory {
 public:
  Hasty(DeviceMemory& real, bool at_once, std::chrono::microseconds later)
      : real_(real), at_once_(at_once), later_(later) {}
  ~Hasty() override { end(); }
  void end() {
    std::vector<std::thread> threads;
    {
      const std::lock_guard guard(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }
  bool is_ram() const noexcept override { return real_.is_ram(); }
  bool write(void* to, const void* from, Bytes bytes) override {
    if (at_once_) real_.write(to, from, bytes);
    const auto* const begin = static_cast<const std::byte*>(from);
    const std::lock_guard guard(mutex_);
    threads_.emplace_back([this, to, copy = std::vector<std::byte>(begin, begin + bytes)] {
      std::this_thread::sleep_for(later_);
      real_.write(to, copy.data(), copy.size());
    });
    return true;
  }
  bool call(const std::function<void()>& it) override { return real_.call(it); }

 private:
  DeviceMemory& real_;
  const bool at_once_;
  const std::chrono::microseconds later_;
  std::mutex mutex_;  // guards threads_
  std::vector<std::thread> threads_;
};

/// A rank's network that makes the mistake.
class Mistaken final : public net::Network, private net::Network::Listener {
 public:
  using Listener = net::Network::Listener;  // implements both interfaces
  Mistaken(std::shared_ptr<net::Network> real, Mistake mistake, std::uint64_t seed)
      : real_(std::move(real)), mistake_(mistake), later_(20 * (seed % 20)) {}

  net::RankId own() const noexcept override { return real_->own(); }
  std::uint32_t ranks() const noexcept override { return real_->ranks(); }
  Sharing sharing() const noexcept override { return real_->sharing(); }
  bool in_process() const noexcept override { return true; }
  std::string description() const override { return real_->description(); }
  std::string why_not_into_devices() const override { return real_->why_not_into_devices(); }
  void begin(Listener& listener) override {
    listener_ = &listener;
    real_->begin(*this);
  }
  void poke() override { real_->poke(); }
  void end() override {
    real_->end();
    memories_.clear();
  }
  void expect(const net::EndpointCommands::PostedReceive& expected) override {
    net::EndpointCommands::PostedReceive asked = expected;
    if (asked.memory != nullptr && mistake_ > Mistake::reported_when_posted)
      asked.memory = memories_
                         .emplace_back(std::make_unique<Hasty>(
                             *expected.memory, mistake_ == Mistake::written_after_reported, later_))
                         .get();
    const bool too_early = asked.memory != nullptr && mistake_ == Mistake::reported_when_posted;
    if (too_early) {
      const std::lock_guard guard(mutex_);
      reported_.insert(expected.id);
    }
    real_->expect(asked);
    if (too_early) listener_->landed(expected.id);
  }
  void send(net::EndpointCommands::Message message) override { real_->send(std::move(message)); }
  void send(const net::EndpointCommands::Payload& payload) override { real_->send(payload); }
  void drop(net::PayloadId payload) override { real_->drop(payload); }
  void abort_out_of_memory() noexcept override { real_->abort_out_of_memory(); }

 private:
  void came(net::RankId from, std::span<const std::byte> message) override { listener_->came(from, message); }
  void landed(net::PayloadId expected) override {
    {
      const std::lock_guard guard(mutex_);
      if (reported_.erase(expected) != 0) return;
    }
    listener_->landed(expected);
  }
  void left(net::PayloadId sent) override { listener_->left(sent); }
  void failed(const std::string& why) override { listener_->failed(why); }
  void lost(const std::string& why) override { listener_->lost(why); }
  void out_of_memory() noexcept override { listener_->out_of_memory(); }
  void poked() override { listener_->poked(); }

  const std::shared_ptr<net::Network> real_;
  const Mistake mistake_;
  const std::chrono::microseconds later_;
  Listener* listener_ = nullptr;
  std::mutex mutex_;  // guards reported_
  std::set<net::PayloadId> reported_;
  std::vector<std::unique_ptr<Hasty>> memories_;  // the endpoint's
};

/// How the mistake was detected; empty: not detected.
std::string noticed_at(std::uint64_t seed, Mistake mistake) {
  constexpr std::uint32_t ranks = 2;
  fake_cuda::begin({.seed = seed, .devices = 2, .longest_delay_us = 100});
  const Program program{.of_each = 3, .bodies = Bodies::devices};
  const Way way{.into = "random", .tight_device = seed % 2 == 0};
  std::vector<Seen> seen(ranks);
  std::vector<std::string> thrown(ranks);
  std::vector<std::thread> threads;
  const std::vector<Rank> places = ranks_in_process(ranks);
  for (std::uint32_t i = 0; i < ranks; ++i)
    threads.emplace_back([&, i] {
      try {
        Runtime runtime(config_of(program, way, ranks, seed),
                        Rank{std::make_shared<Mistaken>(places[i].network, mistake, seed)});
        seen[i] = run(runtime, program, 1);
      } catch (const std::exception& error) {
        thrown[i] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : fake_cuda::end())
    if (text.find("a race") != std::string::npos) return text;
  for (const std::string& text : thrown) EXPECT_EQ(text, "") << seed;
  for (const Seen& one : seen)
    if (!one.right) return "the values are wrong";
  EXPECT_GT(seen[0].statistics.network.into_devices.copies, 0u);
  return "";
}

}  // namespace

TEST(LandingMistakes, AreDetected) {
  for (const Mistake mistake :
       {Mistake::reported_when_posted, Mistake::reported_when_started, Mistake::written_after_reported}) {
    std::string noticed;
    std::uint64_t seed = 0;
    while (noticed.empty() && ++seed <= 100) noticed = noticed_at(seed, mistake);
    EXPECT_NE(noticed, "") << static_cast<int>(mistake);
    std::cout << "mistake " << static_cast<int>(mistake) << ": seed " << seed << ": " << noticed << '\n';
  }
}

TEST(LandingMistakes, AreNotReportedWithoutAny) {
  for (std::uint64_t seed = 1; seed <= (many_cases() ? 20 : 6); ++seed)
    EXPECT_EQ(noticed_at(seed, Mistake::none), "") << seed;
}

}  // namespace fairlead::tests::landing
