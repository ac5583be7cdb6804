// A JDF file as a program for the simulator: its graph is written out, put into an order in which it could run, and what
// its bodies would compute is counted, not done.
#pragma once
#include <memory>
#include <vector>

#include "front/jdf_graph/program.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

struct JdfProgram {
  Program program;
  std::vector<std::string> notes;  ///< what was left out
  std::size_t passed_on = 0;       ///< tasks that compute nothing, and only pass data on: they are left out
};

/// Matrices are as the program's settings describe them; tiles of others have `tile` elements a side. Throws InputError
/// for a graph that makes no sense, EvaluationError for values that are missing.
JdfProgram program_of(const jdf::Program& jdf, std::int64_t tile, Precision precision);

}  // namespace fairlead::simulate
