// Merges consecutive short tasks.
#include "report/html/blocks.hpp"

namespace fairlead::report::html {

using trace::TaskRecord;

std::vector<TaskBlock> blocks_of(std::span<const TaskRecord> tasks, Duration together) {
  std::vector<TaskBlock> blocks;
  bool open = false;
  for (const TaskRecord& task : tasks) {
    const bool small = task.duration() < together;
    if (open && small && task.end() - blocks.back().start <= together && task.start() >= blocks.back().end) {
      TaskBlock& block = blocks.back();
      block.end = task.end();
      block.busy += task.duration();
      ++block.count;
      if (task.duration() > block.longest->duration()) block.longest = &task;
      continue;
    }
    blocks.push_back({task.start(), task.end(), task.duration(), 1, &task});
    open = small;
  }
  return blocks;
}

}  // namespace fairlead::report::html
