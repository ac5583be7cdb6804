// What memory nodes with a wire of their own between them have from each other: a tile that one has loaded
// need not come from home again, if the one waits for it or the other keeps it.
#pragma once
#include <vector>

#include "policy/view.hpp"
#include "schedule/blocks/node_plan.hpp"

namespace fairlead::schedule::blocks {

class Neighbours {
 public:
  /// `nodes` must stay where they are.
  void attach(const View& view, std::vector<NodePlan>& nodes) {
    view_ = &view;
    nodes_ = &nodes;
  }

  /// It is not on the node, and none of its neighbours has it.
  bool must_come_from_home(DatumId datum, const NodePlan& own) const;
  /// It would come from home now, and from a neighbour later.
  bool on_its_way_to_one(DatumId datum, const NodePlan& own) const;
  /// When the plan lets one use the datum that would get it from this node, because no other has it.
  Position next_use_from_here(DatumId datum, const NodePlan& own, const std::vector<bool>& over);

 private:
  const View* view_ = nullptr;
  std::vector<NodePlan>* nodes_ = nullptr;
};

}  // namespace fairlead::schedule::blocks
