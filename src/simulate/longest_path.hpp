// Priorities for programs that come without a formula for them: how many tasks are still to run one after
// the other.
#pragma once
#include "simulate/program.hpp"

namespace fairlead::simulate {

/// Sets the priority of each task to the number of tasks on the longest path from it to the end, itself
/// counted. Changes that may come in any order count as if the program's order held.
void prioritize_by_longest_path(Program& program);

}  // namespace fairlead::simulate
