// Diagnoses stalled graphs: finds tasks that can never start, because an input names a task that does not exist, or
// one that sends its value to other tasks only. Uses the class table only, so it runs just when the graph has
// stalled.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "front/ptg/class_table.hpp"
#include "front/ptg/task_instance.hpp"

namespace fairlead::ptg {

class RankPlacement;

/// A waiting task: its class and the values of its indices.
struct WaitingTask {
  std::uint32_t task_class = 0;
  Numbers numbers{};
};

/// The roots of a stall: pending tasks that do not merely wait for other pending tasks. One missing edge can block
/// thousands of tasks; returns at most 256.
std::vector<WaitingTask> stall_roots(const ClassTable& table, const PendingTasks& partly);

/// Describes some tasks that can never start, one per line: the task, the edge, and where it is stated. For small
/// graphs also dependency cycles. Empty if nothing is found within a second or two. `placement`: null unless there
/// are several ranks. `first`: tasks that are examined first.
std::string describe_stall(const ClassTable& table, const RankPlacement* placement,
                           const std::vector<WaitingTask>& first = {});

/// Result of sample_edges(): the number of tasks and edges checked, the number of errors, and a text with a line for
/// each of the first few.
struct EdgeSample {
  std::uint64_t tasks = 0, edges = 0;
  std::size_t errors = 0;
  std::string text{};
};
/// Checks both ends of the edges of randomly drawn tasks, at most `tasks_of_a_class` per class, including the ends of
/// the ranges.
EdgeSample sample_edges(const ClassTable& table, std::uint64_t tasks_of_a_class);

}  // namespace fairlead::ptg
