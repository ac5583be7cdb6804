// Which policy a simulation takes where nobody names one: what a real run of the same program would take.
#pragma once
#include <string>
#include <string_view>

#include "simulate/machine.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

/// Stands for it wherever a policy is named.
inline constexpr std::string_view automatic = "auto";

/// What a real run of the program takes on that machine where nobody names a policy.
std::string automatic_policy(const Program& program, const SimulatedMachine& machine);
/// The same on each of several ranks on such machines.
std::string automatic_policy_of_ranks(const MachineUse& use, const machine::MachineDescription& machine);
/// The memory that does not hold all data of the program, for people; nothing if each does.
std::string_view too_small_for(const Program& program, const SimulatedMachine& machine);

}  // namespace fairlead::simulate
