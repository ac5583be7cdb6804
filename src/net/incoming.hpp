// Values that come here, from when somebody tells of them until they are there. A place is found first, and then the
// value is asked for: what arrives is never in nobody's way.
//
// Why nobody waits for ever: see rule 10 of docs/memory.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "net/commands.hpp"
#include "net/messages.hpp"
#include "net/protocol.hpp"

namespace fairlead::net {

class Incoming {
 public:
  explicit Incoming(const Protocol& protocol)
      : most_visitors_(protocol.most_visitors), mistake_(protocol.mistake) {}

  /// What is there, and who gets it from us.
  struct There {
    ValueName name;
    std::uint64_t value = 0;  ///< of the front end
    std::uint32_t like = 0;
    Bytes bytes = 0, takes = 0;
    Layout layout;
    std::vector<RankId> below;
    RankId from = no_rank;
    Bytes went_along = 0;  ///< so much room for such bytes is free again
  };

  /// Outputs of a task that have values.
  void told(RankId from, Activate activate, Commands& out);
  /// What is asked for, once all places are there. If the value had travelled along, it is there now.
  void placed(IncomingId id, std::uint64_t value, const Spot& spot, std::vector<There>& there,
              Traffic& traffic, Commands& out);
  void landed(PayloadId payload, std::vector<There>& there, Traffic& traffic, Commands& out);
  void offered(RankId from, const Offer& offer, Traffic& traffic, Commands& out);
  /// `good`: all of it was read while it was there.
  void copied(PayloadId payload, bool good, std::vector<There>& there, Traffic& traffic, Commands& out);
  bool expects(PayloadId payload) const { return expected_.contains(payload); }
  /// Nobody wants any more of that run's.
  void forget(const GraphRun& run, Commands& out);
  bool none() const noexcept { return arrivals_.empty(); }
  void let_in(const Room& room) noexcept { room_ = room; }

 private:
  enum class State : std::uint8_t {
    told,     // there are too many others
    placing,  // the front end looks for places
    asked,    // payloads are under way
  };
  struct Output {
    std::uint64_t value = 0;
    Spot spot;
    bool placed = false, there = false;
  };
  /// The end of a task.
  struct Arrival {
    RankId from = no_rank;
    Activate activate;
    State state = State::told;
    Bytes bytes = 0;
    std::size_t unplaced = 0, missing = 0;
    std::vector<Output> outputs;
  };
  static IncomingId id_of(std::uint64_t arrival, std::size_t output) noexcept {
    return IncomingId{arrival * most_outputs + output};
  }
  static std::uint64_t arrival_of(IncomingId id) noexcept {
    return static_cast<std::uint64_t>(id) / most_outputs;
  }
  static std::size_t output_of(IncomingId id) noexcept {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(id) % most_outputs);
  }
  void look_for_places(Commands& out);
  void ask(std::uint64_t number, Traffic& traffic, Commands& out);
  void expect(Request& request, std::uint64_t number, std::size_t output, Commands& out);
  void ask_for(IncomingId id, Traffic& traffic, Commands& out);
  void copy(IncomingId id, const Offer& offer, Commands& out);
  void is_there(std::uint64_t number, std::size_t output, Bytes went_along, std::vector<There>& there,
                Traffic& traffic);

  bool is_full_for(const Arrival& arrival) const noexcept;
  void gone(const Activate::Output& visitor) noexcept;

  Room room_;
  const std::size_t most_visitors_;
  const DeliberateMistake mistake_;
  std::uint64_t next_arrival_ = 0, next_tag_ = 0;
  std::uint64_t next_payload_ = 1;  // odd: those of what is sent are even
  std::unordered_map<std::uint64_t, Arrival> arrivals_;
  std::deque<std::uint64_t> waiting_;  // told, in that order
  std::unordered_map<PayloadId, IncomingId> expected_;
  std::unordered_map<ValueName, Offer, HashOfName> offers_;          // of what has no place yet
  std::unordered_map<ValueName, IncomingId, HashOfName> unoffered_;  // has a place, and will be
  std::unordered_map<PayloadId, IncomingId> copying_;
  // Those that are not only told.
  std::size_t visitors_ = 0;
  Bytes visitors_take_ = 0;
};

}  // namespace fairlead::net
