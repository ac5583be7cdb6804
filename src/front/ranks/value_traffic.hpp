// Values that go from rank to rank because the programs of both say so: each by itself, and by a name on which they agree
// without a word. Each of both takes a turn in the program's order at its own datum: the value goes when it is there, and
// comes when nobody uses the place any more.
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "front/ranks/rank_accesses.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class ValueTraffic final : public net::Client {
 public:
  /// `failed(why)`: nothing more will come. `over(number)`: a value is there, or with all to whom it went; unset: nobody
  /// asks. Any thread.
  ValueTraffic(engine::RuntimeCore& core, net::Communicator& communicator, Cause cause,
               std::function<void(const std::string&)> failed, std::function<void(std::uint64_t)> over = {});

  // ---- the program's thread's

  /// A name: the lowest byte is ours (see net::Gate).
  static constexpr std::uint64_t name_bits = 56;
  /// Between this and end() values come and go. `fingerprint`: the same on all ranks.
  void begin(std::uint64_t fingerprint, const net::Room& room);
  /// The value that the datum has after all that was submitted goes there, under that name; the number by which over()
  /// calls it. `joined`: the number of one that goes to others under the same name, and may not be over; 0: none does.
  /// `apart`: differs between those that go under one name and are of different data.
  std::uint64_t send(std::uint64_t joined, std::uint64_t name, engine::RegisteredDatum& from, Bytes bytes,
                     net::RankId to, std::uint32_t apart = 0);
  /// A value of that name comes into the datum, after all that was submitted.
  std::uint64_t receive(std::uint64_t name, engine::RegisteredDatum& into, Bytes bytes);
  /// Nothing is under way, nor will be.
  bool none() const;
  /// Something of that datum is: it must not go.
  bool any_of(DatumId datum) const;
  void end();

  // ---- any thread's

  /// Nothing more comes or goes: who waits for a turn does so no longer, and gets no value.
  void give_up();

  void find_place(const net::Commands::Place& place) override;
  void read(const net::Commands::Read& read) override;
  void landed(const net::Commands::Landed& landed) override;
  void left(const net::Commands::Left& left) override;
  void failed(const std::string& why) override { failed_(why); }
  Cause cause() const noexcept override { return cause_; }

 private:
  struct Sending {
    RankAccesses::Datum from;
    Bytes bytes = 0;
    std::uint64_t name = 0;
    std::uint32_t apart = 0, told = 0, left = 0;
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
  std::vector<std::uint64_t> unfinished() const;
  void over_of(DatumId datum);
  void tell(std::uint64_t number, Sending& sending);
  void turn_granted(std::uint64_t name);
  void hold_granted(std::uint64_t name, const net::Spot& spot);

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const Cause cause_;
  const std::function<void(const std::string&)> failed_;
  const std::function<void(std::uint64_t)> over_;
  RankAccesses turns_, holds_;
  net::GraphRun run_;         // the next, or the present one
  std::uint64_t next_ = 2;    // the program's thread's
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<std::uint64_t, Sending> sendings_;
  std::unordered_map<std::uint64_t, Coming> coming_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_key_;  // numbers of what comes
  std::unordered_map<DatumId, std::uint32_t> of_data_;       // how much is under way
};

}  // namespace fairlead::front
