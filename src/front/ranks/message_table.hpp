// The messages that the program of this rank sends and receives explicitly. Both ranks identify a message by sender,
// tag and number. Requests are therefore needed only for messages that are held back (SendWindow). A rank that ends
// reports its message counts, so that no rank waits for a message that will not arrive.
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

#include "front/ranks/bidirectional_footprint.hpp"
#include "front/ranks/comparison.hpp"
#include "front/ranks/send_window.hpp"
#include "front/ranks/value_traffic.hpp"

namespace fairlead::front {

class MessageTable {
 public:
  static constexpr std::uint32_t tags = 1u << 24, most_ranks = 1u << 12;

  MessageTable(engine::RuntimeCore& core, net::Communicator& communicator);

  // ---- for the program's thread

  /// Starts a message. `state` is set when the message is complete; null: no caller needs it. Throws UsageError for an
  /// invalid message, FootprintError if it does not fit into memory together with a message in the other direction,
  /// TaskError if a rank has failed.
  void begin(engine::RegisteredDatum& datum, bool sends, net::RankId peer, std::uint32_t tag,
             std::shared_ptr<MessageState> state);
  /// Runs tasks until the message is complete. Throws TaskError if it will never be.
  void wait(const MessageState& message);
  /// Whether the datum is still to be sent or received: it must not be removed.
  bool any_of(const engine::RegisteredDatum& datum) const {
    return !has_failed() && traffic_.any_of(datum.id);
  }
  /// Waits until all messages are complete, or never will be.
  void leave() noexcept;

  // ---- for the network

  static constexpr std::uint8_t first_note = ProgramComparison::kinds_of_notes;
  void on_note(net::RankId from, std::span<const std::byte> note);

 private:
  enum class Note : std::uint8_t {
    end = first_note,  // the rank sends no more
    holds_back,        // the rank starts or stops holding messages back
    asks,              // the rank has reached messages of this rank
  };
  using Counts = std::map<std::pair<bool, std::uint32_t>, std::uint64_t>;  // by direction and tag
  /// Limits for messages that a rank has not requested.
  struct Limits {
    Bytes along = 0, each_along = 0;  ///< values that travel with their announcement: together, and each
    std::size_t others = 0;
  };
  /// Messages with one rank.
  struct Peer {
    explicit Peer(const Limits& limits) : along(limits.along), others(limits.others) {}
    Counts begun;
    bool has_left = false;
    Counts its_own;  // counts of that rank, reported when it left
    // Messages to that rank.
    SendWindow along, others;
    std::map<std::uint32_t, std::uint64_t> asked;  // by tag: requested numbers that this rank has not reached
    std::uint64_t throttle_notes_sent = 0;  // notifications about holding back; odd: this rank holds back
    bool holds_back() const noexcept { return along.holds_back() || others.holds_back(); }
    // Messages from that rank.
    std::map<std::uint32_t, std::uint64_t> unreported;  // by tag: reached and not reported
    Bytes unasked_along = 0;
    std::size_t unasked_others = 0;
    std::uint64_t throttle_note = 0;  // last notification about holding back
  };
  static Limits limits_of(Bytes capacity, const net::Protocol& protocol, std::uint32_t ranks) noexcept;
  void ensure_begun();
  void check_room(const engine::RegisteredDatum& datum, bool sends);
  void limit_in_flight();
  Peer& with(net::RankId peer);
  bool is_eager(Bytes bytes) const noexcept { return bytes <= limits_.each_along; }
  bool goes(Peer& to, net::RankId peer, Bytes bytes, const SendWindow::Message& message);
  void send_now(net::RankId to, const SendWindow::Message& message);
  void tell_of_holding(Peer& to, net::RankId peer);
  void expected(std::uint64_t name, Bytes bytes, bool announced);
  void ask(Peer& from, net::RankId peer);
  void on_credit(net::RankId by, NoteReader& note);
  void over(const std::shared_ptr<void>& state);
  void failed(const std::string& why);
  void check_ended(net::RankId rank, const Peer& peer);
  bool has_failed() const noexcept { return has_failed_.load(); }
  std::string failure() const;

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const Limits limits_;
  ValueTraffic traffic_;
  bool has_begun_ = false;            // for the program's thread
  BidirectionalFootprint both_ways_;  // for the program's thread
  std::size_t most_under_way_;  // for the program's thread: limit above which it drives communication first
  std::atomic<bool> has_failed_{false};
  std::atomic<std::size_t> open_{0}, under_way_{0};  // under_way_ excludes messages that are held back
  mutable std::mutex mutex_;                         // guards the fields below
  std::string failure_;
  std::map<net::RankId, Peer> peers_;
};

}  // namespace fairlead::front
