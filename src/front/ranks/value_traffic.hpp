// Values that go from rank to rank while all walk through the same tasks. Who needs a value is found by the rank that has
// it and by the one that gets it, each by itself; they call it by datum and version. Each of both takes a turn in the
// program's order at its own datum: the value goes when it is there, and comes when nobody uses the place any more.
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "front/ranks/rank_accesses.hpp"
#include "front/ranks/shared_datum.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class ValueTraffic final : public net::Client {
 public:
  /// `failed(why)`: nothing more will come. Any thread.
  ValueTraffic(engine::RuntimeCore& core, net::Communicator& communicator,
               std::function<void(const std::string&)> failed);

  // ---- the program's thread's

  /// Between this and end() values come and go. `fingerprint`: the same on all ranks.
  void begin(const net::GraphRun& run, std::uint64_t fingerprint, Bytes visitors);
  /// The newest value, which is here, goes there as well.
  void send(SharedDatum& datum, net::RankId to);
  /// The newest value comes from its holder into that datum, after all that was submitted.
  void receive(const SharedDatum& datum, engine::RegisteredDatum& into);
  /// Nothing is under way, nor will be.
  bool none() const;
  void end();

  // ---- any thread's

  /// Nothing more comes or goes: who waits for a turn does so no longer, and gets no value.
  void give_up();

  void find_place(const net::Commands::Place& place) override;
  void read(const net::Commands::Read& read) override;
  void landed(const net::Commands::Landed& landed) override;
  void left(const net::Commands::Left& left) override;
  void failed(const std::string& why) override { failed_(why); }

 private:
  struct Sending {
    RankAccesses::Datum from;
    Bytes bytes = 0;
    std::uint64_t task = 0;  // what the network calls it
    std::uint32_t told = 0, left = 0;
    bool granted = false;
    std::vector<net::RankId> to;  // who has still to be told
  };
  struct Coming {
    RankAccesses::Datum into;
    Bytes bytes = 0;
    std::uint64_t key = 0;
    net::IncomingId id{};
    std::string what;
  };
  // Numbers of what comes are even and of what goes odd, in turns; and in holds, where the network's number names
  // what goes.
  static std::uint64_t name_of(net::OutgoingId id) noexcept { return static_cast<std::uint64_t>(id) * 2 + 1; }
  /// See net::Gate: all but the lowest byte are known to who gets it.
  static std::uint64_t task_of(const SharedDatum& datum) noexcept {
    return std::uint64_t{datum.number} << 32 | (std::uint64_t{datum.version} & 0xff'ffff) << 8;
  }
  void tell(std::uint64_t number, Sending& sending);
  void turn_granted(std::uint64_t name);
  void hold_granted(std::uint64_t name, void* address);

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const std::function<void(const std::string&)> failed_;
  RankAccesses turns_, holds_;
  net::GraphRun run_;
  std::uint64_t next_ = 2;    // the program's thread's
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<std::uint64_t, Sending> sendings_;
  std::unordered_map<std::uint64_t, Coming> coming_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_key_;  // numbers of what comes
};

}  // namespace fairlead::front
