// A worker's pipeline: the tasks picked for it and not finished. Some wait for memory, some for copies, some
// are staged: they start as soon as the worker gets there.
#pragma once
#include <array>
#include <cstddef>

#include "data/task.hpp"

namespace fairlead::engine {

struct Pipeline {
  static constexpr std::size_t capacity = 32;

  std::array<Task*, capacity> tasks{};  // in the order in which they were picked
  std::uint8_t size = 0;
  std::uint8_t unadmitted = 0;  ///< of these, in state picked
  std::uint8_t staged = 0;      ///< of these, in state staged
  std::uint8_t recalls = 0;     ///< asked back, no answer yet
  bool present = false;         ///< the worker takes tasks
  bool lost_to_data = false;    ///< why it became idle
  Time idle_since{};
  Duration busy{}, waiting_for_data{}, waiting_for_tasks{};
  std::uint64_t tasks_run = 0;

  void push(Task& task) noexcept { tasks[size++] = &task; }
  void remove(const Task& task) noexcept {
    std::size_t i = 0;
    while (tasks[i] != &task) ++i;
    for (--size; i < size; ++i) tasks[i] = tasks[i + 1];
  }
};

}  // namespace fairlead::engine
