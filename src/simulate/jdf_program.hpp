// Converts a JDF file to a program for the simulator: its graph is unrolled and ordered topologically, and the
// operations of its bodies are counted, not executed.
#pragma once
#include <memory>
#include <vector>

#include "front/jdf_graph/runnable_jdf.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

struct JdfProgram {
  Program program;
  std::vector<std::string> notes;    ///< what was omitted
  std::size_t assumed = 0;           ///< tasks for which only the data are known
  std::size_t forwarding_tasks = 0;  ///< omitted tasks that only forward data
};

/// Matrices are as the program's settings describe them; tiles of other collections have `tile` elements per side.
/// Throws InputError for an invalid graph, EvaluationError for missing values.
JdfProgram program_of(const jdf::RunnableJdf& jdf, std::int64_t tile, Precision precision);

}  // namespace fairlead::simulate
