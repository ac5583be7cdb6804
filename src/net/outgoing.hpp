// Values that other ranks get from here, from when they are told of them until they have them. A value is read only
// while somebody wants it: who is slow to ask keeps nothing in memory here.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "net/commands.hpp"
#include "net/layout.hpp"
#include "net/messages.hpp"
#include "net/protocol.hpp"

namespace fairlead::net {

class Outgoing {
 public:
  /// Of a value: what is sent of it, and what it takes of memory here.
  struct Sizes {
    Bytes bytes = 0, takes = 0;
    Layout layout{};
  };
  explicit Outgoing(const Protocol& protocol) : protocol_(protocol), mistake_(protocol.mistake) {}

  /// So many ranks get the value from us. `read_now`: some of it is to travel with messages.
  OutgoingId add(const ValueName& name, std::uint64_t value, const Sizes& sizes, std::size_t owed,
                 bool read_now, Commands& out);
  bool knows(const ValueName& name) const { return by_name_.contains(name); }
  bool can_offer(Bytes bytes, RankId to) const noexcept;
  /// It stays readable for those ranks until each has taken it or asks for it. Once, after add().
  void offer(OutgoingId id, std::vector<RankId> to, Commands& out);
  void taken(const ValueName& name, RankId by, Traffic& traffic, Commands& out);
  /// The rank wants it, with this tag.
  void wanted(const ValueName& name, RankId by, std::uint64_t tag, Traffic& traffic, Commands& out);
  /// The value may be read there until the command says that it need not any more.
  /// False if nobody wants it any more.
  bool readable(OutgoingId id, const void* address, Traffic& traffic, Commands& out);
  /// One of those to whom we owed it has it: it travelled with a message.
  void went_along(OutgoingId id) { --values_.at(id).owed; }
  /// It was read for messages; those are to be sent; they are.
  void read_for_messages(OutgoingId id, Commands& out);
  void told(OutgoingId id, Commands& out);
  void left(PayloadId payload, Traffic& traffic, Commands& out);
  bool sends(PayloadId payload) const { return sending_.contains(payload); }
  /// Nobody gets any more of that run's.
  void forget(const GraphRun& run, Commands& out);
  bool none() const noexcept { return values_.empty(); }
  /// What others have not got, they have not asked for.
  bool idle() const noexcept {
    return sending_.empty() && to_read_.empty() && read_ == 0 && unsaid_offers_ == 0;
  }
  /// Bytes of values that are read at once at most; a single one that was asked for may be more.
  void let_read(const Room& room) noexcept { room_ = room; }

 private:
  enum class State : std::uint8_t {
    told,      // nobody has asked for it, or all who have asked have it
    wanted,    // too much is read already
    reading,   // it may be away
    readable,  // it stays where it is
  };
  struct Wish {
    RankId by = no_rank;
    std::uint64_t tag = 0;
  };
  struct Value {
    ValueName name;
    std::uint64_t value = 0;  ///< the front end's number
    Sizes sizes{};
    std::size_t owed = 0;     ///< ranks that have not got it
    std::size_t sending = 0;  ///< payloads of it under way
    State state = State::told;
    bool for_messages = false;  ///< it is read for these, too
    bool untold = false;        ///< nobody has been told of it yet
    const void* address = nullptr;
    std::vector<Wish> wishes{};
    std::vector<RankId> offered_to{};  ///< who may read it, and has not said that he has
    bool is_offered = false;           ///< it is read for these, whoever else gets it meanwhile
    std::uint64_t* mark = nullptr;
  };
  void send(Traffic& traffic, Commands& out);
  void settle(OutgoingId id, Commands& out);
  void want(OutgoingId id, Commands& out);
  void read_more(Commands& out);
  void stop_reading(Value& value);
  std::uint64_t* new_mark();
  static void set_mark(std::uint64_t& mark, std::uint64_t to) noexcept {
    // Whoever reads it from another process sees this before what becomes of the value.
    std::atomic_ref(mark).store(to, std::memory_order_seq_cst);
  }

  const Protocol protocol_;
  const DeliberateMistake mistake_;
  std::uint64_t next_value_ = 0;
  std::uint64_t next_payload_ = 0;  // even: those of what is expected are odd
  std::unordered_map<OutgoingId, Value> values_;
  std::unordered_map<ValueName, OutgoingId, HashOfName> by_name_;
  std::unordered_map<PayloadId, OutgoingId> sending_;
  std::deque<OutgoingId> to_read_;  // wanted
  Room room_{.visitors = ~Bytes{0}};
  Bytes read_ = 0;
  std::deque<OutgoingId> to_send_;  // readable, with wishes
  Bytes offered_ = 0;
  std::size_t unsaid_offers_ = 0;    // of values that are not readable yet
  std::deque<std::uint64_t> marks_;  // where they are is told to others
  std::vector<std::uint64_t*> unused_marks_;
  std::uint64_t next_mark_ = protocol_.first_mark;
};

}  // namespace fairlead::net
