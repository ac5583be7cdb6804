// Unrolls a parameterized graph task by task, for checks of the whole graph.
#pragma once
#include "front/ptg/class_table.hpp"
#include "front/unrolled/task_graph.hpp"

namespace fairlead::ptg {

/// Every task with its inputs and outputs, as stated. Throws UsageError if there are more than `most` tasks.
unrolled::TaskGraph unrolled_graph(const ClassTable& table, std::uint64_t most);

}  // namespace fairlead::ptg
