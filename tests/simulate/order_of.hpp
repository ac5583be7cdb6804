// The order of the tasks of a program, with short names for tests.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

/// "A1,0": where a datum stands in its collection.
inline std::string name_of(const Program& program, DatumIndex datum) {
  const ProgramDatum& d = program.data[static_cast<std::size_t>(datum)];
  return fmt::format("{}{},{}", program.collections[static_cast<std::size_t>(d.collection)], d.row, d.column);
}

/// The direct predecessors of each task, by its place in the program.
inline std::vector<std::set<std::size_t>> predecessors(const Program& program) {
  struct Last {
    std::vector<std::size_t> writer, readers;  // none or one writer, and the readers of its value
  };
  std::vector<Last> last(program.data.size());
  std::vector<std::set<std::size_t>> before;
  program.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
    std::set<std::size_t> mine;
    const std::size_t task = before.size();
    for (const ProgramUse& use : uses) {
      Last& datum = last[static_cast<std::size_t>(use.datum)];
      const auto& awaited = writes(use.mode) && !datum.readers.empty() ? datum.readers : datum.writer;
      mine.insert(awaited.begin(), awaited.end());
    }
    for (const ProgramUse& use : uses) {
      Last& datum = last[static_cast<std::size_t>(use.datum)];
      if (writes(use.mode))
        datum = {.writer = {task}, .readers = {}};
      else
        datum.readers.push_back(task);
    }
    before.push_back(mine);
  });
  return before;
}

/// "tsqrt A0,0 A1,0 T1,0": kernel and written data; with ' behind it for each task of the same name before
/// it.
inline std::vector<std::string> names_of(const Program& program) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  program.for_each_task([&](const ProgramTask& task, std::span<const ProgramUse> uses) {
    std::string name = program.kernels[static_cast<std::size_t>(task.kernel)];
    for (const ProgramUse& use : uses)
      if (writes(use.mode)) name += " " + name_of(program, use.datum);
    while (!seen.insert(name).second) name += "'";
    names.push_back(name);
  });
  return names;
}

/// For each task by name: which ones it waits for.
inline std::map<std::string, std::set<std::string>> order_of(const Program& program) {
  std::map<std::string, std::set<std::string>> order;
  const auto names = names_of(program);
  const auto before = predecessors(program);
  for (std::size_t t = 0; t < names.size(); ++t)
    for (auto& mine = order[names[t]]; const std::size_t one : before[t]) mine.insert(names[one]);
  return order;
}

/// How many tasks each kernel has.
inline std::map<std::string, int> counts(const Program& program) {
  std::map<std::string, int> tasks;
  for (const ProgramTask& task : program.tasks)
    ++tasks[program.kernels[static_cast<std::size_t>(task.kernel)]];
  return tasks;
}

}  // namespace fairlead::simulate
