// A workload of the C interface: its name, the file of a recorded flow, or tasks. A simulation makes the program of it,
// since its size depends on the settings.
#pragma once
#include <fairlead/config.hpp>

#include <functional>

#include "simulate/study/scenario.hpp"

struct fairlead_workload {
  std::string name;  ///< of a named workload; otherwise empty
  /// The program with the settings of a simulation.
  std::function<fairlead::simulate::SimulatedProgram(const fairlead::Config&)> program;
};
