// Sharing of data between memory nodes with a direct link: a tile that one node has loaded need not be transferred from
// the home node again, if the other node waits for it or the first keeps it.
#pragma once
#include <vector>

#include "policy/view.hpp"
#include "schedule/blocks/node_plan.hpp"

namespace fairlead::schedule::blocks {

class Neighbours {
 public:
  /// The addresses of `nodes` must remain valid.
  void attach(const View& view, std::vector<NodePlan>& nodes) {
    view_ = &view;
    nodes_ = &nodes;
  }

  /// True if the datum is neither on the node nor on any of its neighbours.
  bool has_no_neighbour_copy(DatumId datum, const NodePlan& own) const;
  /// True if the datum is arriving at a neighbour: it would come from the home node now, and from the neighbour later.
  bool is_arriving_at_neighbour(DatumId datum, const NodePlan& own) const;
  /// The next planned use of the datum by a neighbour that would get it from this node; `never` if another node can
  /// supply it.
  Position next_neighbour_use(DatumId datum, const NodePlan& own, const std::vector<bool>& over);

 private:
  const View* view_ = nullptr;
  std::vector<NodePlan>* nodes_ = nullptr;
};

}  // namespace fairlead::schedule::blocks
