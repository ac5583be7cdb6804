// The default policy of a simulation: the one that a real run of the same program would choose.
#pragma once
#include <string>
#include <string_view>

#include "simulate/machine.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

/// The name for it, accepted wherever a policy is named.
inline constexpr std::string_view automatic = "auto";

/// The default policy of a real run of the program on that machine.
std::string default_policy_of(const Program& program, const SimulatedMachine& machine);
/// The default policy of each of several ranks on such machines.
std::string automatic_policy_of_ranks(const MachineConfig& use, const machine::MachineDescription& machine);
/// A description of a memory that cannot hold all data of the program; empty if each can.
std::string_view insufficient_memory(const Program& program, const SimulatedMachine& machine);

}  // namespace fairlead::simulate
