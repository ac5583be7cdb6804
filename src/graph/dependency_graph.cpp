// Insertion and completion of tasks by epochs. Both are short because every access is in exactly one epoch, and an
// epoch refers only to the next one.
#include "graph/dependency_graph.hpp"

#include <new>

#include "data/ready.hpp"

namespace fairlead {

void Recycler::recycle(Task& task) noexcept {
  if (task.accesses_begin != task.inline_access.data()) delete[] task.accesses_begin;
  task.accesses_begin = nullptr;
  if (task.failure != nullptr) [[unlikely]]
    task.failure = nullptr;
  task_chain_.push(&task);
  if (task_chain_.size >= batch) tasks_->give_back(task_chain_);
}

namespace graph {

AccessMode merged(AccessMode first, AccessMode second) noexcept {
  return first == second ? first : AccessMode::read_write;
}

Task* DependencyGraph::make_task(std::size_t access_count, const TaskTraits& traits) {
  Task* task = tasks_.take();
  prepare(*task, access_count <= inline_accesses ? task->inline_access.data() : new Access[access_count],
          access_count, traits);
  return task;
}

void DependencyGraph::prepare(Task& task, Access* accesses, std::size_t access_count,
                              const TaskTraits& traits) noexcept {
  static_cast<TaskTraits&>(task) = traits;
  task.begin(static_cast<TaskId>(next_id_++), accesses, access_count);
}

const Task* DependencyGraph::waiting_behind(const Access& unfinished) noexcept {
  const Epoch* next = unfinished.epoch->next;
  if (next == nullptr) return nullptr;
  const Access* waiter = next->waiters.load(std::memory_order_acquire);
  if (waiter == nullptr || waiter == Epoch::begun()) return nullptr;
  while (waiter->next_waiter != nullptr) waiter = waiter->next_waiter;  // the first one
  return waiter->task;
}

DependencyGraph::~DependencyGraph() {
  tasks_.for_each([](Task& task) {
    if (task.accesses_begin != task.inline_access.data()) delete[] task.accesses_begin;
  });
}

void DependencyGraph::discard(Task& task) noexcept {
  Recycler recycler(tasks_, epochs_);
  recycler.recycle(task);
}

bool DependencyGraph::insert(Task& task, std::span<const Insertion> accesses, std::int32_t held_back) {
  // Starts at the number of accesses plus 1, so the task cannot become ready during its insertion. Relaxed: no other
  // thread sees the task before it is pushed on a list of waiters, which releases.
  task.wait.store(static_cast<std::int32_t>(accesses.size()) + 1 + held_back, std::memory_order_relaxed);
  std::int32_t satisfied = 1;
  // other threads can reach the task when its last access is inserted
  bool others_know_it = held_back != 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    if (i + 1 == accesses.size()) {
      // If no other thread can reach the task yet, the thread that satisfies the last access makes it ready: no bias is
      // needed.
      others_know_it |= satisfied != static_cast<std::int32_t>(i) + 1;
      if (!others_know_it) task.wait.store(1, std::memory_order_relaxed);
    }
    const Insertion& insertion = accesses[i];
    Access& access = task.accesses_begin[i];
    access.task = &task;
    // A policy that was notified of the task may be reading these fields: do not write equal values.
    if (access.datum != insertion.datum) access.datum = insertion.datum;
    if (access.mode != insertion.mode) access.mode = insertion.mode;
    access.next_waiter = nullptr;
    access.partials = insertion.partials;
    access.partial = 0;
    access.is_packed_copy = insertion.tail->packed;
    access.fresh = false;
    Epoch* last = insertion.tail->last;
    void* const address = insertion.tail->address;
    if (last != nullptr && last->mode == insertion.mode && may_share(insertion.mode)) {
      // Join the group. Relaxed: the bias keeps the count above 0, so no thread acts on this change.
      last->pending.fetch_add(1, std::memory_order_relaxed);
      access.epoch = last;
      // The address changes only while no task of the fast path reads it.
      if (last->address != address) last->address = address;
      // acquire on failure and on begun(): the effects of earlier accesses must be visible to a task that starts at
      // once.
      Access* head = last->waiters.load(std::memory_order_acquire);
      for (;;) {
        if (head == Epoch::begun()) {
          ++satisfied;
          break;
        }
        access.next_waiter = head;
        if (last->waiters.compare_exchange_weak(head, &access, std::memory_order_release,
                                                std::memory_order_acquire))
          break;
      }
    } else if (last != nullptr && last->pending.load(std::memory_order_acquire) == 1) {
      // Only the bias is left: all its accesses are finished, and no thread will read it again. Reuse the epoch.
      last->mode = insertion.mode;
      last->address = address;
      last->pending.store(2, std::memory_order_relaxed);
      access.epoch = last;
      ++satisfied;
    } else {
      Epoch* epoch = epochs_.take();
      epoch->mode = insertion.mode;
      epoch->address = address;
      epoch->pending.store(2, std::memory_order_relaxed);
      epoch->next = nullptr;
      access.epoch = epoch;
      insertion.tail->last = epoch;
      if (last == nullptr) {
        epoch->waiters.store(Epoch::begun(), std::memory_order_relaxed);
        ++satisfied;
      } else {
        epoch->waiters.store(&access, std::memory_order_relaxed);
        last->next = epoch;
        // acq_rel: publishes `next` and the waiter to the thread that finishes the last access. If that is this thread,
        // it sees all earlier writes.
        if (last->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) {
          epoch->waiters.store(Epoch::begun(), std::memory_order_relaxed);
          PoolLink<Epoch>::set(*last, nullptr);
          PoolChain<Epoch> chain;
          chain.push(last);
          epochs_.give_back(chain);
          ++satisfied;
        }
      }
    }
  }
  if (!others_know_it) return satisfied == static_cast<std::int32_t>(accesses.size()) + 1;
  return task.wait.fetch_sub(satisfied, std::memory_order_acq_rel) == satisfied;
}

void DependencyGraph::complete(Task& task, EventChain& ready, Recycler& recycler) {
  for (Access& access : task.accesses()) {
    Epoch* epoch = access.epoch;
    // 1 also means that the bias is gone: no thread will change the count any more.
    if (!was_last(epoch->pending)) continue;
    Epoch* next = epoch->next;
    recycler.recycle(*epoch);
    // acq_rel: sees the waiting tasks; later accesses, which find begun(), see what the finished tasks wrote.
    Access* waiter = next->waiters.exchange(Epoch::begun(), std::memory_order_acq_rel);
    Access* in_order = nullptr;
    while (waiter != nullptr) {
      Access* following = waiter->next_waiter;
      waiter->next_waiter = in_order;
      in_order = waiter;
      waiter = following;
    }
    while (in_order != nullptr) {
      Access* current = in_order;
      in_order = current->next_waiter;  // before the decrement: afterwards the access may be reused
      Task& successor = *current->task;
      if (was_last(successor.wait)) append_ready(successor, task, ready);
    }
  }
}

void DependencyGraph::forget(DatumState& tail, Recycler& recycler) {
  if (tail.last == nullptr) return;
  recycler.recycle(*tail.last);
  tail.last = nullptr;
}

}  // namespace graph
}  // namespace fairlead
