// The system of `fairlead solve`, and its solution.
#pragma once
#include <fairlead/config.hpp>

#include <fairlead/linalg.hpp>

#include <memory>
#include <optional>
#include <string>

#include "algorithms/linalg/rbf_matrix.hpp"
#include "algorithms/linalg/symmetric_npy.hpp"
#include "data/npy/npy_file.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "report/run_report.hpp"
#include "solver/dense_problem.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::app {

using solver::cholesky_operation;
using solver::DenseOperation;

/// The system that the command line describes.
struct System {
  Config config;
  std::shared_ptr<const data::NpyFile> a, b;        // a: the matrix or the points that it is made of
  std::shared_ptr<const linalg::RbfMatrix> kernel;  // computed from points
  bool of_points = false;
  linalg::Stored stored = linalg::Stored::both;
  const DenseOperation* method = &cholesky_operation;

  /// The first of the files that was written to since it was opened; empty: none.
  std::string changed_input() const;

  /// The type of the solution by NumPy's promotion: single precision if both files have it.
  data::ElementType solution() const;
};

/// Solves the system on one rank or on each of several; the first writes the solution and the reports.
/// Returns an ExitCode.
int solve(const System& system, const Config& config, CommandRanks& ranks);

/// The same for methods for matrices that are not symmetric, from a file.
int solve_general(const System& system, const Config& config, CommandRanks& ranks);

/// The kernels and devices of a solve.
struct KernelsAndDevices {
  std::optional<linalg::Kernels> kernels;
  std::string devices;  ///< as RunReport::devices
};
/// Loads the kernels and chooses the devices, also in the settings.
KernelsAndDevices kernels_and_devices(const System& system, Config& config, CommandRanks& ranks);

/// The results of one rank.
struct SolvedHere {
  report::RunReport report;
  std::vector<trace::Snapshot> recorded;  ///< as WatchedRun::recorded()
};
/// Publishes the results, if this process has the first rank. Returns an ExitCode.
int publish_solution(const SolvedHere& solved, const Config& config, const CommandRanks& ranks);

}  // namespace fairlead::app
