// The record of a task of a parameterized graph that has received some or all of its inputs: one or two cache lines.
// It is created when the first input arrives and recycled when the task finishes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "base/slab_arena.hpp"
#include "base/spin_lock.hpp"
#include "data/lazy_task.hpp"

namespace fairlead::ptg {

/// In place of a value's number: the value has not arrived, or the flow is a control.
inline constexpr std::uint32_t no_value = ~std::uint32_t{0};

/// The header of a record. Its parameters follow in memory, then the numbers of its values (see FlowValues), one per flow
/// with data.
struct TaskInstance : LazyTask {
  static constexpr std::size_t line_bytes = 64;

  TaskInstance* next = nullptr;  ///< in its bucket of PendingTasks, or in a free list
  std::uint64_t key = 0;         ///< the task's key, unique in the graph
  /// Inputs that have not arrived; guarded by the lock of its part of PendingTasks.
  std::int32_t missing_inputs = 0;
  std::uint16_t task_class = 0;
  std::uint8_t lines = 0;     ///< the size of the record in cache lines
  bool on_fast_path = false;  ///< takes the fast path; set when the task is handed out

  /// Slots for parameters and values that every record has.
  static constexpr std::size_t fixed_slots = 8;

  std::uint32_t* slots() noexcept { return reinterpret_cast<std::uint32_t*>(this + 1); }
  std::int32_t* parameters() noexcept { return reinterpret_cast<std::int32_t*>(this + 1); }
  const std::int32_t* parameters() const noexcept { return reinterpret_cast<const std::int32_t*>(this + 1); }
  std::uint32_t* values(std::size_t parameter_count) noexcept {
    return reinterpret_cast<std::uint32_t*>(this + 1) + parameter_count;
  }

  /// The number of cache lines of a record.
  static std::uint8_t lines_for(std::size_t parameters, std::size_t flows) noexcept {
    const std::size_t bytes = sizeof(TaskInstance) + 4 * (parameters + flows);
    return static_cast<std::uint8_t>((bytes + line_bytes - 1) / line_bytes);
  }
};
static_assert(sizeof(TaskInstance) + 4 * TaskInstance::fixed_slots == TaskInstance::line_bytes);

/// A pool of records with a free list per thread. Threads exchange surplus records in batches.
class TaskInstancePool {
 public:
  /// For threads 0 to `threads` - 1.
  explicit TaskInstancePool(std::size_t threads) : own_(threads) {}
  TaskInstancePool(const TaskInstancePool&) = delete;
  TaskInstancePool& operator=(const TaskInstancePool&) = delete;

  /// Takes a record from the list of this thread; only its `lines` is set.
  TaskInstance& take(std::size_t thread, std::uint8_t lines) {
    List& list = list_of(own_[thread], lines);
    if (list.first == nullptr) refill(list, lines);
    TaskInstance& task = *list.first;
    list.first = task.next;
    __builtin_prefetch(list.first, 1);  // the next record may have left the caches long ago
    --list.size;
    task.lines = lines;
    return task;
  }
  void give_back(std::size_t thread, TaskInstance& task) {
    List& list = list_of(own_[thread], task.lines);
    task.next = list.first;
    list.first = &task;
    if (++list.size >= 2 * batch) publish_batch(list, task.lines);
  }
  /// Call before the first take(): records may have up to `lines` cache lines.
  void expect(std::uint8_t lines);

 private:
  static constexpr std::size_t batch = 128;
  struct List {
    TaskInstance* first = nullptr;
    std::size_t size = 0;
  };
  struct alignas(64) Own {
    std::vector<List> by_lines;
  };
  static List& list_of(Own& own, std::uint8_t lines) noexcept { return own.by_lines[lines]; }
  void refill(List& list, std::uint8_t lines);
  void publish_batch(List& list, std::uint8_t lines);

  std::vector<Own> own_;
  std::mutex mutex_;  // guards the members below
  SlabArena slabs_;
  std::vector<std::vector<List>> shared_;  // full batches, by lines
};

/// Tasks that have received some of their inputs: a hash table by key, in parts with one lock each.
class PendingTasks {
 public:
  PendingTasks();
  PendingTasks(const PendingTasks&) = delete;
  PendingTasks& operator=(const PendingTasks&) = delete;

  /// Call while the table is empty. `alone`: a single thread uses it, so no locks are taken.
  void begin(bool alone) noexcept { single_thread_ = in_one_part_ = alone; }
  /// Several threads use the table from now on.
  void share() noexcept {
    if (single_thread_) single_thread_ = false;
  }

  /// Records that an input of the task has arrived. `make()` creates the record, with `name` and `wait` set, if this
  /// is the first input. `put(task)` runs under the lock. Returns the task if this was its last input, otherwise
  /// null.
  template <class Make, class Put>
  TaskInstance* arrived(std::uint64_t name, Make&& make, Put&& put) {
    const std::uint64_t hash = hash_of(name);
    Part& part = parts_[in_one_part_ ? 0 : (hash >> 32) % part_count];
    const Guard guard(single_thread_ ? nullptr : &part.lock);
    TaskInstance** at = &part.buckets[hash >> part.shift];
    while (*at != nullptr && (*at)->key != name) at = &(*at)->next;
    if (*at == nullptr) {
      TaskInstance& made = make();
      made.next = nullptr;
      put(made);
      if (--made.missing_inputs == 0) return &made;
      *at = &made;
      if (++part.size > part.buckets.size()) grow(part);
      return nullptr;
    }
    TaskInstance& task = **at;
    put(task);
    if (--task.missing_inputs != 0) return nullptr;
    *at = task.next;
    --part.size;
    return &task;
  }
  /// Prefetches, for a single thread, the bucket that arrived() reads; fetch_second() prefetches the first task in it
  /// and needs the bucket in the cache. Always inlined: GCC drops calls of functions that only prefetch.
  [[gnu::always_inline]] void fetch_first(std::uint64_t name) const noexcept {
    if (single_thread_) __builtin_prefetch(bucket_of(name));
  }
  [[gnu::always_inline]] void fetch_second(std::uint64_t name) const noexcept {
    if (single_thread_) __builtin_prefetch(*bucket_of(name));
  }
  /// Calls f(task) for each task, one part at a time under its lock.
  template <class F>
  void for_each(F&& f) const {
    for (const Part& part : parts_) {
      const Guard guard(single_thread_ ? nullptr : &part.lock);
      for (const TaskInstance* bucket : part.buckets)
        for (; bucket != nullptr; bucket = bucket->next) f(*bucket);
    }
  }
  /// Calls f(task) for each task and empties the table. No other thread may use it.
  template <class F>
  void clear(F&& f) {
    for (Part& part : parts_) {
      for (TaskInstance*& bucket : part.buckets)
        while (bucket != nullptr) {
          TaskInstance& task = *bucket;
          bucket = task.next;
          f(task);
        }
      part.size = 0;
    }
  }

 private:
  static constexpr std::size_t part_count = 64;
  static std::uint64_t hash_of(std::uint64_t name) noexcept { return name * 0x9e37'79b9'7f4a'7c15u; }
  struct alignas(64) Part {
    mutable SpinLock lock;  // guards the members below
    unsigned shift = 60;
    std::size_t size = 0;
    std::vector<TaskInstance*> buckets;
  };
  struct Guard {
    explicit Guard(SpinLock* of) noexcept : lock(of) {
      if (lock != nullptr) lock->lock();
    }
    ~Guard() {
      if (lock != nullptr) lock->unlock();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    SpinLock* lock;
  };
  static void grow(Part& part);
  /// For the single part that is used while one thread uses the table alone.
  TaskInstance* const* bucket_of(std::uint64_t name) const noexcept {
    return &parts_[0].buckets[hash_of(name) >> parts_[0].shift];
  }

  bool single_thread_ = false;
  bool in_one_part_ = false;  // all tasks are in parts_[0]; constant while the table is not empty
  std::vector<Part> parts_;
};

}  // namespace fairlead::ptg
