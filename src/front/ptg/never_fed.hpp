// Which tasks of a graph can never start: those with an input from a task that there is not, or from one that gives what it has to
// others only. The classes alone tell, so it is asked only when nothing moves any more.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "front/ptg/active_task.hpp"
#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

class Placement;

/// A task that waits, by its class and the numbers of its indices.
struct WaitingTask {
  std::uint32_t task_class = 0;
  Numbers numbers{};
};

/// Of tasks some of whose inputs have come, while nothing moves: those that do not only wait for others of them. Where one
/// edge is missing, thousands may wait for the task at its end. A limited number.
std::vector<WaitingTask> first_to_wait(const ClassTable& table, const PartlySatisfied& partly);

/// Some of them, a line each that names the task, the edge and where that is said; for small graphs also the circles in which
/// tasks wait for each other. Empty if nothing was found in a second or two. `placement`: over ranks, else null. `first`: those that
/// are looked at before all others.
std::string never_fed(const ClassTable& table, const Placement* placement,
                      const std::vector<WaitingTask>& first = {});

/// Both ends of the edges of tasks of each class, drawn at random, so many at most, those at the ends of its ranges among them: a
/// line for each of the first few mistakes.
struct Sampled {
  std::uint64_t tasks = 0, edges = 0;
  std::size_t errors = 0;
  std::string text{};
};
Sampled sampled_ends(const ClassTable& table, std::uint64_t tasks_of_a_class);

}  // namespace fairlead::ptg
