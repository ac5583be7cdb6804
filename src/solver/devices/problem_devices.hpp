// What a dense problem needs of devices: its work, for the selection of gainful ones, and its element type.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/element_type.hpp>

#include "solver/dense_problem.hpp"
#include "solver/devices/gainful_devices.hpp"

namespace fairlead::solver {

/// The work of the problem, and the speed of the cores of this process.
ProblemWork problem_work(const DenseProblem& problem, double core_gflops, const Config& config);

/// Throws ConfigError if the settings name CUDA or OpenCL devices, which do not compute with complex elements.
void require_devices_for(const Config& config, ElementType element);

}  // namespace fairlead::solver
