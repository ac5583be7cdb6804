// See known_outputs.hpp.
#include "front/jdf_graph/known_outputs.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf_graph/origins.hpp"

namespace fairlead::jdf {

using unrolled::End;

KnownOutputs known_outputs(const unrolled::Graph& graph) {
  KnownOutputs out{.no_dead_ends = true};
  Origins origins(graph);
  std::set<std::string> in_place;
  for (const End& end : graph.outputs) {
    if (end.kind == End::Kind::task && !origins.exists(end)) out.no_dead_ends = false;
    if (end.kind != End::Kind::memory) continue;
    const End* const origin = origins.of(end.task, end.flow).place;
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
