// Maintains the graph of unfinished tasks, from submissions and completions.
#include "schedule/index/task_graph_window.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::schedule {

void TaskGraphWindow::wait_for(WindowTask& later, WindowTask* earlier) {
  if (earlier == nullptr || earlier == &later) return;
  earlier->successors.push_back(&later);
  ++later.blockers;
  if (earlier->planned) ++later.planned_blockers;  // planned before its successor was submitted
}

/// Counts of earlier programs do not apply to the current one. In an earlier program a tile may have been written more
/// often than its neighbour, or a policy that took over may have seen only a part of it; updates that share an input
/// would then be far apart in a plan.
TaskGraphWindow::Datum& TaskGraphWindow::datum(DatumId id) {
  if (index(id) >= data_.size()) data_.resize(std::max(index(id) + 1, data_.size() * 2));
  Datum& datum = data_[index(id)];
  if (std::exchange(datum.program, program_) != program_)
    datum.writers = datum.written_at = datum.read_at = 0;
  return datum;
}

WindowTask& TaskGraphWindow::submitted(Task& task) {
  const auto id = static_cast<std::uint64_t>(task.id);
  closed_ = false;
  if (tasks_.empty()) first_ = id;
  while (first_ + tasks_.size() <= id) tasks_.emplace_back();
  WindowTask& ahead = tasks_[id - first_];
  ahead.task = &task;
  for (const Access& access : task.accesses()) {
    Datum& used = datum(access.datum);
    const std::uint32_t before =
        writes(access.mode) ? std::max(used.written_at, used.read_at) : used.written_at;
    ahead.depth = std::max(ahead.depth, before + 1);
    if (!writes(access.mode)) {
      wait_for(ahead, used.writer);
      used.readers.push_back(task.id);
      ++used.unfinished;
      continue;
    }
    for (std::size_t i = used.since_write; i < used.readers.size(); ++i)
      wait_for(ahead, find(used.readers[i]));
    used.since_write = used.readers.size();
    const bool is_tile = ahead.tile == no_id<DatumId>;
    if (is_tile) {
      ahead.tile = access.datum;
      ahead.chain_index = used.writers;
    }
    ++used.writers;
    if (is_tile && used.writer != nullptr && used.writer->tile == access.datum) {
      ahead.previous = used.writer;
      used.writer->next = &ahead;
    } else {
      wait_for(ahead, used.writer);
      used.first = &ahead;
    }
    used.writer = &ahead;
  }
  for (const Access& access : task.accesses()) {
    Datum& used = data_[index(access.datum)];
    if (!writes(access.mode)) {
      used.read_at = std::max(used.read_at, ahead.depth);
    } else {
      used.written_at = ahead.depth;
      used.read_at = 0;
    }
  }
  return ahead;
}

// Runs only when most readers have finished, so that its cost per task is small.
void TaskGraphWindow::forget_finished(Datum& datum) {
  if (datum.readers.size() < 2 * datum.unfinished + 16) return;
  std::size_t kept = 0, kept_before = 0;
  for (std::size_t i = 0; i < datum.readers.size(); ++i) {
    if (i == datum.since_write) kept_before = kept;
    if (find(datum.readers[i]) != nullptr) datum.readers[kept++] = datum.readers[i];
  }
  datum.since_write = datum.since_write >= datum.readers.size() ? kept : kept_before;
  datum.readers.resize(kept);
}

void TaskGraphWindow::finished(const Task& task, std::vector<WindowTask*>& unlocked) {
  unlocked.clear();
  WindowTask* ahead = find(task.id);
  if (ahead == nullptr) return;
  for (const Access& access : task.accesses()) {
    Datum& datum = data_[index(access.datum)];
    if (!writes(access.mode)) {
      --datum.unfinished;
    } else {
      const bool is_tile = ahead->tile == access.datum;
      if (datum.writer == ahead) datum.writer = is_tile ? ahead->previous : nullptr;
      if (datum.first == ahead) datum.first = is_tile ? ahead->next : nullptr;
    }
  }
  // Usually the first of its chain; commutative updates may finish in another order.
  if (ahead->next != nullptr) ahead->next->previous = ahead->previous;
  if (ahead->previous != nullptr) ahead->previous->next = ahead->next;
  for (WindowTask* later : ahead->successors) {
    if (ahead->planned) --later->planned_blockers;
    if (--later->blockers == 0) unlocked.push_back(later);
  }
  *ahead = {};
  for (const Access& access : task.accesses()) forget_finished(data_[index(access.datum)]);
  while (!tasks_.empty() && tasks_.front().task == nullptr) {
    tasks_.pop_front();
    ++first_;
  }
  if (tasks_.empty() && std::exchange(closed_, false)) ++program_;
}

}  // namespace fairlead::schedule
