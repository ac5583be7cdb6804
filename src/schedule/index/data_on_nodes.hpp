// What the choice of the next datum to load rests on: for each datum and node the sums over ready tasks that
// DARTS's Algorithm 3 asks for, and whether the datum is in dataNotInMem.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "schedule/index/held_task.hpp"

namespace fairlead::schedule {

/// The highest priority of a changing set. After the last task of the highest priority has left it is an
/// upper bound until somebody counts anew.
struct TopPriority {
  std::int32_t value = 0;
  std::uint32_t holders = 0;  // tasks that have it; 0 with a set that is not empty: only a bound

  // Written so that nothing is jumped over: priorities cannot be foreseen.
  void add(std::int32_t priority, bool first) noexcept {
    const bool highest = first | (priority > value);
    holders = highest ? 1 : holders + (priority == value ? 1 : 0);
    value = highest ? priority : value;
  }
  void remove(std::int32_t priority) noexcept { holders -= ((priority == value) & (holders > 0)) ? 1 : 0; }
};

/// A datum as one node sees it: one cache line.
struct alignas(64) DatumOnNode {
  static constexpr std::int64_t unknown = -1;

  std::int64_t work = 0, left = 0;  // of S0; of all ready users
  std::int64_t transfer = unknown;  // ns to bring it
  TopPriority top0, top1;           // of S0, of S1
  std::uint32_t s0 = 0, s1 = 0;     // how many tasks lack only it, and how many it and one more
  std::uint32_t planned = 0;        // tasks of the node's plannedTasks that use it

  bool present = false;       // not in dataNotInMem: resident, awaited or to be brought by a planned task
  bool resident = false;      // has space there, or is used in place
  bool in_place : 1 = false;  // always resident
  bool asked : 1 = false;     // whether it is used in place is known
  bool awaited = false;       // a picked task that is not admitted will bring it

  /// LoadingOrder's: how it stands there.
  struct Standing {
    bool in_s0 = false, worse_s0 = false;  // in the heap by S0; worse than that believes
    bool in_s1 = false, worse_s1 = false;
    bool ratio_better = false;  // than the heap believes, or the number or priority of S0
    bool raised = false;        // among those of which the heap believes too little |S1| or work left
    bool listed = false;        // among those that became better
    bool listed_s1 = false;     // among those that became better without S0
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

/// All data on all nodes.
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
  /// Of one that it knows.
  DatumOnNode& known(DatumId datum, Slot slot) noexcept { return entries_[index(datum) * slots_ + slot]; }

 private:
  std::vector<DatumOnNode> entries_;  // by datum, slot
  std::size_t slots_ = 0, data_ = 0;
};

}  // namespace fairlead::schedule
