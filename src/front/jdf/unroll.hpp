// All tasks of a JDF file for given globals, and what each says of its inputs and outputs.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "front/jdf/evaluate.hpp"
#include "front/jdf/tree.hpp"
#include "front/jdf/types.hpp"
#include "front/unrolled/graph.hpp"

namespace fairlead::jdf {

struct UnrollLimits {
  std::size_t tasks = 4'000'000;
  std::size_t ends = 20'000'000;    ///< inputs and outputs together
  std::size_t steps = 400'000'000;  ///< of all loops, which may also find nothing
  bool placements = false;  ///< where tasks run is needed: else it is left out where its value is not known
  Types types = usual_types();  ///< which types are all of a tile
};

struct Unrolled {
  unrolled::Graph graph;
  std::vector<std::string> notes;  ///< what was left out: a priority that only C knows
};

/// `file` has been read without errors. Throws EvaluationError where a value is missing, InputError where it is too large.
Unrolled unroll(const File& file, const Settings& settings, const UnrollLimits& limits = {});

}  // namespace fairlead::jdf
