// fairlead bench over several ranks.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>

#include "fairlead/command_ranks.hpp"
#include "fairlead/dense_problem.hpp"

namespace fairlead::app {

/// `problem` has its tile. Returns an ExitCode, once all ranks of this process are over.
template <class T>
int bench_over_ranks(const Config& config, const DenseProblem& problem, const linalg::Kernels& kernels,
                     const CommandRanks& ranks);

/// Throws ConfigError for a benchmark that runs on one rank only.
void require_bench_over_ranks(const Config& config, const DenseProblem& problem);

}  // namespace fairlead::app
