// Outgoing values, from their announcement until all receivers have them. A value is kept readable only on request,
// so that slow receivers occupy no memory here.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "net/endpoint_commands.hpp"
#include "net/messages.hpp"
#include "net/protocol.hpp"
#include "net/value_layout.hpp"

namespace fairlead::net {

class Outgoing {
 public:
  /// Sizes of a value: bytes to send, and bytes of memory here.
  struct Sizes {
    Bytes bytes = 0, takes = 0;
    ValueLayout layout{};
  };
  explicit Outgoing(const Protocol& protocol) : protocol_(protocol), mistake_(protocol.mistake) {}

  /// Adds a value that `owed` ranks get from this rank. `read_now`: some receive it inside of activates.
  OutgoingId add(const ValueName& name, std::uint64_t value, const Sizes& sizes, std::size_t owed,
                 bool read_now, EndpointCommands& out);
  bool knows(const ValueName& name) const { return by_name_.contains(name); }
  /// True if the value is large enough, the rank reads this one's memory, and the limit of offers permits it.
  bool can_offer(Bytes bytes, RankId to) const noexcept;
  /// Keeps the value readable for those ranks until each acknowledges or requests it. Once, after add().
  void offer(OutgoingId id, std::vector<RankId> to, EndpointCommands& out);
  /// A rank has read an offered value.
  void taken(const ValueName& name, RankId by, NetworkTraffic& traffic, EndpointCommands& out);
  /// The rank requests it, with this tag.
  void requested(const ValueName& name, RankId by, std::uint64_t tag, NetworkTraffic& traffic,
                 EndpointCommands& out);
  /// The value may be read at `address` until the matching EndpointCommands::Read with `over`. False if no rank needs it any
  /// more.
  bool readable(OutgoingId id, const void* address, NetworkTraffic& traffic, EndpointCommands& out);
  /// One receiver got it inside of an activate.
  void sent_eagerly(OutgoingId id) { --values_.at(id).owed; }
  /// read_for_messages(): it was copied for activates. announced(): these were sent.
  void read_for_messages(OutgoingId id, EndpointCommands& out);
  void announced(OutgoingId id, EndpointCommands& out);
  /// A payload is sent.
  void left(PayloadId payload, NetworkTraffic& traffic, EndpointCommands& out);
  bool sends(PayloadId payload) const { return sending_.contains(payload); }
  /// Drops all values of that run.
  void forget(const GraphRun& run, EndpointCommands& out);
  bool none() const noexcept { return values_.empty(); }
  /// True if other ranks have requested none of the remaining values.
  bool idle() const noexcept {
    return sending_.empty() && to_read_.empty() && read_ == 0 && unsaid_offers_ == 0;
  }
  /// Sets the limit of bytes that are kept readable at once; a single requested value may exceed it.
  void set_limits(const TransitLimits& room) noexcept { room_ = room; }

 private:
  enum class State : std::uint8_t {
    announced,  // not requested, or all requests are served
    requested,  // too many bytes are readable already
    reading,    // requested from the front end; may be on disk
    readable,   // it stays at `address`
  };
  struct PendingRequest {
    RankId by = no_rank;
    std::uint64_t tag = 0;
  };
  struct Value {
    ValueName name;
    std::uint64_t value = 0;  ///< the front end's number
    Sizes sizes{};
    std::size_t owed = 0;     ///< receivers that do not have it
    std::size_t sending = 0;  ///< its payloads in flight
    State state = State::announced;
    bool for_messages = false;  ///< also read for activates
    bool unannounced = false;   ///< not announced yet
    const void* address = nullptr;
    std::vector<PendingRequest> requests{};
    std::vector<RankId> offered_to{};  ///< receivers that may still read it
    bool is_offered = false;           ///< readable because of offers: its bytes count in offered_
    std::uint64_t* mark = nullptr;
  };
  void send(NetworkTraffic& traffic, EndpointCommands& out);
  void settle(OutgoingId id, EndpointCommands& out);
  void want(OutgoingId id, EndpointCommands& out);
  void read_more(EndpointCommands& out);
  void stop_reading(Value& value);
  std::uint64_t* new_mark();
  static void set_mark(std::uint64_t& mark, std::uint64_t to) noexcept {
    // Readers in other processes must see the mark change before the value does.
    std::atomic_ref(mark).store(to, std::memory_order_seq_cst);
  }

  const Protocol protocol_;
  const DeliberateProtocolMistake mistake_;
  std::uint64_t next_value_ = 0;
  std::uint64_t next_payload_ = 0;  // even: the payloads of Incoming are odd
  std::unordered_map<OutgoingId, Value> values_;
  std::unordered_map<ValueName, OutgoingId, HashOfName> by_name_;
  std::unordered_map<PayloadId, OutgoingId> sending_;
  std::deque<OutgoingId> to_read_;  // in state wanted
  TransitLimits room_{.in_transit = ~Bytes{0}};
  Bytes read_ = 0;
  std::deque<OutgoingId> to_send_;  // readable, with requests
  Bytes offered_ = 0;
  std::size_t unsaid_offers_ = 0;    // offered values that are not readable yet
  std::deque<std::uint64_t> marks_;  // stable addresses, published to other ranks
  std::vector<std::uint64_t*> unused_marks_;
  std::uint64_t next_mark_ = protocol_.first_mark;
};

}  // namespace fairlead::net
