// A solve in virtual time, and what it needs.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/solver.hpp>

#include <memory>
#include <string>
#include <vector>

#include "solver/linear_system.hpp"
#include "solver/task_times.hpp"

namespace fairlead::solver {

/// Bytes from and to the spill file.
struct SpillTraffic {
  Bytes read = 0, written = 0;
};

/// The outcome of a simulated solve.
struct PlannedOutcome {
  const DenseOperation* method = nullptr;
  std::string method_reason{};
  SpillTraffic until_solved{}, of_checks{};
  std::vector<linalg::SolvePhase> phases{};
  double seconds = 0;            ///< of all phases
  double disk_busy_seconds = 0;  ///< with at least one copy in flight
  double waiting_for_data = 0;   ///< share of the workers' time
};

/// `unsuitable`: why the method of `options` will be given up when the matrix has been read; empty: it will not.
/// `config`: its memory, tile and workers; devices are not used.
template <class T>
PlannedOutcome simulate_solve(const LinearSystem& system, const SolveOptions& options, const Config& config,
                              const linalg::Kernels& kernels, const std::shared_ptr<TaskTimes>& times,
                              const std::string& unsuitable);

/// Of a system that is `times` as large as that of `near`, from `near` and from `far`, whose system is half as large as
/// that: each quantity follows a power law.
PlannedOutcome extrapolated(const PlannedOutcome& near, const PlannedOutcome& far, double times);

extern template PlannedOutcome simulate_solve<float>(const LinearSystem&, const SolveOptions&, const Config&,
                                                     const linalg::Kernels&,
                                                     const std::shared_ptr<TaskTimes>&, const std::string&);
extern template PlannedOutcome simulate_solve<double>(const LinearSystem&, const SolveOptions&, const Config&,
                                                      const linalg::Kernels&,
                                                      const std::shared_ptr<TaskTimes>&, const std::string&);

}  // namespace fairlead::solver
