// Values go home early: what lies on a device, and nobody is going to change any more, goes home while the way there is
// idle, so that little is left to bring at the end. In the first half only where nothing has to make room: what is at home
// is dropped at once there, and comes once more for those who still read it.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "memory/transfers.hpp"

namespace fairlead::memory {

class Homeward {
 public:
  Homeward(State& state, Transfers& transfers);

  /// There are such ways at all: what follows does something, and tasks have to be told of.
  bool possible() const noexcept { return possible_; }
  /// The task is going to change what it writes, and others may follow.
  void expect(const Task& task);
  /// It has: what it has changed for the last time, as far as is known, may go home.
  void changed(const Task& task, Effects& effects);
  /// It never will.
  void forget(const Task& task) noexcept;
  /// No others follow before those that are known are over. Before that nobody knows which change is the last.
  void all_are_known() noexcept { more_follow_ = false; }
  bool more_follow() const noexcept { return more_follow_; }
  /// Ways may be idle.
  void go(Effects& effects);

 private:
  bool leads_home(NodeId from, NodeId home) const noexcept;
  bool one_less(DatumId datum) noexcept;
  bool has_made_room(NodeId node) const noexcept;
  void send(Datum& datum, NodeId from, Effects& effects);

  State& state_;
  Transfers& transfers_;
  std::vector<std::uint32_t> changes_ahead_;  // by datum
  std::vector<std::deque<DatumId>> waiting_;  // by node
  std::size_t all_waiting_ = 0;
  std::uint64_t changes_left_ = 0, changes_over_ = 0;
  std::vector<std::uint64_t> evictions_before_;  // by node
  bool possible_ = false;
  bool more_follow_ = true;
};

}  // namespace fairlead::memory
