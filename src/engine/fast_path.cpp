// The fast path: stealing, closing, descriptions of running bodies.
#include "engine/fast_path.hpp"

#include <algorithm>

namespace fairlead::engine {

FastPath::FastPath(std::size_t workers, std::size_t threads)
    : threads_(std::max(workers, threads)), single_worker_(workers == 1), scanned_queues_(workers) {}

/// A thread that is not a worker puts a task: workers now check all queues.
void FastPath::scan_all_queues() noexcept { scanned_queues_.store(threads_.size()); }

/// Sequentially consistent: a worker marks itself as inside, then reads the generation; close() precedes the read of
/// the mark. One of the two sees the other.
bool FastPath::is_drained() const noexcept {
  return generation_.load() == 0 &&
         std::ranges::none_of(threads_, [](const Slot& worker) { return worker.seen_inside.load(); });
}

bool FastPath::has_queued(std::size_t least) const noexcept {
  const bool urgent = some_urgent_.load();
  const std::size_t looked_at = scanned_queues_.load();
  for (std::size_t i = 0; i < looked_at; ++i) {
    if (threads_[i].ordinary.size() >= least) return true;
    if (urgent && !threads_[i].urgent.empty()) return true;
  }
  return false;
}

std::size_t FastPath::queued() const noexcept {
  std::size_t tasks = 0;
  for (const Slot& worker : threads_) tasks += worker.queued();
  return tasks;
}

LazyTask* FastPath::take(std::size_t worker, std::size_t least) noexcept {
  Slot& it = own(worker);
  const bool urgent = some_urgent_.load(std::memory_order_relaxed);
  if (urgent)
    if (LazyTask* const task = single_worker_ ? it.urgent.take_single_threaded() : it.urgent.take())
      return task;
  if (LazyTask* const task = single_worker_ ? it.ordinary.take_single_threaded() : it.ordinary.take())
    return task;
  if (urgent)
    if (LazyTask* const task = steal(worker, &Slot::urgent, 1)) return task;
  return steal(worker, &Slot::ordinary, least);
}

LazyTask* FastPath::steal(std::size_t worker, StealingQueue Slot::*from, std::size_t least) noexcept {
  Slot& it = own(worker);
  std::array<LazyTask*, StealingQueue::most_stolen> stolen;
  const std::size_t looked_at = scanned_queues_.load(std::memory_order_relaxed);
  for (std::size_t tried = 1; tried < looked_at; ++tried) {
    const std::size_t victim = (worker + it.next_victim + tried) % looked_at;
    StealingQueue& theirs = own(victim).*from;
    if (victim == worker || theirs.size() < least) continue;
    const std::size_t count = theirs.steal(stolen);
    if (count == 0) continue;
    // start with the same victim next time
    it.next_victim = (victim + looked_at - worker - 1) % looked_at;
    // the queue is empty, so there is space
    for (std::size_t i = 1; i < count; ++i) (it.*from).put(*stolen[i]);
    return stolen[0];
  }
  return nullptr;
}

std::uint64_t FastPath::tasks() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < threads_.size(); ++worker) sum += tasks(worker);
  return sum;
}

// Release, and acquire below: a reader of a new value also sees that the last body has ended.
void FastPath::begin_body(std::size_t worker, const Task& task) noexcept {
  Slot& it = own(worker);
  it.id.store(static_cast<std::uint64_t>(task.id), std::memory_order_release);
  it.codelet.store(task.codelet, std::memory_order_release);
  it.file.store(task.submitted_at.file, std::memory_order_release);
  it.line.store(task.submitted_at.line, std::memory_order_release);
  it.data_count.store(task.access_count, std::memory_order_release);
  for (std::size_t i = 0; i < std::min<std::size_t>(task.access_count, inline_accesses); ++i)
    it.data[i].store(task.accesses_begin[i].datum, std::memory_order_release);
  it.sequence.store(it.sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::optional<RunningBody> FastPath::body(std::size_t worker) const noexcept {
  const Slot& it = threads_[worker];
  const std::uint64_t turn = it.sequence.load(std::memory_order_acquire);
  if (turn % 2 == 0) return std::nullopt;
  RunningBody body;
  body.id = static_cast<TaskId>(it.id.load(std::memory_order_acquire));
  body.codelet = it.codelet.load(std::memory_order_acquire);
  body.submitted_at = {it.file.load(std::memory_order_acquire), it.line.load(std::memory_order_acquire)};
  body.data_count = it.data_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < inline_accesses; ++i) body.data[i] = it.data[i].load(std::memory_order_acquire);
  if (it.sequence.load(std::memory_order_acquire) != turn) return std::nullopt;
  return body;
}

}  // namespace fairlead::engine
