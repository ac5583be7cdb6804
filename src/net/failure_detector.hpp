// Failure detector for ranks. The ranks form a tree; each sends heartbeats to its parent and its children. A
// neighbour whose connection breaks is gone; one that is silent for long hangs. The rank that detects a loss notifies
// the others along the tree. Neighbours of the lost rank that are cut off are reached through its heirs: its parent,
// then its children. The detecting rank asks the heirs ahead of itself, in order, to report the loss to the user, so
// that exactly one does. The class is passive: callers report events and times, and it returns orders.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "net/names.hpp"

namespace fairlead::net {

/// A rank that is lost to the others.
struct Loss {
  enum class Kind : std::uint8_t {
    gone,    // its process has ended, or its connection has failed
    silent,  // it exists and does not answer
    left,    // it has ended while others needed it, as it reports itself
    failed,  // its MPI has failed, as it reports itself
  };
  RankId rank = no_rank;
  Kind how = Kind::gone;
  friend constexpr bool operator==(const Loss&, const Loss&) = default;
};

/// A message between neighbours.
struct MonitorMessage {
  enum class Kind : std::uint8_t {
    heartbeat,    // heartbeat
    leaving,      // the sender is done and needs no rank any more
    lost,         // that rank is lost; the report to the user is taken care of
    report_loss,  // that rank is lost; the receiver must report that
  };
  Kind kind = Kind::heartbeat;
  Loss loss{};
  friend constexpr bool operator==(const MonitorMessage&, const MonitorMessage&) = default;
};

class FailureDetector {
 public:
  struct Place {
    RankId own{};
    std::uint32_t ranks = 1, fan_out = 8;
  };
  struct Timing {
    Duration beat = std::chrono::seconds(1);
    Duration timeout = std::chrono::seconds(10);      ///< longest silence of a neighbour; 0: unlimited
    Duration heir_timeout = std::chrono::seconds(1);  ///< longest wait for the reply of each heir
  };
  struct Orders {
    struct OutgoingMessage {
      RankId to = no_rank;
      MonitorMessage word{};
    };
    std::vector<OutgoingMessage> words{};
    RankId reach = no_rank;       ///< connect to that rank; heard() or broken() follows
    bool report_to_user = false;  ///< report the loss to the user
    bool end = false;             ///< all reachable ranks are notified of the loss: end this process
  };

  FailureDetector(const Place& place, const Timing& pace, Time now);

  std::optional<RankId> parent() const;
  std::vector<RankId> children() const;
  /// Overrides the pace's patience.
  void set_patience(Duration patience, Time now);

  // ---- events. heard() from a neighbour requires a connection to it

  /// A message of that rank has arrived.
  void heard(RankId from, const MonitorMessage& word, Time now, Orders& out);
  /// The connection to the rank has closed, or cannot be made.
  void broken(RankId from, Time now, Orders& out);
  /// True for a neighbour that was never connected.
  bool never_linked(RankId rank) const;
  /// No connection to that neighbour is possible: neither rank monitors the other.
  void remove_neighbour(RankId neighbour);
  /// Call this at next_tick() at the latest, after reporting all received messages.
  void tick(Time now, Orders& out);
  Time next_tick() const noexcept { return looked_ + pace_.beat; }
  /// This rank is done; with `needed`, it leaves while others need it.
  void leave(bool needed, Orders& out);
  /// The others must not wait for this rank, which is lost in that way.
  void give_up(Loss::Kind how, Orders& out);

  /// The first loss detected or reported; nothing if there is none.
  const std::optional<Loss>& loss() const noexcept { return loss_; }

 private:
  struct Neighbour {
    RankId rank{};
    Time heard{};
    bool linked = false;  // connected
  };
  RankId parent_of(RankId rank) const;
  std::vector<RankId> children_of(RankId rank) const;
  std::vector<RankId> heirs_before_own(RankId lost) const;
  Neighbour* find(RankId rank);
  /// Sends the loss to all connected neighbours except `but`.
  void notify_others(RankId but, Orders& out) const;
  void found(const Loss& loss, RankId by, Time now, Orders& out);
  void ask_next_heir(Time now, Orders& out);

  const Place place_;
  Timing pace_;
  std::vector<Neighbour> neighbours_;
  Time looked_{};
  std::optional<Loss> loss_;
  std::vector<RankId> heirs_;  // to be asked; the last entry first
  RankId asked_ = no_rank;
  Time asked_at_{};
};

}  // namespace fairlead::net
