// The network of a simulated cluster, in virtual time. Each node has an interface, with a way out and a way in; nodes of
// different switches have the way up from the one and down to the other between them. Whoever wants a way that is taken
// waits until those before him are through; a payload's head goes on while its tail still comes (cut-through). Messages
// of a few kilobytes slip in between the packets of payloads, though they take their bytes' time of the way. What a
// payload crosses inside its ranks, from memory to the interface and back, it crosses at the same time. Who speaks for a
// rank takes time for each message and byte, one after the other, while they come or go and it has nothing else to do.
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
#include "simulate/cluster/turns.hpp"

namespace fairlead::simulate {

/// What crossed a rank's interface.
struct Crossed {
  std::uint64_t messages_out = 0, messages_in = 0;
  Bytes bytes_out = 0, bytes_in = 0;
  Duration speaking{};  ///< who speaks for the rank took so long for all of it
};

/// What is between a rank's interfaces and its memories.
class BehindInterfaces {
 public:
  virtual ~BehindInterfaces() = default;
  /// Bytes of a payload go in from an interface to that place, or out from there to one; calls `then` when they are
  /// through. False: nothing is crossed, and nothing called. `payload`: numbers them.
  virtual bool cross(const void* place, Bytes bytes, bool out, std::uint64_t payload,
                     std::function<void()> then) = 0;
};

class Fabric final : private backend::Timeline::Member {
 public:
  /// `awaited(rank, more)`: the rank has asked for a payload more, or one that it had asked for is there. `deaf(rank)`: all its
  /// workers compute, which matters where messages are heard between tasks.
  Fabric(Turns& turns, const machine::NetworkDescription& network, std::uint32_t ranks,
         std::function<void(std::uint32_t rank, bool more)> awaited,
         std::function<bool(std::uint32_t rank)> deaf = {});
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric() override { turns_.timeline().leave(number_); }

  /// The rank's end of it, which goes before the fabric.
  std::shared_ptr<net::Network> end_of(net::RankId rank);
  /// As long as that end is there; null: there is nothing between.
  void put_behind(net::RankId rank, BehindInterfaces* behind) { ranks_[index(rank)].behind = behind; }
  const Crossed& crossed(std::uint32_t rank) const { return ranks_[rank].crossed; }
  /// A task of the rank is over, and all its workers have computed.
  void between_tasks(std::uint32_t rank);
  /// Workers speak for their ranks, and it takes them time.
  bool keeps_workers() const noexcept {
    return network_.heard_between_tasks &&
           (network_.per_message > Duration{} || network_.per_byte_nanoseconds > 0);
  }
  /// Who speaks for the rank has something to do until then.
  Time speaks_until(std::uint32_t rank) const { return ranks_[rank].thread_free; }
  /// So many things happened in it.
  std::uint64_t events() const noexcept { return scheduled_ - future_.size(); }

 private:
  class End;
  using Way = std::uint32_t;
  using Number = std::uint32_t;
  struct Rank {
    net::Network::Listener* listener = nullptr;
    BehindInterfaces* behind = nullptr;
    std::map<std::pair<net::RankId, std::uint64_t>, net::Commands::Expected> expected;  // by sender and tag
    std::unordered_map<net::PayloadId, Number> sending;
    Time thread_free{};  // of who sends and hears for it
    Duration owed{};     // by who spoke for it while all of its workers computed
    std::vector<Number> unheard;
    Crossed crossed;
  };
  struct Packet {
    net::RankId from{}, to{};
    Bytes bytes = 0;
    std::vector<std::byte> message;  // or a payload
    const void* place = nullptr;     // which comes from there
    net::PayloadId id{};
    std::uint64_t tag = 0;
    bool is_payload = false, is_small = false, dropped = false;
    std::vector<Way> ways;
    std::size_t at = 0;  // which of those comes next
    Time tail{};         // when all of it is through those before, and has been sent
    Time head{};         // when it begins to come
    // Of a payload: crossings that are not over, of the ways and behind the interfaces.
    std::uint8_t to_leave = 1, to_arrive = 1;
  };
  enum class What : std::uint8_t {
    comes_to_way,
    comes_from_memory,
    comes_to_memory,
    has_left,
    is_through,
    is_there,
    is_heard,
    poked
  };
  struct Happening {
    Time at;
    std::uint64_t order;
    What what;
    std::uint32_t which;  // packet, or rank
    bool operator>(const Happening& other) const noexcept {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  Time next() const noexcept override { return future_.empty() ? Time::max() : future_.top().at; }
  bool step() override;
  void schedule(Time at, What what, std::uint32_t which);
  void send(Packet packet);
  void comes_to_way(Number number);
  void is_heard(Number number);
  void cross_behind(Number number, bool out);
  void has_left(Number number);
  void is_through(Number number);
  void is_there(Number number);
  Duration crossing(Way way, Bytes bytes) const;
  Duration copying(Bytes bytes) const;
  bool all_compute(std::uint32_t rank) const;
  void hear(Number number);
  std::vector<Way> ways_between(std::uint32_t from, std::uint32_t to) const;

  Turns& turns_;
  const machine::NetworkDescription network_;
  const std::function<void(std::uint32_t, bool)> awaited_;
  const std::function<bool(std::uint32_t)> deaf_;
  std::vector<Rank> ranks_;
  std::vector<double>
      bytes_per_second_;    // by way: out of and into each rank, up from and down to each switch
  std::vector<Time> free_;  // likewise
  Way first_switch_ = 0;
  std::vector<Packet> packets_;
  std::vector<Number> unused_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> future_;
  std::uint64_t scheduled_ = 0;
  const std::uint32_t number_;  // in the timeline
};

}  // namespace fairlead::simulate
