// Transfers of values between ranks that follow from the programs of both ranks. Both derive the same name for a value
// without communication. Each rank takes a turn in program order at its own datum: the value is sent when it is
// complete, and received when no task uses the destination any more.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "front/ranks/network_accesses.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class ValueTraffic final : public net::Client {
 public:
  /// Identifies the value's purpose to Hooks::over; may be null.
  using Owner = std::shared_ptr<void>;
  /// Called by any thread, one call at a time.
  struct Hooks {
    std::function<void(const std::string&)> failed;  ///< no more values arrive, for the stated reason
    std::function<void(const Owner&)> over{};        ///< a value has arrived, or all receivers have it
    /// The destination of the value `name` is ready. `announced`: the sender has already announced the value.
    std::function<void(std::uint64_t name, Bytes bytes, bool announced)> expected{};
  };
  ValueTraffic(engine::RuntimeCore& core, net::Communicator& communicator, Cause cause, Hooks hooks);

  // ---- for the program's thread

  /// Bits of a name; the lowest byte of the full name is used here (see net::Gate).
  static constexpr std::uint64_t name_bits = 56;
  /// Values are transferred between begin() and end(). `fingerprint`: equal on all ranks.
  void begin(std::uint64_t fingerprint, const net::TransitLimits& room);
  /// Sends the value that the datum has after all submitted tasks to rank `to`. Returns the number of the sending.
  /// `joined`: the number of an unfinished sending of the same value under the same name to other ranks; 0: none.
  std::uint64_t send(std::uint64_t joined, std::uint64_t name, engine::RegisteredDatum& from, Bytes bytes,
                     net::RankId to);
  /// Keeps the value that the datum has after all submitted tasks, until send() was called once with the returned turn.
  /// Returns the previous turn if nothing has written the datum since.
  std::uint64_t take_turn(engine::RegisteredDatum& from, Bytes bytes);
  /// Receives a value into the datum, after all submitted tasks.
  void receive(std::uint64_t name, engine::RegisteredDatum& into, Bytes bytes, Owner owner = {});
  /// Whether nothing is in flight, and nothing will be.
  bool none() const;
  /// Whether a transfer of this datum is unfinished: it must not be removed.
  bool any_of(DatumId datum) const;
  void end();

  // ---- for any thread

  /// Sends the value of the turn to rank `to`. `apart`: distinguishes sendings of different data under the same name.
  void send(std::uint64_t turn, std::uint64_t name, net::RankId to, std::uint32_t apart, Owner owner);
  /// Ends all transfers after a failure: turns are released without a value.
  void abandon();

  void allocate_place(const net::EndpointCommands::Place& place) override;
  void read(const net::EndpointCommands::Read& read) override;
  void arrived(const net::EndpointCommands::Arrived& landed) override;
  void sent(const net::EndpointCommands::Sent& left) override;
  void failed(const std::string& why) override { hooks_.failed(why); }
  void out_of_memory() noexcept override { core_.out_of_memory(); }
  void expected(std::uint64_t key, bool announced) override;
  Cause cause() const noexcept override { return cause_; }

 private:
  /// A turn at a datum whose value is sent.
  struct Turn {
    NetworkAccesses::Datum from;
    Bytes bytes = 0;
    bool granted = false;
    std::size_t users = 1;  // sendings, started or expected
    const graph::Epoch* epoch = nullptr;
    std::vector<std::uint64_t> waiting{};  // sendings that wait until the turn is granted
  };
  struct Sending {
    std::uint64_t turn = 0, name = 0;
    std::uint32_t apart = 0, announcements = 0, left = 0;
    std::vector<net::RankId> to{};  // ranks that are not notified yet
    Owner owner{};
  };
  struct IncomingValue {  // a value that arrives, or has arrived and is forwarded from here
    NetworkAccesses::Datum into;
    Bytes bytes = 0;
    std::uint64_t key = 0;
    net::IncomingId id{};
    std::string what;
    Owner owner;
  };
  // Received values have even numbers; turns at sent values and sendings have odd ones. Holds follow the same rule,
  // with the network's number for sent values. The number of a received value plus 1 is its turn for forwarding.
  static std::uint64_t forwarding_turn(std::uint64_t coming) noexcept { return coming + 1; }
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
  void hold_granted(std::uint64_t name, const net::ValueMemory& spot);

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const Cause cause_;
  const Hooks hooks_;
  const bool forwards_;  // received values may have to be forwarded
  NetworkAccesses turns_, holds_;
  net::GraphRun run_;               // the next or current run
  std::uint64_t next_ = 2;          // for the program's thread
  mutable std::mutex mutex_;        // guards the fields below
  std::uint64_t next_sending_ = 1;  // the number of the next sending
  std::unordered_map<std::uint64_t, Sending> sendings_;
  std::unordered_map<std::uint64_t, Turn> at_sources_;     // unfinished turns
  std::unordered_map<DatumId, std::uint64_t> last_turns_;  // turns that take_turn() may return again
  std::unordered_map<std::uint64_t, IncomingValue> coming_;
  std::unordered_set<std::uint64_t> passing_;                // turns that are granted, or not needed any more
  std::unordered_map<std::uint64_t, std::uint64_t> by_key_;  // numbers of received values
};

}  // namespace fairlead::front
