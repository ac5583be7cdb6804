// Early write-back. A datum on a device that no known task will change goes home while the link is idle, so that
// little is left to copy at the end. In the first half of the changes this happens only on nodes without evictions: a
// clean replica is dropped at once there, and its later readers would load it again.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "memory/transfers.hpp"

namespace fairlead::memory {

class EarlyWriteBack {
 public:
  EarlyWriteBack(State& state, Transfers& transfers);

  /// True if a duplex link leads from a device to a home. If false, the other functions do nothing and calls are
  /// unnecessary.
  bool possible() const noexcept { return possible_; }
  /// The task will change the data that it writes, and more tasks may follow.
  void expect(const Task& task);
  /// The task has changed them. Data that no known task will change again may go home.
  void changed(const Task& task, Effects& effects);
  /// The task will never run.
  void forget(const Task& task) noexcept;
  /// No more tasks follow until the known ones have finished. Before this call the last change of a datum is unknown.
  void all_are_known() noexcept { more_follow_ = false; }
  bool more_follow() const noexcept { return more_follow_; }
  /// Starts write-backs on idle links.
  void go(Effects& effects);

 private:
  bool leads_home(NodeId from, NodeId home) const noexcept;
  bool remove_change(DatumId datum) noexcept;
  bool has_evicted(NodeId node) const noexcept;
  void send(Datum& datum, NodeId from, Effects& effects);

  State& state_;
  Transfers& transfers_;
  std::vector<std::uint32_t> changes_ahead_;  // tasks that will change the datum, by datum
  std::vector<std::deque<DatumId>> waiting_;  // data to write back, by node
  std::size_t all_waiting_ = 0;
  std::uint64_t changes_left_ = 0, changes_over_ = 0;
  std::vector<std::uint64_t> evictions_before_;  // evictions at the first change, by node
  bool possible_ = false;
  bool more_follow_ = true;
};

}  // namespace fairlead::memory
