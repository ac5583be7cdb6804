// A worker's pipeline: the unfinished tasks picked for it. Some wait for memory, some for copies; staged tasks start as
// soon as the worker is free.
#pragma once
#include <array>
#include <cstddef>

#include "data/task.hpp"

namespace fairlead::engine {

/// The worker's tasks in the order in which they were picked. Usually the first finishes and a new one is added last.
class PickedTasks {
 public:
  static constexpr std::size_t capacity = 32;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Task& operator[](std::size_t i) const noexcept { return *ring_[(first_ + i) % capacity]; }
  void push(Task& task) noexcept { ring_[(first_ + size_++) % capacity] = &task; }
  void remove(const Task& task) noexcept {
    std::size_t i = 0;
    while (&(*this)[i] != &task) ++i;
    --size_;
    if (i == 0) {
      first_ = (first_ + 1) % capacity;
      return;
    }
    for (; i < size_; ++i) ring_[(first_ + i) % capacity] = ring_[(first_ + i + 1) % capacity];
  }

 private:
  std::array<Task*, capacity> ring_{};
  std::size_t first_ = 0, size_ = 0;
};

struct Pipeline {
  PickedTasks tasks;
  std::uint8_t unadmitted = 0;  ///< tasks in state picked
  std::uint8_t staged = 0;      ///< tasks in state staged
  std::uint8_t recalls = 0;     ///< recalls without an answer
  bool present = false;         ///< the worker takes tasks
  bool ever_present = false;    ///< it has arrived; it may have left since
  bool lost = false;            ///< it has left for good
  /// How often it is reserved: by a task that spans several workers, and by a pause.
  std::uint8_t aside = 0;
  bool launched = false;      ///< tasks were launched since the engine was entered
  bool lost_to_data = false;  ///< it became idle waiting for data
  Time idle_since{};
  Duration fast_path_busy_before{};  ///< its time in fast-path tasks when it became idle
  Duration busy{}, waiting_for_data{}, waiting_for_tasks{};
  std::uint64_t tasks_run = 0;

  /// The position of the first task that is not admitted.
  std::size_t first_unadmitted() const noexcept {
    std::size_t i = tasks.size();
    for (std::size_t missing = unadmitted; missing > 0; --i)
      missing -= tasks[i - 1].state == TaskState::picked;
    return i;
  }
};

}  // namespace fairlead::engine
