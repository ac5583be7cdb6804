// In which order a node had better load the data that it lacks: lines 2 to 6 of DARTS's Algorithm 3, kept up
// to date instead of computed. The order is repaired when somebody asks, and only as far as the answer
// depends on it: data that became better are moved up then, those that became worse only once they are on
// top.
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

  /// The best datum to load, if any enables a task alone or with one more.
  const Worth* best();

  /// The node lacks the datum, and it is worth more than before, or about to be asked for.
  void became_better(DatumId datum, DatumOnNode& e) {
    if (!std::exchange(e.standing.listed, true)) better_.push_back(datum);
  }
  /// It is worth less, or the node lacks it no longer.
  static void became_worse(DatumOnNode& e) noexcept { e.standing.worse_s0 = e.standing.worse_s1 = true; }

 private:
  Worth worth(DatumId datum);
  void repair_s0();
  void repair_s1();
  void raise();
  /// Puts the datum where it belongs in the order, or takes it out.
  void replace_s0(DatumId datum, DatumOnNode& e);
  void replace_s1(DatumId datum, DatumOnNode& e);
  void list_s1(DatumId datum, DatumOnNode& e) {
    if (!std::exchange(e.standing.listed_s1, true)) better_s1_.push_back(datum);
  }
  const Worth* top_s0();
  const Worth* top_s1();
  void recount_priority(DatumId datum, DatumOnNode& e);
  DatumOnNode& known(DatumId datum) noexcept { return data_->known(datum, slot_); }

  const View* view_;
  NodeId node_;
  Slot slot_;
  DataOnNodes* data_;
  DataUsers* users_;
  // The best datum first, but some may be worse than it believes, and some that are listed better.
  DatumHeap by_s0_;              // data that enable a task alone
  DatumHeap by_s1_;              // with one more; looked at only when there is none of the former
  std::vector<DatumId> better_;  // of both
  std::vector<DatumId> better_s1_;
  std::vector<DatumId> raised_;  // of by_s0_; looked at only when that may decide
};

}  // namespace fairlead::schedule
