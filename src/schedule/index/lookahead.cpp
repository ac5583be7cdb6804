// Keeps the graph of unfinished tasks, from what is submitted and what finishes.
#include "schedule/index/lookahead.hpp"

#include <algorithm>

namespace fairlead::schedule {

void Lookahead::wait_for(AheadTask& later, AheadTask* earlier) {
  if (earlier == nullptr || earlier == &later) return;
  earlier->successors.push_back(&later);
  ++later.blockers;
  if (earlier->planned) ++later.promised;  // planned before its successor was submitted
}

AheadTask& Lookahead::submitted(Task& task) {
  const auto id = static_cast<std::uint64_t>(task.id);
  if (tasks_.empty()) first_ = id;
  while (first_ + tasks_.size() <= id) tasks_.emplace_back();
  AheadTask& ahead = tasks_[id - first_];
  ahead.task = &task;
  for (const Access& access : task.accesses()) {
    if (index(access.datum) >= data_.size())
      data_.resize(std::max(index(access.datum) + 1, data_.size() * 2));
    Datum& datum = data_[index(access.datum)];
    const std::uint32_t before =
        writes(access.mode) ? std::max(datum.written_at, datum.read_at) : datum.written_at;
    ahead.depth = std::max(ahead.depth, before + 1);
    if (!writes(access.mode)) {
      wait_for(ahead, datum.writer);
      datum.readers.push_back(task.id);
      ++datum.unfinished;
      continue;
    }
    for (std::size_t i = datum.since_write; i < datum.readers.size(); ++i)
      wait_for(ahead, find(datum.readers[i]));
    datum.since_write = datum.readers.size();
    const bool is_tile = ahead.tile == no_id<DatumId>;
    if (is_tile) {
      ahead.tile = access.datum;
      ahead.chain_index = datum.writers;
    }
    ++datum.writers;
    if (is_tile && datum.writer != nullptr && datum.writer->tile == access.datum) {
      ahead.previous = datum.writer;
      datum.writer->next = &ahead;
    } else {
      wait_for(ahead, datum.writer);
      datum.first = &ahead;
    }
    datum.writer = &ahead;
  }
  for (const Access& access : task.accesses()) {
    Datum& datum = data_[index(access.datum)];
    if (!writes(access.mode)) {
      datum.read_at = std::max(datum.read_at, ahead.depth);
    } else {
      datum.written_at = ahead.depth;
      datum.read_at = 0;
    }
  }
  return ahead;
}

// Only when most of them are finished, so that it costs little per task.
void Lookahead::forget_finished(Datum& datum) {
  if (datum.readers.size() < 2 * datum.unfinished + 16) return;
  std::size_t kept = 0, kept_before = 0;
  for (std::size_t i = 0; i < datum.readers.size(); ++i) {
    if (i == datum.since_write) kept_before = kept;
    if (find(datum.readers[i]) != nullptr) datum.readers[kept++] = datum.readers[i];
  }
  datum.since_write = datum.since_write >= datum.readers.size() ? kept : kept_before;
  datum.readers.resize(kept);
}

void Lookahead::finished(const Task& task, std::vector<AheadTask*>& unlocked) {
  unlocked.clear();
  AheadTask* ahead = find(task.id);
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
  for (AheadTask* later : ahead->successors) {
    if (ahead->planned) --later->promised;
    if (--later->blockers == 0) unlocked.push_back(later);
  }
  *ahead = {};
  for (const Access& access : task.accesses()) forget_finished(data_[index(access.datum)]);
  while (!tasks_.empty() && tasks_.front().task == nullptr) {
    tasks_.pop_front();
    ++first_;
  }
}

}  // namespace fairlead::schedule
