// Keeps the graph of unfinished tasks, from what is submitted and what finishes.
#include "schedule/index/lookahead.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::schedule {

void Lookahead::wait_for(AheadTask& later, AheadTask* earlier) {
  if (earlier == nullptr || earlier == &later) return;
  earlier->successors.push_back(&later);
  ++later.blockers;
  if (earlier->planned) ++later.promised;  // planned before its successor was submitted
}

/// What was counted in earlier programs says nothing of this one. There a tile may have been written more often than its neighbour,
/// or less of that was seen, by a policy that took over; then updates that share an input would be apart in a plan.
Lookahead::Datum& Lookahead::datum(DatumId id) {
  if (index(id) >= data_.size()) data_.resize(std::max(index(id) + 1, data_.size() * 2));
  Datum& datum = data_[index(id)];
  if (std::exchange(datum.program, program_) != program_)
    datum.writers = datum.written_at = datum.read_at = 0;
  return datum;
}

AheadTask& Lookahead::submitted(Task& task) {
  const auto id = static_cast<std::uint64_t>(task.id);
  closed_ = false;
  if (tasks_.empty()) first_ = id;
  while (first_ + tasks_.size() <= id) tasks_.emplace_back();
  AheadTask& ahead = tasks_[id - first_];
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
  if (tasks_.empty() && std::exchange(closed_, false)) ++program_;
}

}  // namespace fairlead::schedule
