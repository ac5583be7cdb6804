// The kernels and the accelerators that a command computes with.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>

#include <string>

#include "fairlead/ranks/command_ranks.hpp"
#include "solver/dense_problem.hpp"
#include "solver/load_kernels.hpp"

namespace fairlead::app {

/// OPENBLAS_CORETYPE, and this program as the helper that times a BLAS. Announces timings on
/// the standard error stream.
solver::KernelEnvironment kernel_environment();

struct KernelsAndDevices {
  linalg::Kernels kernels;
  double core_gflops;   ///< of one core
  std::string devices;  ///< the report's line about them
};
/// Collective. Loads the kernels. If the user names no devices and `automatically` is true, selects those of this machine
/// that speed up the problem, and sets `devices` in the settings.
KernelsAndDevices load_kernels_and_devices(Config& config, bool automatically,
                                           const solver::DenseProblem& problem, CommandRanks& ranks);

}  // namespace fairlead::app
