// Values that go from rank to rank because the programs of both say so: each by itself, and by a name on which they agree
// without a word. Each of both takes a turn in the program's order at its own datum: the value goes when it is there, and
// comes when nobody uses the place any more.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "front/ranks/rank_accesses.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class ValueTraffic final : public net::Client {
 public:
  /// Whose value it is, for over(). Null: nobody's in particular.
  using Owner = std::shared_ptr<void>;
  /// Any thread, one call at a time.
  struct Hooks {
    std::function<void(const std::string&)> failed;  ///< nothing more will come, as the text says
    std::function<void(const Owner&)> over{};        ///< a value is there, or with all to whom it went
    /// The place of a value of that name is in nobody's use. `told`: the other has told of it before.
    std::function<void(std::uint64_t name, Bytes bytes, bool told)> expected{};
  };
  ValueTraffic(engine::RuntimeCore& core, net::Communicator& communicator, Cause cause, Hooks hooks);

  // ---- the program's thread's

  /// A name: the lowest byte is ours (see net::Gate).
  static constexpr std::uint64_t name_bits = 56;
  /// Between this and end() values come and go. `fingerprint`: the same on all ranks.
  void begin(std::uint64_t fingerprint, const net::Room& room);
  /// The value that the datum has after all that was submitted goes there, under that name; a number of it. `joined`: the
  /// number of one that goes to others under the same name, and may not be over; 0: none does.
  std::uint64_t send(std::uint64_t joined, std::uint64_t name, engine::RegisteredDatum& from, Bytes bytes,
                     net::RankId to);
  /// The value that the datum has after all that was submitted stays until send() has been called with this, once. Where
  /// nothing has written since the last such, it is the same turn.
  std::uint64_t take_turn(engine::RegisteredDatum& from, Bytes bytes);
  /// A value of that name comes into the datum, after all that was submitted.
  void receive(std::uint64_t name, engine::RegisteredDatum& into, Bytes bytes, Owner owner = {});
  /// Nothing is under way, nor will be.
  bool none() const;
  /// Something of that datum is: it must not go.
  bool any_of(DatumId datum) const;
  void end();

  // ---- any thread's

  /// The value of that turn goes there. `apart`: differs between those that go under one name and are of different data.
  void send(std::uint64_t turn, std::uint64_t name, net::RankId to, std::uint32_t apart, Owner owner);
  /// Nothing more comes or goes: who waits for a turn does so no longer, and gets no value.
  void give_up();

  void find_place(const net::Commands::Place& place) override;
  void read(const net::Commands::Read& read) override;
  void landed(const net::Commands::Landed& landed) override;
  void left(const net::Commands::Left& left) override;
  void failed(const std::string& why) override { hooks_.failed(why); }
  void out_of_memory() noexcept override { core_.out_of_memory(); }
  void expected(std::uint64_t key, bool told) override;
  Cause cause() const noexcept override { return cause_; }

 private:
  /// At a datum whose value goes elsewhere.
  struct Turn {
    RankAccesses::Datum from;
    Bytes bytes = 0;
    bool granted = false;
    std::size_t users = 1;  // sendings, begun or to be
    const graph::Epoch* epoch = nullptr;
    std::vector<std::uint64_t> waiting{};  // sendings, until it is granted
  };
  struct Sending {
    std::uint64_t turn = 0, name = 0;
    std::uint32_t apart = 0, told = 0, left = 0;
    std::vector<net::RankId> to{};  // who has still to be told
    Owner owner{};
  };
  struct Coming {  // or is there, and others get it from here
    RankAccesses::Datum into;
    Bytes bytes = 0;
    std::uint64_t key = 0;
    net::IncomingId id{};
    std::string what;
    Owner owner;
  };
  // Numbers of what comes are even, and those of turns at what goes and of sendings odd; and so they are in holds, where the
  // network's number names what goes. The number after that of what comes is of the turn in which it is passed on.
  static std::uint64_t passing(std::uint64_t coming) noexcept { return coming + 1; }
  static std::uint64_t name_of(net::OutgoingId id) noexcept { return static_cast<std::uint64_t>(id) * 2 + 1; }
  std::vector<std::uint64_t> unfinished() const;
  void let_go_of_turns(std::uint64_t number);
  std::uint64_t new_sending() noexcept;
  void passed_on(std::uint64_t number);
  void end_passing(std::uint64_t number);
  std::uint64_t begin_turn(engine::RegisteredDatum& from, Bytes bytes);
  void begin_sending(std::uint64_t number, std::uint64_t turn, Sending sending);
  void tell(std::uint64_t number, Sending& sending);
  void turn_granted(std::uint64_t name);
  void hold_granted(std::uint64_t name, const net::Spot& spot);

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const Cause cause_;
  const Hooks hooks_;
  const bool passes_on_;  // what comes may have to go on to others
  RankAccesses turns_, holds_;
  net::GraphRun run_;               // the next, or the present one
  std::uint64_t next_ = 2;          // the program's thread's
  mutable std::mutex mutex_;        // guards what follows
  std::uint64_t next_sending_ = 1;  // a number
  std::unordered_map<std::uint64_t, Sending> sendings_;
  std::unordered_map<std::uint64_t, Turn> at_sources_;     // turns that are not over
  std::unordered_map<DatumId, std::uint64_t> last_turns_;  // of these, what take_turn() may give once more
  std::unordered_map<std::uint64_t, Coming> coming_;
  std::unordered_set<std::uint64_t> passing_;  // turns that were granted, or are not needed any more
  std::unordered_map<std::uint64_t, std::uint64_t> by_key_;  // numbers of what comes
};

}  // namespace fairlead::front
