// Runs the same program, machine and policy on emulated accelerators: bytes are copied, and tasks sleep for the time in
// the machine file. Used to validate simulations.
#pragma once
#include <string>

#include "simulate/machine.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

struct EmulatedRun {
  double seconds = 0;  ///< from the end of submission until the results are back in memory
  Bytes bytes_to_devices = 0, bytes_from_devices = 0, bytes_between_devices = 0;
};

/// Supports only what emulated accelerators can do: the program's data in memory, links with one bandwidth for both
/// directions, no buses, equal processors with one task at a time, and tasks that read up to two data and update one.
/// Throws ConfigError otherwise. As in simulations, the first task waits until all are submitted. `pipeline_depth`: 0
/// chooses it.
EmulatedRun run_emulated(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                         std::size_t pipeline_depth);

}  // namespace fairlead::simulate
