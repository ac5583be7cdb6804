// From the last task to the first: what follows a task is known when its turn comes.
#include "simulate/longest_path.hpp"

#include <algorithm>

namespace fairlead::simulate {

void prioritize_by_longest_path(Program& program) {
  /// Of the tasks behind the one at hand that use a datum: longest paths.
  struct Behind {
    std::int32_t readers = 0;  // those before the next writer
    std::int32_t writer = 0;
  };
  std::vector<Behind> behind(program.data.size());
  std::size_t first = program.uses.size();
  for (std::size_t t = program.tasks.size(); t-- > 0;) {
    ProgramTask& task = program.tasks[t];
    first -= task.uses;
    const auto uses = std::span(program.uses).subspan(first, task.uses);
    std::int32_t after = 0;
    for (const ProgramUse& use : uses) {
      const Behind& datum = behind[static_cast<std::size_t>(use.datum)];
      after = std::max({after, datum.writer, writes(use.mode) ? datum.readers : 0});
    }
    task.priority = after + 1;
    for (const ProgramUse& use : uses) {
      Behind& datum = behind[static_cast<std::size_t>(use.datum)];
      if (writes(use.mode))
        datum = {.readers = 0, .writer = task.priority};
      else
        datum.readers = std::max(datum.readers, task.priority);
    }
  }
}

}  // namespace fairlead::simulate
