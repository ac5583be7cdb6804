// The order in which a node should load the data that it lacks: lines 2 to 6 of DARTS's Algorithm 3, updated
// incrementally instead of computed. The order is repaired lazily, only as far as a query depends on it: improved data
// move up then, and worsened data move down only once they reach the top.
#pragma once
#include <utility>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/data_on_nodes.hpp"
#include "schedule/index/data_users.hpp"
#include "schedule/index/datum_heap.hpp"

namespace fairlead::schedule {

class LoadingOrder {
 public:
  LoadingOrder(const View& view, NodeId node, Slot slot, DataOnNodes& data, DataUsers& users)
      : view_(&view), node_(node), slot_(slot), data_(&data), users_(&users) {}

  /// The best datum to load; null if no datum enables a task, alone or with one more.
  const LoadPriority* best();

  /// The datum, which the node lacks, is worth more than before, or may now be chosen.
  void became_better(DatumId datum, DatumOnNode& e) {
    if (!std::exchange(e.standing.in_improved_list, true)) better_.push_back(datum);
  }
  /// The datum is worth less, or the node no longer lacks it.
  static void became_worse(DatumOnNode& e) noexcept { e.standing.stale_s0 = e.standing.worse_s1 = true; }

 private:
  LoadPriority worth(DatumId datum);
  void repair_s0();
  void repair_s1();
  void raise();
  /// Inserts the datum at its position in the order, or removes it.
  void replace_s0(DatumId datum, DatumOnNode& e);
  void replace_s1(DatumId datum, DatumOnNode& e);
  void list_s1(DatumId datum, DatumOnNode& e) {
    if (!std::exchange(e.standing.listed_s1, true)) better_s1_.push_back(datum);
  }
  const LoadPriority* top_s0();
  const LoadPriority* top_s1();
  void recount_priority(DatumId datum, DatumOnNode& e);
  DatumOnNode& known(DatumId datum) noexcept { return data_->known(datum, slot_); }

  const View* view_;
  NodeId node_;
  Slot slot_;
  DataOnNodes* data_;
  DataUsers* users_;
  // Heaps with the best datum first; some entries are too good, and data in the lists may be better than their entries.
  DatumHeap by_s0_;              // data that enable a task alone
  DatumHeap by_s1_;              // data that enable a task with one more datum; used only if by_s0_ is empty
  std::vector<DatumId> better_;  // improved data of both heaps
  std::vector<DatumId> better_s1_;
  std::vector<DatumId> raised_;  // data of by_s0_ with raised |S1| or work; used only when that may decide
};

}  // namespace fairlead::schedule
