// See origins.hpp.
#include "front/jdf_graph/origins.hpp"

namespace fairlead::jdf {

using unrolled::End;
using unrolled::none;
using unrolled::Port;

Origins::Origins(const unrolled::Graph& graph)
    : graph_(graph),
      ports_(graph),
      tasks_(graph.tasks.size()),
      inputs_(ports_.size(), nullptr),
      origins_(ports_.size()),
      seen_(ports_.size(), false) {
  for (unrolled::TaskId i = 0; i < graph.tasks.size(); ++i)
    tasks_.add(graph.tasks[i].of, graph.parameters(i));
  for (const End& end : graph.inputs) {
    const End*& input = inputs_[ports_.of(end.task, end.flow)];
    if (input == nullptr) input = &end;
  }
  // What is written and comes from nowhere begins where it is left.
  for (const End& end : graph.outputs) {
    const bool written = graph.flow(end.task, end.flow).access == unrolled::Access::write;
    const End*& input = inputs_[ports_.of(end.task, end.flow)];
    if (input == nullptr && written && end.kind == End::Kind::memory) input = &end;
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
    seen_[at] = true;  // with nothing, should it come back to itself
    path.push_back(at);
    found.first = at;
    const End* const input = inputs_[at];
    const unrolled::Access access = graph_.flow(ports_.task(at), ports_.flow(at)).access;
    if (input == nullptr || input->kind == End::Kind::fresh) {
      found.fresh = input != nullptr || access == unrolled::Access::write;
      break;
    }
    if (input->kind == End::Kind::memory) {
      found.place = input;
      break;
    }
    if (input->kind != End::Kind::task) break;
    const std::uint32_t from = tasks_.find(input->of, graph_.indices(*input));
    if (from == none) break;
    at = ports_.of(from, input->of_flow);
  }
  for (const Port port : path) origins_[port] = found;
  return origins_[ports_.of(task, flow)];
}

}  // namespace fairlead::jdf
