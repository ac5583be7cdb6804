// A solver of the C interface, with the thread that runs its solves and plans.
#pragma once
#include <fairlead.h>
#include <fairlead/solver.hpp>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "c/call_thread.hpp"
#include "c/options.hpp"

namespace fairlead::c {

/// The arrays of a report or a plan, which has their texts.
struct ArraysOfReport {
  std::vector<fairlead_phase> phases;
  std::vector<const char*> texts;

  void assign(const std::vector<linalg::SolvePhase>& of_phases, const std::vector<std::string>& of_texts);
};

}  // namespace fairlead::c

struct fairlead_solver {
  explicit fairlead_solver(const fairlead_options* options)
      : read(fairlead::c::options_of(options)), solver(std::move(read.solver)) {}

  fairlead::c::CallOptions read;
  fairlead::linalg::Solver solver;
  std::mutex calls;  ///< guards `solver`: a factorization runs on another thread than a solve
  // What the program may see.
  fairlead::linalg::SolveReport report;
  fairlead::c::ArraysOfReport report_arrays;
  fairlead::linalg::SolvePlan plan;
  fairlead::c::ArraysOfReport plan_arrays;
  std::string plan_text;
  fairlead::c::CallThread thread;
};
