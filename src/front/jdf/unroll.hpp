// Unrolls a JDF file for given globals: all tasks, and the inputs and outputs of each.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "front/jdf/ast.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf/types.hpp"
#include "front/unrolled/task_graph.hpp"

namespace fairlead::jdf {

/// Limits on the size of the result; exceeding one throws InputError.
struct UnrollOptions {
  std::size_t tasks = 4'000'000;
  std::size_t ends = 20'000'000;    ///< inputs and outputs together
  std::size_t steps = 400'000'000;  ///< iterations of all loops, including those that find no task
  /// The caller needs placements: an unknown one is an error instead of being omitted.
  bool placements = false;
  Types types = predefined_types();  ///< defines which types cover a whole tile
};

struct UnrolledGraph {
  unrolled::TaskGraph graph;
  /// Warnings about omitted information: a priority that only C code can compute.
  std::vector<std::string> notes;
};

/// Requires that `file` was read without errors. Throws EvaluationError if a value is missing, InputError if the graph
/// is too large.
UnrolledGraph unroll(const JdfFile& file, const Settings& settings, const UnrollOptions& limits = {});

}  // namespace fairlead::jdf
