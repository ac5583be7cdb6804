// Selects the accelerators of a command: those that the user names, or those of this machine that speed up
// the problem. Describes the selection in one line of the report.
#pragma once
#include <fairlead/config.hpp>

#include <cstddef>
#include <string>

#include "fairlead/devices/gainful_devices.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "solver/dense_problem.hpp"

namespace fairlead::app {

using solver::DenseProblem;

/// The work of the problem, and the speed of the cores of this process.
ProblemWork problem_work(const DenseProblem& problem, double core_gflops, const Config& config);

/// Collective. Returns the report's line about devices. If the user names no devices and `automatically` is
/// true, sets `devices` in the settings.
std::string select_devices(Config& config, bool automatically, const ProblemWork& work, CommandRanks& ranks);

/// Throws ConfigError if the settings name CUDA or OpenCL devices, which do not compute with complex elements.
void require_devices_for(const Config& config, ElementType element);

/// How the ranks of this machine share a list of devices: "rank 0: cuda:0; rank 1: cuda:1". Empty for a
/// single rank.
std::string devices_by_rank(const std::string& list, std::size_t ranks_on_machine);

}  // namespace fairlead::app
