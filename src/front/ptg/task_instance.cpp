// The pool of task records, and the hash table of pending tasks.
#include "front/ptg/task_instance.hpp"

namespace fairlead::ptg {

void TaskInstancePool::expect(std::uint8_t lines) {
  for (Own& own : own_)
    if (own.by_lines.size() <= lines) own.by_lines.resize(lines + std::size_t{1});
  const std::lock_guard guard(mutex_);
  if (shared_.size() <= lines) shared_.resize(lines + std::size_t{1});
}

void TaskInstancePool::refill(List& list, std::uint8_t lines) {
  const std::lock_guard guard(mutex_);
  std::vector<List>& batches = shared_[lines];
  if (!batches.empty()) {
    list = batches.back();
    batches.pop_back();
    return;
  }
  const std::size_t bytes = lines * TaskInstance::line_bytes;
  auto* const memory = static_cast<std::byte*>(slabs_.take(batch * bytes, TaskInstance::line_bytes));
  for (std::size_t i = batch; i-- > 0;) {
    auto* const task = new (memory + i * bytes) TaskInstance;
    task->next = list.first;
    list.first = task;
  }
  list.size = batch;
}

void TaskInstancePool::publish_batch(List& list, std::uint8_t lines) {
  List half{list.first, batch};
  TaskInstance* last = list.first;
  for (std::size_t i = 1; i < batch; ++i) last = last->next;
  list.first = last->next;
  list.size -= batch;
  last->next = nullptr;
  const std::lock_guard guard(mutex_);
  shared_[lines].push_back(half);
}

PendingTasks::PendingTasks() : parts_(part_count) {
  for (Part& part : parts_) part.buckets.resize(std::size_t{1} << (64 - part.shift));
}

void PendingTasks::grow(Part& part) {
  std::vector<TaskInstance*> larger(2 * part.buckets.size());
  const unsigned shift = part.shift - 1;
  for (TaskInstance* bucket : part.buckets)
    while (bucket != nullptr) {
      TaskInstance* const task = bucket;
      bucket = task->next;
      TaskInstance*& into = larger[hash_of(task->key) >> shift];
      task->next = into;
      into = task;
    }
  part.buckets.swap(larger);
  part.shift = shift;
}

}  // namespace fairlead::ptg
