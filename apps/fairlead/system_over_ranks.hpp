// A system of equations that several ranks solve together: each fills the tiles that it has, all factor and solve as
// parameterized graphs, and every rank gets the solution. Rank 0 judges it, by itself and from the matrix as it was given.
#pragma once
#include <fairlead/cyclic_map.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fairlead/command_ranks.hpp"
#include "fairlead/dense_problem.hpp"
#include "fairlead/watched_run.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::app {

template <class T>
struct SystemOverRanks {
  DenseProblem problem;  ///< of a square matrix; its tile is chosen
  linalg::Kernels kernels;
  Front front = Front::ptg;
  CyclicMap grid;
  std::int64_t columns = 1;                                                  ///< of b
  std::shared_ptr<const linalg::MatrixSource<T>> a{}, b{};                   ///< for the tiles
  std::shared_ptr<const linalg::MatrixSource<double>> given_a{}, given_b{};  ///< to judge by
  /// Filling the tiles is called so, and belongs to the time of the run, as solving does. Else only factoring counts.
  const char* reading = nullptr;
  /// When all tiles are filled: may look at what was found in them, with the others.
  std::function<void(Runtime&)> filled{};
};

template <class T>
struct SolvedOverRanks {
  std::vector<T> x;
  /// Of rank 0; the others have nothing to say.
  std::optional<report::RunReport> report;
  trace::Snapshot recorded;
};

/// On each rank. Throws as Runtime and linalg::run_for_results.
template <class T>
SolvedOverRanks<T> solve_over_ranks(const SystemOverRanks<T>& system, const Config& config, const Rank& rank);

/// What a rank needs of its memory limit besides tiles.
template <class T>
Bytes reserved_over_ranks(std::int64_t n, std::int64_t columns) noexcept;

/// Throws ConfigError for what goes with one rank only, so far.
void require_over_ranks(const Config& config);

}  // namespace fairlead::app
