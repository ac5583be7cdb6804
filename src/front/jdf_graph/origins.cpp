// See origins.hpp.
#include "front/jdf_graph/origins.hpp"

namespace fairlead::jdf {

using unrolled::EdgeEnd;
using unrolled::none;
using unrolled::Port;

Origins::Origins(const unrolled::TaskGraph& graph)
    : graph_(graph),
      ports_(graph),
      tasks_(graph.tasks.size()),
      inputs_(ports_.size(), nullptr),
      origins_(ports_.size()),
      seen_(ports_.size(), false) {
  for (unrolled::TaskId i = 0; i < graph.tasks.size(); ++i)
    tasks_.add(graph.tasks[i].of, graph.parameters(i));
  for (const EdgeEnd& end : graph.inputs) {
    const EdgeEnd*& input = inputs_[ports_.of(end.task, end.flow)];
    if (input == nullptr) input = &end;
  }
  // A written value without an input starts where it is stored.
  for (const EdgeEnd& end : graph.outputs) {
    const bool written = graph.flow(end.task, end.flow).access == unrolled::FlowAccess::write;
    const EdgeEnd*& input = inputs_[ports_.of(end.task, end.flow)];
    if (input == nullptr && written && end.kind == EdgeEnd::Kind::memory) input = &end;
  }
}

const Origins::Origin& Origins::of(unrolled::TaskId task, std::uint16_t flow) {
  std::vector<Port> path;
  Port at = ports_.of(task, flow);
  Origin found;
  while (true) {
    if (seen_[at]) {
      found = origins_[at];
      break;
    }
    seen_[at] = true;  // with an empty origin, in case of a cycle
    path.push_back(at);
    found.first = at;
    const EdgeEnd* const input = inputs_[at];
    const unrolled::FlowAccess access = graph_.flow(ports_.task(at), ports_.flow(at)).access;
    if (input == nullptr || input->kind == EdgeEnd::Kind::fresh) {
      found.fresh = input != nullptr || access == unrolled::FlowAccess::write;
      break;
    }
    if (input->kind == EdgeEnd::Kind::memory) {
      found.place = input;
      break;
    }
    if (input->kind != EdgeEnd::Kind::task) break;
    const std::uint32_t from = tasks_.find(input->of, graph_.indices(*input));
    if (from == none) break;
    at = ports_.of(from, input->of_flow);
  }
  for (const Port port : path) origins_[port] = found;
  return origins_[ports_.of(task, flow)];
}

}  // namespace fairlead::jdf
