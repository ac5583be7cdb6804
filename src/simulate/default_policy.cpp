// Follows Runtime, which chooses when the program's data are registered.
#include "simulate/default_policy.hpp"

#include "base/pages.hpp"
#include "schedule/policies.hpp"

namespace fairlead::simulate {

std::string_view insufficient_memory(const Program& program, const SimulatedMachine& machine) {
  const Topology& topology = machine.topology();
  Bytes data = 0;
  for (const ProgramDatum& datum : program.data) data += whole_pages_for(datum.bytes);
  if (data > topology.nodes[index(topology.host())].capacity) return "RAM";
  return data > topology.smallest_device() ? "a device's memory" : "";
}

std::string default_policy_of(const Program& program, const SimulatedMachine& machine) {
  return std::string(schedule::default_policy(
      {.fits = insufficient_memory(program, machine).empty(), .devices = machine.devices() > 0}));
}

std::string automatic_policy_of_ranks(const MachineConfig& use, const machine::MachineDescription& machine) {
  return std::string(schedule::default_policy({.devices = uses_devices(use, machine),
                                               .several_ranks = true,
                                               .cores = use.cores.value_or(machine.cores)}));
}

}  // namespace fairlead::simulate
