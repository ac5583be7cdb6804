// The same program, machine and policy for real: on emulated accelerators, with bytes that move and tasks
// that sleep for as long as the machine's description says. What a simulation says can be compared with it.
#pragma once
#include <string>

#include "simulate/machine.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

struct EmulatedRun {
  double seconds = 0;  ///< from the end of submission until the results are back in memory
  Bytes bytes_to_devices = 0, bytes_from_devices = 0, bytes_between_devices = 0;
};

/// Only what emulated accelerators can be: the program's data in memory, wires whose directions share their
/// bandwidth, no buses, equal processors of one task at a time; and tasks that read up to two data and update
/// one. Else throws ConfigError. The first task sleeps until all have been submitted, as in simulations.
/// `pipeline_depth`: 0 chooses it.
EmulatedRun run_emulated(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                         std::size_t pipeline_depth);

}  // namespace fairlead::simulate
