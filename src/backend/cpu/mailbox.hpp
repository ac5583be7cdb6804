// Where a worker finds its staged tasks: the engine puts them in at one end, under its lock, the worker takes
// them out at the other, and the engine may take one back that has not been taken.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "data/task.hpp"

namespace fairlead::backend {

class alignas(64) Mailbox {
 public:
  static constexpr std::size_t capacity = 64;  // staged tasks and marks of recalled ones; a pipeline holds 32

  // ---- the engine's side

  /// False if it is full. Release: the worker sees the task as the engine left it.
  bool put(Task& task) noexcept {
    auto& slot = slots_[put_ % capacity];
    if (slot.load(std::memory_order_acquire) != nullptr) return false;
    slot.store(&task, std::memory_order_release);
    ++put_;
    return true;
  }
  /// True if the worker had not taken it: then it never will.
  bool take_back(Task& task) noexcept {
    for (std::size_t back = 1; back <= capacity; ++back) {
      auto& slot = slots_[(put_ - back) % capacity];
      Task* expected = &task;
      if (!slot.compare_exchange_strong(expected, mark())) continue;
      // Marks at the end are taken out again, unless the worker has them already.
      for (Task* last = mark(); back == 1 && last == mark();) {
        if (!slots_[(put_ - 1) % capacity].compare_exchange_strong(last, nullptr)) break;
        --put_;
        last = slots_[(put_ - 1) % capacity].load();
      }
      return true;
    }
    return false;
  }

  // ---- the worker's side

  /// The next task, or null if there is none now.
  Task* take() noexcept {
    for (;;) {
      auto& slot = slots_[taken_ % capacity];
      if (slot.load(std::memory_order_relaxed) == nullptr) return nullptr;
      // acquire: sees the task as the engine left it.
      Task* task = slot.exchange(nullptr, std::memory_order_acq_rel);
      if (task == nullptr) return nullptr;  // a mark, taken out meanwhile
      ++taken_;
      if (task != mark()) return task;
    }
  }
  bool empty() const noexcept { return slots_[taken_ % capacity].load(std::memory_order_acquire) == nullptr; }

 private:
  /// Stands for a task that was taken back. No task has this address.
  static Task* mark() noexcept { return reinterpret_cast<Task*>(std::uintptr_t{64}); }

  std::array<std::atomic<Task*>, capacity> slots_{};
  alignas(64) std::size_t put_ = 0;    // the engine's
  alignas(64) std::size_t taken_ = 0;  // the worker's
};

}  // namespace fairlead::backend
