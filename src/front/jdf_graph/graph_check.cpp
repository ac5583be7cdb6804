// See graph_check.hpp.
#include "front/jdf_graph/graph_check.hpp"

#include <fairlead/error.hpp>

#include "front/jdf/unroll.hpp"
#include "front/jdf_graph/known_outputs.hpp"
#include "front/unrolled/check.hpp"
#include "front/unrolled/ranks.hpp"

namespace fairlead::jdf {

GraphCheck check_graph(const RunnableJdf& program, const CyclicMap* grid) {
  std::optional<UnrolledGraph> unrolled;
  try {
    UnrollOptions limits{.tasks = 100'000, .ends = 1'000'000, .steps = 20'000'000};
    limits.placements = grid != nullptr;
    limits.types = program.types;
    unrolled = unroll(program.file, program.settings, limits);
  } catch (const InputError&) {
    return {};
  }
  unrolled::CheckResult checked = unrolled::check(unrolled->graph);
  if (grid != nullptr) unrolled::check_placement(unrolled->graph, *grid, checked.findings);
  if (checked.findings.errors() != 0) return {.errors = checked.findings.text()};
  require_initial_inputs(unrolled->graph, checked.steps);
  return {.known = known_outputs(unrolled->graph)};
}

}  // namespace fairlead::jdf
