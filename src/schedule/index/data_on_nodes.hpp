// The basis for choosing the next datum to load: for each datum and node, the sums over ready tasks in DARTS's
// Algorithm 3, and whether the datum is in dataNotInMem.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "schedule/index/darts_task.hpp"

namespace fairlead::schedule {

/// The highest priority in a changing multiset. After the last task of the highest priority has left, the value is an
/// upper bound until it is recounted.
struct TopPriority {
  std::int32_t value = 0;
  std::uint32_t holders = 0;  // tasks with that priority; 0 in a nonempty set: only a bound

  // Branch-free, since priorities are unpredictable.
  void add(std::int32_t priority, bool first) noexcept {
    const bool highest = first | (priority > value);
    holders = highest ? 1 : holders + (priority == value ? 1 : 0);
    value = highest ? priority : value;
  }
  void remove(std::int32_t priority) noexcept { holders -= ((priority == value) & (holders > 0)) ? 1 : 0; }
};

/// The state of a datum on one node, in one cache line.
struct alignas(64) DatumOnNode {
  static constexpr std::int64_t unknown = -1;

  std::int64_t work = 0, left = 0;  // ns of S0, and of all ready users
  std::int64_t transfer = unknown;  // ns to transfer it to the node
  TopPriority top0, top1;           // highest priority of S0, of S1
  // Number of tasks that lack only this datum, and of those that lack it and one more.
  std::uint32_t s0 = 0, s1 = 0;
  std::uint32_t planned = 0;  // tasks of the node's plannedTasks that use it

  bool present = false;       // not in dataNotInMem: resident, awaited, or to be loaded for a planned task
  bool resident = false;      // has space on the node, or is used in place
  bool in_place : 1 = false;  // always resident
  bool asked : 1 = false;     // known whether it is used in place
  bool awaited = false;       // a picked task whose memory is not yet reserved will load it

  /// The state of the datum in the node's LoadingOrder.
  struct HeapState {
    bool in_s0 = false, stale_s0 = false;  // in the heap by S0; its heap entry is too good
    bool in_s1 = false, worse_s1 = false;
    bool ratio_better = false;  // its ratio, or the size or priority of S0, may be better than its heap entry
    bool underestimated =
        false;  // in the list of data whose heap entries have too low |S1| or remaining work
    bool in_improved_list = false;  // in the list of improved data
    bool listed_s1 = false;         // in the list of improved data without S0
  } standing;

  void add_s0(std::int64_t duration, std::int32_t priority) noexcept {
    work += duration;
    top0.add(priority, s0++ == 0);
    standing.ratio_better = true;
  }
  void remove_s0(std::int64_t duration, std::int32_t priority) noexcept {
    work -= duration;
    if (--s0 > 0) top0.remove(priority);
  }
  void add_s1(std::int32_t priority) noexcept { top1.add(priority, s1++ == 0); }
  void remove_s1(std::int32_t priority) noexcept {
    if (--s1 > 0) top1.remove(priority);
  }
};
static_assert(sizeof(DatumOnNode) == 64);

/// The state of all data on all nodes.
class DataOnNodes {
 public:
  void attach(std::size_t slots) { slots_ = slots; }
  bool knows(DatumId datum) const noexcept { return index(datum) < data_; }
  DatumOnNode& at(DatumId datum, Slot slot) {
    if (!knows(datum)) {
      data_ = std::max(index(datum) + 1, data_ * 2);
      entries_.resize(data_ * slots_);
    }
    return known(datum, slot);
  }
  /// The datum must have an entry.
  DatumOnNode& known(DatumId datum, Slot slot) noexcept { return entries_[index(datum) * slots_ + slot]; }

 private:
  std::vector<DatumOnNode> entries_;  // by datum, then slot
  std::size_t slots_ = 0, data_ = 0;
};

}  // namespace fairlead::schedule
