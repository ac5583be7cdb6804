// See direct_lane.hpp.
#include "engine/direct_lane.hpp"

#include <algorithm>

namespace fairlead::engine {

DirectLane::DirectLane(std::size_t workers, std::size_t threads)
    : threads_(std::max(workers, threads)), alone_(workers == 1), looked_at_(workers) {}

/// Somebody else than a worker puts something in.
void DirectLane::look_at_all() noexcept { looked_at_.store(threads_.size()); }

/// Sequentially consistent: a worker says that it is inside and then reads the generation; we have closed and
/// then look whether it is inside. One of the two sees the other.
bool DirectLane::left() const noexcept {
  return generation_.load() == 0 &&
         std::ranges::none_of(threads_, [](const Own& worker) { return worker.seen_inside.load(); });
}

bool DirectLane::something_queued(std::size_t least) const noexcept {
  const bool urgent = some_urgent_.load();
  const std::size_t looked_at = looked_at_.load();
  for (std::size_t i = 0; i < looked_at; ++i) {
    if (threads_[i].ordinary.size() >= least) return true;
    if (urgent && !threads_[i].urgent.empty()) return true;
  }
  return false;
}

std::size_t DirectLane::queued() const noexcept {
  std::size_t tasks = 0;
  for (const Own& worker : threads_) tasks += worker.queued();
  return tasks;
}

LazyTask* DirectLane::take(std::size_t worker, std::size_t least) noexcept {
  Own& it = own(worker);
  const bool urgent = some_urgent_.load(std::memory_order_relaxed);
  if (urgent)
    if (LazyTask* const task = alone_ ? it.urgent.take_alone() : it.urgent.take()) return task;
  if (LazyTask* const task = alone_ ? it.ordinary.take_alone() : it.ordinary.take()) return task;
  if (urgent)
    if (LazyTask* const task = steal(worker, &Own::urgent, 1)) return task;
  return steal(worker, &Own::ordinary, least);
}

LazyTask* DirectLane::steal(std::size_t worker, LaneQueue Own::*from, std::size_t least) noexcept {
  Own& it = own(worker);
  std::array<LazyTask*, LaneQueue::most_stolen> stolen;
  const std::size_t looked_at = looked_at_.load(std::memory_order_relaxed);
  for (std::size_t tried = 1; tried < looked_at; ++tried) {
    const std::size_t victim = (worker + it.next_victim + tried) % looked_at;
    LaneQueue& theirs = own(victim).*from;
    if (victim == worker || theirs.size() < least) continue;
    const std::size_t count = theirs.steal(stolen);
    if (count == 0) continue;
    it.next_victim = (victim + looked_at - worker - 1) % looked_at;      // there again
    for (std::size_t i = 1; i < count; ++i) (it.*from).put(*stolen[i]);  // it is empty: there is room
    return stolen[0];
  }
  return nullptr;
}

std::uint64_t DirectLane::tasks() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < threads_.size(); ++worker) sum += tasks(worker);
  return sum;
}

// Release, and acquire below: who reads one of the new values sees that the body before is over.
void DirectLane::begin_body(std::size_t worker, const Task& task) noexcept {
  Own& it = own(worker);
  it.id.store(static_cast<std::uint64_t>(task.id), std::memory_order_release);
  it.codelet.store(task.codelet, std::memory_order_release);
  it.file.store(task.submitted_at.file, std::memory_order_release);
  it.line.store(task.submitted_at.line, std::memory_order_release);
  it.data_count.store(task.access_count, std::memory_order_release);
  for (std::size_t i = 0; i < std::min<std::size_t>(task.access_count, inline_accesses); ++i)
    it.data[i].store(task.accesses_begin[i].datum, std::memory_order_release);
  it.turn.store(it.turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::optional<LaneBody> DirectLane::body(std::size_t worker) const noexcept {
  const Own& it = threads_[worker];
  const std::uint64_t turn = it.turn.load(std::memory_order_acquire);
  if (turn % 2 == 0) return std::nullopt;
  LaneBody body;
  body.id = static_cast<TaskId>(it.id.load(std::memory_order_acquire));
  body.codelet = it.codelet.load(std::memory_order_acquire);
  body.submitted_at = {it.file.load(std::memory_order_acquire), it.line.load(std::memory_order_acquire)};
  body.data_count = it.data_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < inline_accesses; ++i) body.data[i] = it.data[i].load(std::memory_order_acquire);
  if (it.turn.load(std::memory_order_acquire) != turn) return std::nullopt;
  return body;
}

}  // namespace fairlead::engine
