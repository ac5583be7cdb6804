// Ranks as threads of one process. A message goes into the inbox of its receiver. The receiver's thread copies a
// payload directly from its source, so that the sender has nothing to do.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "net/network.hpp"

namespace fairlead::net {

class LocalRank;

/// The ranks of the process.
class Exchange {
 public:
  explicit Exchange(std::uint32_t ranks) : there_(ranks) {}
  std::uint32_t ranks() const noexcept { return static_cast<std::uint32_t>(there_.size()); }

 private:
  friend class LocalRank;
  struct Payload {
    std::mutex mutex;  // guards `dropped`, and the bytes while they are copied
    bool dropped = false;
  };
  struct MessagePacket {
    RankId from = no_rank;
    std::vector<std::byte> bytes;
  };
  struct PayloadPacket {
    RankId from = no_rank;
    EndpointCommands::Payload payload;
    std::shared_ptr<Payload> state;
  };
  struct SentPacket {
    PayloadId id{};
  };
  using Packet = std::variant<MessagePacket, PayloadPacket, SentPacket>;
  void put(RankId to, Packet packet);
  void break_off(RankId rank) noexcept;

  std::mutex mutex_;  // guards the fields below
  std::vector<LocalRank*> there_;
  std::map<RankId, std::vector<Packet>> early_;  // for ranks that have not begun
  std::vector<bool> gone_ = std::vector<bool>(there_.size());
  RankId broken_ = no_rank;  // the first rank that is out of memory
};

/// One rank, with a thread that delivers its events.
class LocalRank final : public Network {
 public:
  LocalRank(std::shared_ptr<Exchange> exchange, RankId own) : exchange_(std::move(exchange)), own_(own) {}
  ~LocalRank() override { end(); }

  RankId own() const noexcept override { return own_; }
  std::uint32_t ranks() const noexcept override { return exchange_->ranks(); }
  bool in_process() const noexcept override { return true; }
  std::string description() const override { return "threads of one process"; }
  std::string why_not_into_devices() const override { return {}; }
  Sharing sharing() const noexcept override {
    const auto own = static_cast<std::uint32_t>(own_);
    return {ranks(), ranks(), own, own};
  }
  void begin(Listener& listener) override;
  void poke() override;
  void end() override;
  void expect(const EndpointCommands::PostedReceive& expected) override;
  void send(EndpointCommands::Message message) override;
  void send(const EndpointCommands::Payload& payload) override;
  void drop(PayloadId payload) override;
  void abort_out_of_memory() noexcept override;

 private:
  friend class Exchange;
  /// Waits for an event and delivers it. False: this rank ends.
  bool hear(Listener& listener);
  void handle(Listener& listener, Exchange::Packet packet);

  const std::shared_ptr<Exchange> exchange_;
  const RankId own_;
  std::thread thread_;
  std::mutex mutex_;  // guards the fields below
  std::condition_variable something_;
  std::deque<Exchange::Packet> inbox_;
  bool poked_ = false, ending_ = false;
  // a rank out of memory, to be reported after the messages that it sent before
  RankId lost_ = no_rank;
  std::map<std::pair<RankId, std::uint64_t>, EndpointCommands::PostedReceive> expected_;  // by sender and tag
  std::unordered_map<PayloadId, std::shared_ptr<Exchange::Payload>> sending_;
  std::mutex receive_mutex_;  // held while bytes are written here
};

}  // namespace fairlead::net
