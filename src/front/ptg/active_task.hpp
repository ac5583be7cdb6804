// What there is of a task of a parameterized graph from the first of its inputs that has come to its end: one
// or two cache lines. Before and after that there is nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "base/short_lock.hpp"
#include "base/slabs.hpp"
#include "data/lazy_task.hpp"

namespace fairlead::ptg {

/// Of a value that has not come, and of a control's.
inline constexpr std::uint32_t no_value = ~std::uint32_t{0};

/// The beginning; its parameters follow, then the numbers of its values (see Values) by flow.
struct ActiveTask : LazyTask {
  static constexpr std::size_t line_bytes = 64;

  ActiveTask* next = nullptr;  ///< in its bucket, or among those that are not used
  std::uint64_t name = 0;      ///< in the graph
  std::int32_t wait = 0;       ///< inputs that have not come. Under the lock of its part of PartlySatisfied
  std::uint16_t task_class = 0;
  std::uint8_t lines = 0;
  bool passes = false;  ///< by the direct lane. Once it is handed out

  /// What every record has room for: parameters and values.
  static constexpr std::size_t fixed_slots = 8;

  std::uint32_t* slots() noexcept { return reinterpret_cast<std::uint32_t*>(this + 1); }
  std::int32_t* parameters() noexcept { return reinterpret_cast<std::int32_t*>(this + 1); }
  const std::int32_t* parameters() const noexcept { return reinterpret_cast<const std::int32_t*>(this + 1); }
  std::uint32_t* values(std::size_t parameter_count) noexcept {
    return reinterpret_cast<std::uint32_t*>(this + 1) + parameter_count;
  }

  static std::uint8_t lines_for(std::size_t parameters, std::size_t flows) noexcept {
    const std::size_t bytes = sizeof(ActiveTask) + 4 * (parameters + flows);
    return static_cast<std::uint8_t>((bytes + line_bytes - 1) / line_bytes);
  }
};
static_assert(sizeof(ActiveTask) + 4 * ActiveTask::fixed_slots == ActiveTask::line_bytes);

/// Where one thread takes them from and puts them back. What one has too many of, others get.
class ActiveTasks {
 public:
  /// For so many threads.
  explicit ActiveTasks(std::size_t threads) : own_(threads) {}
  ActiveTasks(const ActiveTasks&) = delete;
  ActiveTasks& operator=(const ActiveTasks&) = delete;

  ActiveTask& take(std::size_t thread, std::uint8_t lines) {
    List& list = list_of(own_[thread], lines);
    if (list.first == nullptr) refill(list, lines);
    ActiveTask& task = *list.first;
    list.first = task.next;
    __builtin_prefetch(list.first, 1);  // the next one to be taken may have been put back long ago
    --list.size;
    task.lines = lines;
    return task;
  }
  void give_back(std::size_t thread, ActiveTask& task) {
    List& list = list_of(own_[thread], task.lines);
    task.next = list.first;
    list.first = &task;
    if (++list.size >= 2 * batch) share(list, task.lines);
  }
  /// Before any is used: so many lines each at most.
  void expect(std::uint8_t lines);

 private:
  static constexpr std::size_t batch = 128;
  struct List {
    ActiveTask* first = nullptr;
    std::size_t size = 0;
  };
  struct alignas(64) Own {
    std::vector<List> by_lines;
  };
  static List& list_of(Own& own, std::uint8_t lines) noexcept { return own.by_lines[lines]; }
  void refill(List& list, std::uint8_t lines);
  void share(List& list, std::uint8_t lines);

  std::vector<Own> own_;
  std::mutex mutex_;  // guards what follows
  Slabs slabs_;
  std::vector<std::vector<List>> shared_;  // batches, by lines
};

/// The tasks some of whose inputs have come, by name: a table in parts, each with a lock.
class PartlySatisfied {
 public:
  PartlySatisfied();
  PartlySatisfied(const PartlySatisfied&) = delete;
  PartlySatisfied& operator=(const PartlySatisfied&) = delete;

  /// Before it is used: one thread alone will do so, or several.
  void begin(bool alone) noexcept { alone_ = in_one_part_ = alone; }
  /// Others do now, too.
  void share() noexcept {
    if (alone_) alone_ = false;
  }

  /// An input of the task has come. `make()`: the task, of which nothing had come; its `name` and `wait` are
  /// set. `put(task)`: what else has to be done under the lock. The task, if that was the last; else null.
  template <class Make, class Put>
  ActiveTask* arrived(std::uint64_t name, Make&& make, Put&& put) {
    const std::uint64_t hash = hash_of(name);
    Part& part = parts_[in_one_part_ ? 0 : (hash >> 32) % part_count];
    const Guard guard(alone_ ? nullptr : &part.lock);
    ActiveTask** at = &part.buckets[hash >> part.shift];
    while (*at != nullptr && (*at)->name != name) at = &(*at)->next;
    if (*at == nullptr) {
      ActiveTask& made = make();
      made.next = nullptr;
      put(made);
      if (--made.wait == 0) return &made;
      *at = &made;
      if (++part.size > part.buckets.size()) grow(part);
      return nullptr;
    }
    ActiveTask& task = **at;
    put(task);
    if (--task.wait != 0) return nullptr;
    *at = task.next;
    --part.size;
    return &task;
  }
  /// Has the processor fetch what arrived() will look at first for the name, and, once that was fetched, second: where one
  /// thread alone uses it. Inline: GCC drops calls of functions that do nothing else.
  [[gnu::always_inline]] void fetch_first(std::uint64_t name) const noexcept {
    if (alone_) __builtin_prefetch(bucket_of(name));
  }
  [[gnu::always_inline]] void fetch_second(std::uint64_t name) const noexcept {
    if (alone_) __builtin_prefetch(*bucket_of(name));
  }
  /// Calls f(task) for each, one part at a time under its lock.
  template <class F>
  void for_each(F&& f) const {
    for (const Part& part : parts_) {
      const Guard guard(alone_ ? nullptr : &part.lock);
      for (const ActiveTask* bucket : part.buckets)
        for (; bucket != nullptr; bucket = bucket->next) f(*bucket);
    }
  }
  /// While nobody uses it: calls f(task) for each, and forgets them.
  template <class F>
  void clear(F&& f) {
    for (Part& part : parts_) {
      for (ActiveTask*& bucket : part.buckets)
        while (bucket != nullptr) {
          ActiveTask& task = *bucket;
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
    mutable ShortLock lock;  // guards what follows
    unsigned shift = 60;
    std::size_t size = 0;
    std::vector<ActiveTask*> buckets;
  };
  struct Guard {
    explicit Guard(ShortLock* of) noexcept : lock(of) {
      if (lock != nullptr) lock->lock();
    }
    ~Guard() {
      if (lock != nullptr) lock->unlock();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ShortLock* lock;
  };
  static void grow(Part& part);
  /// Of the one part that there is while one thread alone uses it.
  ActiveTask* const* bucket_of(std::uint64_t name) const noexcept {
    return &parts_[0].buckets[hash_of(name) >> parts_[0].shift];
  }

  bool alone_ = false;
  bool in_one_part_ = false;  // fixed while there is something in it
  std::vector<Part> parts_;
};

}  // namespace fairlead::ptg
