// Ranks that are threads of one process: a rank that runs out of memory notifies the others without an allocation, and no
// rank reads its memory afterwards.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <thread>

#include "net/communicator.hpp"
#include "net/local/exchange.hpp"

namespace fairlead::net {
namespace {

/// Has no memory for received messages, nor for the reason of a failure.
class Forgetful final : public Network::Listener {
 public:
  void listen_to(Network& network) {
    network_ = &network;
    network.begin(*this);
  }
  void came(RankId, std::span<const std::byte>) override { throw std::bad_alloc(); }
  void landed(PayloadId) override {
    note([this] { has_landed_ = true; });
  }
  void left(PayloadId) override {}
  void failed(const std::string&) override { throw std::bad_alloc(); }
  void poked() override {}
  void lost(const std::string& why) override {
    note([&] { why_lost_ = why; });
  }
  void out_of_memory() noexcept override {
    network_->abort_out_of_memory();
    note([this] { is_broken_ = true; });
  }
  bool breaks() {
    return waits([this] { return is_broken_; });
  }
  std::string why_lost() {
    waits([this] { return !why_lost_.empty(); });
    const std::lock_guard guard(mutex_);
    return why_lost_;
  }
  bool has_landed() {
    const std::lock_guard guard(mutex_);
    return has_landed_;
  }

 private:
  template <class Change>
  void note(const Change& change) {
    const std::lock_guard guard(mutex_);
    change();
    something_.notify_all();
  }
  template <class Done>
  bool waits(const Done& done) {
    std::unique_lock lock(mutex_);
    return something_.wait_for(lock, std::chrono::seconds(20), done);
  }
  Network* network_ = nullptr;
  std::mutex mutex_;  // guards the members below
  std::condition_variable something_;
  bool is_broken_ = false, has_landed_ = false;
  std::string why_lost_;
};

TEST(LocalRanks, ARankThatRunsOutOfMemoryNotifiesAllOthers) {
  const auto exchange = std::make_shared<Exchange>(3);
  Forgetful of_first, of_second, of_third;
  LocalRank forgets(exchange, RankId{0}), hears(exchange, RankId{1}), begins_late(exchange, RankId{2});
  of_first.listen_to(forgets);
  of_second.listen_to(hears);
  hears.send(EndpointCommands::Message{.to = RankId{0}, .bytes = {std::byte{1}}});
  EXPECT_TRUE(of_first.breaks());
  EXPECT_EQ(of_second.why_lost(), "rank 0 has no memory to go on");
  of_third.listen_to(begins_late);
  EXPECT_EQ(of_third.why_lost(), "rank 0 has no memory to go on");
}

TEST(LocalRanks, NoRankReadsTheMemoryOfARankThatRanOutOfMemory) {
  const auto exchange = std::make_shared<Exchange>(2);
  Forgetful sender, receiver;
  LocalRank from(exchange, RankId{0}), to(exchange, RankId{1});
  sender.listen_to(from);
  auto value = std::make_unique<std::array<std::byte, 64>>();
  std::array<std::byte, 64> place{};
  to.expect({.id = PayloadId{1}, .from = RankId{0}, .tag = 5, .place = place.data(), .bytes = 64});
  from.send(EndpointCommands::Payload{
      .id = PayloadId{2}, .to = RankId{1}, .tag = 5, .from = value->data(), .bytes = 64});
  from.abort_out_of_memory();
  value.reset();
  receiver.listen_to(to);
  EXPECT_EQ(receiver.why_lost(), "rank 0 has no memory to go on");  // after earlier messages
  EXPECT_FALSE(receiver.has_landed());
}

struct Starved final : Client {
  void allocate_place(const EndpointCommands::Place&) override { throw std::bad_alloc(); }
  void read(const EndpointCommands::Read&) override {}
  void arrived(const EndpointCommands::Arrived&) override {}
  void sent(const EndpointCommands::Sent&) override {}
  void failed(const std::string&) override { throw std::bad_alloc(); }
  void out_of_memory() noexcept override { ended.store(true); }
  bool ends() const {
    for (int i = 0; i < 20'000 && !ended.load(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ended.load();
  }
  std::atomic<bool> ended{false};
};

TEST(LocalRanks, ARunEndsOnAllRanksIfNoneHasMemoryForAValueOrTheReason) {
  const auto exchange = std::make_shared<Exchange>(2);
  constexpr GraphRun run{0, 0};
  Starved sender, receiver;
  Communicator from(std::make_shared<LocalRank>(exchange, RankId{0}), {});
  Communicator to(std::make_shared<LocalRank>(exchange, RankId{1}), {});
  from.begin(run, 7, {.in_transit = 1 << 20}, sender);
  to.begin(run, 7, {.in_transit = 1 << 20}, receiver);
  from.task_finished(run, 5, {{.value = 1, .bytes = 8000, .to = {RankId{1}}}});
  EXPECT_TRUE(receiver.ends());
  EXPECT_TRUE(sender.ends());
  to.end(run);
  from.end(run);
  Starved late;
  to.begin({0, 1}, 7, {.in_transit = 1 << 20}, late);
  EXPECT_TRUE(late.ended.load());
  to.end({0, 1});
}  // and no rank waits for the other one

}  // namespace
}  // namespace fairlead::net
