// See known_outputs.hpp.
#include "front/jdf_graph/known_outputs.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf_graph/origins.hpp"

namespace fairlead::jdf {

using unrolled::EdgeEnd;

KnownOutputs known_outputs(const unrolled::TaskGraph& graph) {
  KnownOutputs out{.all_receivers_exist = true};
  Origins origins(graph);
  std::set<std::string> in_place;
  for (const EdgeEnd& end : graph.outputs) {
    if (end.kind == EdgeEnd::Kind::task && !origins.exists(end)) out.all_receivers_exist = false;
    if (end.kind != EdgeEnd::Kind::memory) continue;
    const EdgeEnd* const origin = origins.of(end.task, end.flow).place;
    const bool same = origin != nullptr && origin->of == end.of &&
                      std::ranges::equal(graph.indices(*origin), graph.indices(end));
    (same ? in_place : out.copied).insert(std::string(graph.where(end)));
  }
  for (const std::string& where : out.copied)
    if (in_place.contains(where))
      throw InputError(
          fmt::format("{}: for some tasks the value is in this datum, for others it is in another one: state "
                      "these cases separately",
                      where));
  return out;
}

void require_initial_inputs(const unrolled::TaskGraph& graph,
                            const std::vector<unrolled::Precedence>& steps) {
  unrolled::TupleIndex places(graph.outputs.size());
  std::vector<std::vector<const EdgeEnd*>> left;  // by place
  for (const EdgeEnd& end : graph.outputs) {
    if (end.kind != EdgeEnd::Kind::memory) continue;
    const std::uint32_t place = places.add(end.of, graph.indices(end));
    if (place >= left.size()) left.resize(place + 1);
    left[place].push_back(&end);
  }
  unrolled::PartialOrder order(graph.tasks.size(), steps);
  for (const EdgeEnd& input : graph.inputs) {
    if (input.kind != EdgeEnd::Kind::memory) continue;
    const std::uint32_t place = places.find(input.of, graph.indices(input));
    if (place == unrolled::none) continue;
    for (const EdgeEnd* const from : left[place])
      if (from->task != input.task && order.comes_before(from->task, input.task).value_or(false))
        throw InputError(
            fmt::format("{}: {} takes {} from memory after {} has left a value there; here memory has its "
                        "contents at the start of the graph. Take the value from that flow",
                        graph.where(input), unrolled::label(graph, input.task, input.flow),
                        unrolled::label(graph, input), unrolled::label(graph, from->task, from->flow)));
  }
}

}  // namespace fairlead::jdf
