// The order of simulated runs as a page draws it.
#pragma once
#include <string>

#include "report/task_order.hpp"
#include "simulate/simulation.hpp"

namespace fairlead::simulate {

/// Where each task of the program is drawn, and no run so far. Empty for programs without tiles.
report::TaskOrder task_places(const Program& program, const SimulatedMachine& machine);

/// Adds a run with `SimulationOptions::keep_order`.
void add_order(report::TaskOrder& to, const SimulatedMachine& machine, const std::string& scheduler,
               const SimulationResult& result);

}  // namespace fairlead::simulate
