// See active_task.hpp.
#include "front/ptg/active_task.hpp"

namespace fairlead::ptg {

void ActiveTasks::expect(std::uint8_t lines) {
  for (Own& own : own_)
    if (own.by_lines.size() <= lines) own.by_lines.resize(lines + std::size_t{1});
  const std::lock_guard guard(mutex_);
  if (shared_.size() <= lines) shared_.resize(lines + std::size_t{1});
}

void ActiveTasks::refill(List& list, std::uint8_t lines) {
  const std::lock_guard guard(mutex_);
  std::vector<List>& batches = shared_[lines];
  if (!batches.empty()) {
    list = batches.back();
    batches.pop_back();
    return;
  }
  const std::size_t bytes = lines * ActiveTask::line_bytes;
  auto* const memory = static_cast<std::byte*>(slabs_.take(batch * bytes, ActiveTask::line_bytes));
  for (std::size_t i = batch; i-- > 0;) {
    auto* const task = new (memory + i * bytes) ActiveTask;
    task->next = list.first;
    list.first = task;
  }
  list.size = batch;
}

void ActiveTasks::share(List& list, std::uint8_t lines) {
  List half{list.first, batch};
  ActiveTask* last = list.first;
  for (std::size_t i = 1; i < batch; ++i) last = last->next;
  list.first = last->next;
  list.size -= batch;
  last->next = nullptr;
  const std::lock_guard guard(mutex_);
  shared_[lines].push_back(half);
}

PartlySatisfied::PartlySatisfied() : parts_(part_count) {
  for (Part& part : parts_) part.buckets.resize(std::size_t{1} << (64 - part.shift));
}

void PartlySatisfied::grow(Part& part) {
  std::vector<ActiveTask*> larger(2 * part.buckets.size());
  const unsigned shift = part.shift - 1;
  for (ActiveTask* bucket : part.buckets)
    while (bucket != nullptr) {
      ActiveTask* const task = bucket;
      bucket = task->next;
      ActiveTask*& into = larger[hash_of(task->name) >> shift];
      task->next = into;
      into = task;
    }
  part.buckets.swap(larger);
  part.shift = shift;
}

}  // namespace fairlead::ptg
