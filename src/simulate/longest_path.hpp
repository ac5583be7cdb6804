// The longest path from each task to the end of its program, for priorities and as a lower bound.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "simulate/machine.hpp"
#include "simulate/program.hpp"

namespace fairlead::simulate {

/// By task, in program order: the largest sum of weights on a path from this task to the end, both included.
/// Commutative accesses count as ordered by the program.
std::vector<std::int64_t> longest_paths(const Program& program,
                                        const std::function<std::int64_t(const ProgramTask&)>& weight);

/// Priorities for programs without a formula: the length of the longest path, in tasks.
void prioritize_by_longest_path(Program& program);

/// Bottom levels as in Gonthier et al. 2023, section 6.1: "the minimum time needed from the start of the task to the
/// completion of the whole graph, assuming unbounded resources", each task on its fastest worker. By task, scaled to
/// the range of priorities. All 0 if the program's priorities are equal: then no task is critical.
std::vector<std::int32_t> priorities_by_time(const Program& program, const SimulatedMachine& machine);

}  // namespace fairlead::simulate
