// See known_outputs.hpp.
#include "front/jdf_graph/known_outputs.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <algorithm>

#include "front/unrolled/edges.hpp"

namespace fairlead::jdf {

namespace {

using unrolled::End;
using unrolled::none;
using unrolled::Port;

class Origins {
 public:
  explicit Origins(const unrolled::Graph& graph)
      : graph_(graph), ports_(graph), tasks_(graph.tasks.size()), inputs_(ports_.size(), nullptr) {
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
    origins_.assign(ports_.size(), nullptr);
    seen_.assign(ports_.size(), false);
  }

  bool exists(const End& end) const { return tasks_.find(end.of, graph_.indices(end)) != none; }

  /// Where the value of a flow is in memory; null: in a datum of its own, or nowhere.
  const End* of(unrolled::TaskId task, std::uint16_t flow) {
    std::vector<Port> path;
    Port at = ports_.of(task, flow);
    const End* found = nullptr;
    while (true) {
      if (seen_[at]) {
        found = origins_[at];
        break;
      }
      seen_[at] = true;  // with nothing, should it come back to itself
      path.push_back(at);
      const End* const input = inputs_[at];
      if (input == nullptr) break;
      if (input->kind == End::Kind::memory) {
        found = input;
        break;
      }
      if (input->kind != End::Kind::task) break;
      const std::uint32_t from = tasks_.find(input->of, graph_.indices(*input));
      if (from == none) break;
      at = ports_.of(from, input->of_flow);
    }
    for (const Port port : path) origins_[port] = found;
    return found;
  }

 private:
  const unrolled::Graph& graph_;
  const unrolled::Ports ports_;
  unrolled::NumberIndex tasks_;
  std::vector<const End*> inputs_, origins_;  // by port
  std::vector<bool> seen_;
};

}  // namespace

KnownOutputs known_outputs(const unrolled::Graph& graph) {
  KnownOutputs out{.no_dead_ends = true};
  Origins origins(graph);
  std::set<std::string> in_place;
  for (const End& end : graph.outputs) {
    if (end.kind == End::Kind::task && !origins.exists(end)) out.no_dead_ends = false;
    if (end.kind != End::Kind::memory) continue;
    const End* const origin = origins.of(end.task, end.flow);
    const bool same = origin != nullptr && origin->of == end.of &&
                      std::ranges::equal(graph.indices(*origin), graph.indices(end));
    (same ? in_place : out.copied).insert(std::string(graph.where(end)));
  }
  for (const std::string& where : out.copied)
    if (in_place.contains(where))
      throw InputError(fmt::format(
          "{}: for some tasks the value is in this datum, for others it is in another one: say these apart",
          where));
  return out;
}

}  // namespace fairlead::jdf
