// The order of tasks in simulated runs, for the report page.
#pragma once
#include <string>

#include "report/task_order.hpp"
#include "simulate/simulation.hpp"

namespace fairlead::simulate {

/// The position of each task of the program, without runs. Empty for programs without tiles.
report::TaskOrder task_places(const Program& program, const SimulatedMachine& machine);

/// Adds a run with `SimulationOptions::keep_order`.
void add_order(report::TaskOrder& to, const SimulatedMachine& machine, const std::string& scheduler,
               const SimulationResult& result);

}  // namespace fairlead::simulate
