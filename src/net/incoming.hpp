// Incoming values, from their announcement to their arrival. Memory is reserved before the request, so that an
// arriving value never waits for memory. Rule 10 of docs/memory.md shows that this cannot deadlock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "net/endpoint_commands.hpp"
#include "net/messages.hpp"
#include "net/protocol.hpp"

namespace fairlead::net {

class Incoming {
 public:
  explicit Incoming(const Protocol& protocol)
      : most_visitors_(protocol.max_in_transit), mistake_(protocol.mistake) {}

  /// An arrived value, and the ranks that this rank passes it on to.
  struct Arrived {
    ValueName name;
    std::uint64_t value = 0;  ///< the front end's number
    std::uint32_t like = 0;
    Bytes bytes = 0, takes = 0;
    ValueLayout layout;
    std::vector<RankId> below;
    RankId from = no_rank;
    Bytes went_along = 0;  ///< bytes of an eager value, whose credit is free again
  };

  /// Announced outputs of a task, all with values.
  void announced(RankId from, Activate activate, EndpointCommands& out);
  /// Sends the request once all places of the task are there. An eager value has arrived then.
  void placed(IncomingId id, std::uint64_t value, const ValueMemory& spot, std::vector<Arrived>& there,
              NetworkTraffic& traffic, EndpointCommands& out);
  /// A requested payload has arrived.
  void landed(PayloadId payload, std::vector<Arrived>& there, NetworkTraffic& traffic, EndpointCommands& out);
  /// A rank offers an announced value.
  void offered(RankId from, const Offer& offer, NetworkTraffic& traffic, EndpointCommands& out);
  /// `good`: all bytes were read while the value was valid.
  void copied(PayloadId payload, bool good, std::vector<Arrived>& there, NetworkTraffic& traffic,
              EndpointCommands& out);
  bool expects(PayloadId payload) const { return expected_.contains(payload); }
  /// Drops all values of that run.
  void forget(const GraphRun& run, EndpointCommands& out);
  bool none() const noexcept { return arrivals_.empty(); }
  /// Sets the memory limit of values in transit.
  void set_limits(const TransitLimits& room) noexcept { room_ = room; }

 private:
  enum class State : std::uint8_t {
    announced,  // announced; too many others are in progress
    placing,    // the front end reserves memory
    asked,      // payloads in flight
  };
  struct Output {
    std::uint64_t value = 0;
    ValueMemory spot;
    bool placed = false, there = false;
  };
  /// The announced outputs of a task.
  struct Arrival {
    RankId from = no_rank;
    Activate activate;
    State state = State::announced;
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
  void look_for_places(EndpointCommands& out);
  void ask(std::uint64_t number, NetworkTraffic& traffic, EndpointCommands& out);
  void expect(Request& request, std::uint64_t number, std::size_t output, EndpointCommands& out);
  void ask_for(IncomingId id, NetworkTraffic& traffic, EndpointCommands& out);
  void copy(IncomingId id, const Offer& offer, EndpointCommands& out);
  void is_there(std::uint64_t number, std::size_t output, Bytes went_along, std::vector<Arrived>& there,
                NetworkTraffic& traffic);

  bool is_full_for(const Arrival& arrival) const noexcept;
  void gone(const Activate::Output& visitor) noexcept;

  TransitLimits room_;
  const std::size_t most_visitors_;
  const DeliberateProtocolMistake mistake_;
  std::uint64_t next_arrival_ = 0, next_tag_ = 0;
  std::uint64_t next_payload_ = 1;  // odd: the payloads of Outgoing are even
  std::unordered_map<std::uint64_t, Arrival> arrivals_;
  std::deque<std::uint64_t> waiting_;  // in the order of their announcements
  std::unordered_map<PayloadId, IncomingId> expected_;
  // for values whose place is not reserved yet
  std::unordered_map<ValueName, Offer, HashOfName> offers_;
  // values with a place that wait for their offer
  std::unordered_map<ValueName, IncomingId, HashOfName> unoffered_;
  std::unordered_map<PayloadId, IncomingId> copying_;
  // Values in the states placing and asked, and their bytes.
  std::size_t visitors_ = 0;
  Bytes visitors_take_ = 0;
};

}  // namespace fairlead::net
