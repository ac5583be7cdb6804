// The network of a simulated cluster, in virtual time. Each node has an interface with an outgoing and an incoming
// channel; between nodes of different switches lie the uplink of one switch and the downlink of the other. A packet
// waits for a busy channel in arrival order. The head of a payload is forwarded while its tail still arrives
// (cut-through). Messages of up to a few kilobytes are interleaved with the packets of payloads, but use the channel's
// time for their bytes. A payload's transfers inside its ranks, between memory and interface, proceed at the same time.
// A rank's communication thread takes time for each message and byte, one after the other, during their transfer if it
// is otherwise idle.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/description.hpp"
#include "net/network.hpp"
#include "simulate/cluster/rank_scheduler.hpp"

namespace fairlead::simulate {

/// The traffic through a rank's interface.
struct InterfaceTraffic {
  std::uint64_t messages_out = 0, messages_in = 0;
  Bytes bytes_out = 0, bytes_in = 0;
  Duration cpu_time{};  ///< time of the communication thread
};

/// The connection between a rank's interfaces and its memories.
class RankInterfaces {
 public:
  virtual ~RankInterfaces() = default;
  /// Starts the transfer of a payload's bytes from an interface to that address, or (`out`) in the other direction;
  /// calls `then` at its completion. Returns false, without a call, if there is nothing to cross. `payload`: a number
  /// of the payload.
  virtual bool cross(const void* place, Bytes bytes, bool out, std::uint64_t payload,
                     std::function<void()> then) = 0;
};

class SimulatedNetwork final : private backend::Timeline::Member {
 public:
  /// `awaited(rank, more)`: the rank has requested one more payload, or one has arrived. `deaf(rank)`: true if all
  /// workers of the rank compute, which matters if messages are processed between tasks.
  SimulatedNetwork(RankScheduler& turns, const machine::NetworkDescription& network, std::uint32_t ranks,
                   std::function<void(std::uint32_t rank, bool more)> awaited,
                   std::function<bool(std::uint32_t rank)> all_busy = {});
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;
  ~SimulatedNetwork() override { turns_.timeline().leave(number_); }

  /// The rank's endpoint, which must be destroyed before the fabric.
  std::shared_ptr<net::Network> end_of(net::RankId rank);
  /// `behind` must be valid as long as the endpoint; null: no connection to model.
  void set_interface_links(net::RankId rank, RankInterfaces* behind) { ranks_[index(rank)].links = behind; }
  const InterfaceTraffic& crossed(std::uint32_t rank) const { return ranks_[rank].crossed; }
  /// A task of the rank has finished, and until then all of its workers computed.
  void between_tasks(std::uint32_t rank);
  /// True if workers process messages for their ranks and spend time on it.
  bool workers_communicate() const noexcept {
    return network_.polled_by_workers &&
           (network_.per_message > Duration{} || network_.per_byte_nanoseconds > 0);
  }
  /// The time until which the rank's communication thread is busy.
  Time thread_busy_until(std::uint32_t rank) const { return ranks_[rank].thread_free; }
  /// The number of simulated events.
  std::uint64_t events() const noexcept { return scheduled_ - future_.size(); }

 private:
  class LinkEnd;
  using Channel = std::uint32_t;
  using Number = std::uint32_t;
  struct Rank {
    net::Network::Listener* listener = nullptr;
    RankInterfaces* links = nullptr;
    std::map<std::pair<net::RankId, std::uint64_t>, net::EndpointCommands::PostedReceive>
        expected;  // by sender and tag
    std::unordered_map<net::PayloadId, Number> sending;
    Time thread_free{};  // when the communication thread is free
    Duration owed{};     // its time during computations of all workers, not yet charged
    std::vector<Number> unprocessed;
    InterfaceTraffic crossed;
  };
  struct Packet {
    net::RankId from{}, to{};
    Bytes bytes = 0;
    std::vector<std::byte> message;  // empty for a payload
    const void* place = nullptr;     // address of a payload
    net::PayloadId id{};
    std::uint64_t tag = 0;
    bool is_payload = false, is_small = false, dropped = false;
    std::vector<Channel> ways;
    std::size_t at = 0;  // index of the next channel
    Time tail{};         // when the packet has passed all previous channels completely
    Time head{};         // when its first byte arrives
    // For payloads: unfinished crossings of the channels and behind the interfaces.
    std::uint8_t to_leave = 1, to_arrive = 1;
  };
  /// The kinds of event.
  enum class EventType : std::uint8_t {
    reaches_channel,    // the head of a packet reaches its next channel
    comes_from_memory,  // a payload starts to cross from its memory to the interface
    comes_to_memory,    // a payload starts to cross from the interface to its memory
    has_left,           // one of the payload's crossings at the sender is complete
    is_through,         // one of the payload's crossings is complete
    arrived,            // a message has arrived
    processed,          // the receiving rank has processed a packet
    poked               // a rank has woken up its own endpoint
  };
  /// An event at a point in time; events of equal time are ordered by `order`.
  struct NetworkEvent {
    Time at;
    std::uint64_t order;
    EventType what;
    std::uint32_t which;  // number of a packet, or rank
    bool operator>(const NetworkEvent& other) const noexcept {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  Time next() const noexcept override { return future_.empty() ? Time::max() : future_.top().at; }
  bool step() override;
  void schedule(Time at, EventType what, std::uint32_t which);
  void send(Packet packet);
  void reaches_channel(Number number);
  void processed(Number number);
  void cross_behind(Number number, bool out);
  void has_left(Number number);
  void is_through(Number number);
  void arrived(Number number);
  Duration crossing(Channel way, Bytes bytes) const;
  Duration copying(Bytes bytes) const;
  bool all_compute(std::uint32_t rank) const;
  void process(Number number);
  std::vector<Channel> ways_between(std::uint32_t from, std::uint32_t to) const;

  RankScheduler& turns_;
  const machine::NetworkDescription network_;
  const std::function<void(std::uint32_t, bool)> awaited_;
  const std::function<bool(std::uint32_t)> deaf_;
  std::vector<Rank> ranks_;
  // By channel: out of and into each rank, up from and down to each switch.
  std::vector<double> bytes_per_second_;
  std::vector<Time> free_;  // by channel: when it is free
  Channel first_switch_ = 0;
  std::vector<Packet> packets_;
  std::vector<Number> unused_;
  std::priority_queue<NetworkEvent, std::vector<NetworkEvent>, std::greater<>> future_;
  std::uint64_t scheduled_ = 0;
  const std::uint32_t number_;  // in the timeline
};

}  // namespace fairlead::simulate
