// Processes tasks from last to first, so the successors of a task are complete.
#include "simulate/longest_path.hpp"

#include <algorithm>
#include <cmath>

namespace fairlead::simulate {

std::vector<std::int64_t> longest_paths(const Program& program,
                                        const std::function<std::int64_t(const ProgramTask&)>& weight) {
  /// The longest paths of later tasks that use a datum.
  struct Behind {
    std::int64_t readers = 0;  // those before the next writer
    std::int64_t writer = 0;
  };
  std::vector<Behind> behind(program.data.size());
  std::vector<std::int64_t> paths(program.tasks.size());
  std::vector<std::int64_t> after_task(program.predecessors.empty() ? 0 : program.tasks.size());
  std::size_t first = program.uses.size(), first_predecessor = program.predecessors.size();
  for (std::size_t t = program.tasks.size(); t-- > 0;) {
    const ProgramTask& task = program.tasks[t];
    first -= task.uses;
    const auto uses = std::span(program.uses).subspan(first, task.uses);
    std::int64_t after = after_task.empty() ? 0 : after_task[t];
    for (const ProgramUse& use : uses) {
      const Behind& datum = behind[static_cast<std::size_t>(use.datum)];
      after = std::max({after, datum.writer, writes(use.mode) ? datum.readers : 0});
    }
    paths[t] = after + weight(task);
    first_predecessor -= task.predecessors;
    for (const std::uint32_t before :
         std::span(program.predecessors).subspan(first_predecessor, task.predecessors))
      after_task[before] = std::max(after_task[before], paths[t]);
    for (const ProgramUse& use : uses) {
      Behind& datum = behind[static_cast<std::size_t>(use.datum)];
      if (writes(use.mode))
        datum = {.readers = 0, .writer = paths[t]};
      else
        datum.readers = std::max(datum.readers, paths[t]);
    }
  }
  return paths;
}

void prioritize_by_longest_path(Program& program) {
  const auto paths = longest_paths(program, [](const ProgramTask&) { return 1; });
  for (std::size_t t = 0; t < paths.size(); ++t)
    program.tasks[t].priority = static_cast<std::int32_t>(paths[t]);
}

std::vector<std::int32_t> priorities_by_time(const Program& program, const SimulatedMachine& machine) {
  std::vector<std::int32_t> priorities(program.tasks.size());
  const auto same = [&](const ProgramTask& task) { return task.priority == program.tasks.front().priority; };
  if (std::ranges::all_of(program.tasks, same)) return priorities;
  const auto paths =
      longest_paths(program, [&](const ProgramTask& task) { return machine.least_duration(task).count(); });
  constexpr double most = 1 << 30;
  const auto longest = static_cast<double>(*std::ranges::max_element(paths));
  for (std::size_t t = 0; t < paths.size(); ++t)
    priorities[t] = static_cast<std::int32_t>(std::lround(static_cast<double>(paths[t]) / longest * most));
  return priorities;
}

}  // namespace fairlead::simulate
