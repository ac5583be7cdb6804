// A worker's queue of staged tasks: the engine puts tasks in at one end, under its lock; the worker takes them out at
// the other; the engine can recall one that was not taken.
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

  /// False if it is full. Release: the engine's writes to the task are visible to the worker.
  bool put(Task& task) noexcept {
    auto& slot = slots_[put_ % capacity];
    if (slot.load(std::memory_order_acquire) != nullptr) return false;
    slot.store(&task, std::memory_order_release);
    ++put_;
    return true;
  }
  /// True if the worker had not taken it; then it never will.
  bool take_back(Task& task) noexcept {
    for (std::size_t back = 1; back <= capacity; ++back) {
      auto& slot = slots_[(put_ - back) % capacity];
      Task* expected = &task;
      if (!slot.compare_exchange_strong(expected, mark())) continue;
      // Removes marks at the end, unless the worker has taken them.
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

  /// The next task; null: none at present.
  Task* take() noexcept {
    for (;;) {
      auto& slot = slots_[taken_ % capacity];
      if (slot.load(std::memory_order_relaxed) == nullptr) return nullptr;
      // acquire: the engine's writes to the task are visible.
      Task* task = slot.exchange(nullptr, std::memory_order_acq_rel);
      if (task == nullptr) return nullptr;  // it was a mark, removed in the meantime
      ++taken_;
      if (task != mark()) return task;
    }
  }
  bool empty() const noexcept { return slots_[taken_ % capacity].load(std::memory_order_acquire) == nullptr; }

 private:
  /// Replaces a recalled task. No task has this address.
  static Task* mark() noexcept { return reinterpret_cast<Task*>(std::uintptr_t{64}); }

  std::array<std::atomic<Task*>, capacity> slots_{};
  alignas(64) std::size_t put_ = 0;    // used by the engine
  alignas(64) std::size_t taken_ = 0;  // used by the worker
};

}  // namespace fairlead::backend
