// The messages that the program of this rank sends and receives by itself. Both ends of one call it by sender, tag and
// number, so nothing is asked but what is held back (SendWindow); who leaves says how many there were, so that nobody waits
// for one that will not come.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "front/ranks/both_ways.hpp"
#include "front/ranks/comparison.hpp"
#include "front/ranks/send_window.hpp"
#include "front/ranks/value_traffic.hpp"

namespace fairlead::front {

class MessageBook {
 public:
  static constexpr std::uint32_t tags = 1u << 24, most_ranks = 1u << 12;

  MessageBook(engine::RuntimeCore& core, net::Communicator& communicator);

  // ---- the program's thread's

  /// `state`: becomes over when the message is; null: nobody looks. Throws UsageError if it cannot be, FootprintError if it does
  /// not fit beside one that goes the other way, TaskError if a rank has failed.
  void begin(engine::RegisteredDatum& datum, bool sends, net::RankId peer, std::uint32_t tag,
             std::shared_ptr<MessageState> state);
  /// Works until it is over. Throws TaskError if it will never be.
  void wait(const MessageState& message);
  /// The datum is still to be sent, or to be received: it must not go.
  bool any_of(const engine::RegisteredDatum& datum) const {
    return !has_failed() && traffic_.any_of(datum.id);
  }
  /// Until all are over, or never will be.
  void leave() noexcept;

  // ---- the network's

  static constexpr std::uint8_t first_note = Comparison::kinds_of_notes;
  void heard(net::RankId from, std::span<const std::byte> note);

 private:
  enum class Note : std::uint8_t {
    end = first_note,  // a rank sends no more
    holds_back,        // it holds something back, or does so no longer
    asks,              // it has come to messages of ours
  };
  using Counts = std::map<std::pair<bool, std::uint32_t>, std::uint64_t>;  // by direction and tag
  /// How much may be ahead of what a rank has asked for.
  struct Limits {
    Bytes along = 0, each_along = 0;  ///< of values that may travel with their messages, and of one of them
    std::size_t others = 0;
  };
  /// Messages with one rank.
  struct Peer {
    explicit Peer(const Limits& limits) : along(limits.along), others(limits.others) {}
    Counts begun;
    bool has_left = false;
    Counts its_own;  // as that rank has counted them, when it left
    // What goes there.
    SendWindow along, others;
    std::map<std::uint32_t, std::uint64_t> asked;  // by tag, beyond what has begun
    std::uint64_t told_of_holding = 0;             // how often it was told that we hold back (odd), or do not
    bool holds_back() const noexcept { return along.holds_back() || others.holds_back(); }
    // What comes from there.
    std::map<std::uint32_t, std::uint64_t> unasked;  // by tag, what we have come to and have not said
    Bytes unasked_along = 0;
    std::size_t unasked_others = 0;
    std::uint64_t holding = 0;  // as it has told last
  };
  static Limits limits_of(Bytes capacity, const net::Protocol& protocol, std::uint32_t ranks) noexcept;
  void ensure_begun();
  void check_room(const engine::RegisteredDatum& datum, bool sends);
  void wait_for_room();
  Peer& with(net::RankId peer);
  bool may_go_along(Bytes bytes) const noexcept { return bytes <= limits_.each_along; }
  bool goes(Peer& to, net::RankId peer, Bytes bytes, const SendWindow::Message& message);
  void let_go(net::RankId to, const SendWindow::Message& message);
  void tell_of_holding(Peer& to, net::RankId peer);
  void expected(std::uint64_t name, Bytes bytes, bool told);
  void ask(Peer& from, net::RankId peer);
  void is_asked(net::RankId by, NoteReader& note);
  void over(const std::shared_ptr<void>& state);
  void failed(const std::string& why);
  void check_ended(net::RankId rank, const Peer& peer);
  bool has_failed() const noexcept { return has_failed_.load(); }
  std::string failure() const;

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const Limits limits_;
  ValueTraffic traffic_;
  bool has_begun_ = false;      // the program's thread's
  BothWays both_ways_;          // the program's thread's
  std::size_t most_under_way_;  // the program's thread's: beyond that it drives first
  std::atomic<bool> has_failed_{false};
  std::atomic<std::size_t> open_{0}, under_way_{0};  // the latter: that are not held back
  mutable std::mutex mutex_;                         // guards what follows
  std::string failure_;
  std::map<net::RankId, Peer> peers_;
};

}  // namespace fairlead::front
