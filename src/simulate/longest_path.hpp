// The longest path from each task to the end of its program: for priorities, and as a bound.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "simulate/machine.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

/// By task, in the program's order: what the tasks on the path weigh that weighs most, from this one to the end,
/// both counted. Changes that may come in any order count as if the program's order held.
std::vector<std::int64_t> longest_paths(const Program& program,
                                        const std::function<std::int64_t(const ProgramTask&)>& weight);

/// For programs that come without a formula: how many tasks are still to run one after the other.
void prioritize_by_longest_path(Program& program);

/// Bottom levels as Gonthier et al. 2023 have them, section 6.1: "the minimum time needed from the start of the
/// task to the completion of the whole graph, assuming unbounded resources", each task where it is fastest. By
/// task, as parts of the longest, so that they fit. All the same if the program's are: nothing is critical then.
std::vector<std::int32_t> priorities_by_time(const Program& program, const SimulatedMachine& machine);

}  // namespace fairlead::simulate
