// The footprint of a task: with its codelet, the key of its duration in the models.
#pragma once
#include "data/task.hpp"
#include "memory/memory.hpp"
#include "model/footprint.hpp"

namespace fairlead::engine {

inline model::Footprint footprint_of(const Task& task, const memory::Memory& memory) {
  model::Footprint result;
  for (const Access& access : task.accesses()) result.add(memory.datum(access.datum).bytes);
  result.add_work(task.work);
  if (task.workers_wanted != 0) result.add_workers(task.workers_wanted);
  return result;
}

}  // namespace fairlead::engine
