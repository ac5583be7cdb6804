// An epoch is one turn on a datum: a single access that must be alone, or a group of accesses that may share.
// The epochs of a datum follow each other in program order; when the last access of one is finished, the next
// begins.
#pragma once
#include <fairlead/access.hpp>

#include <atomic>
#include <cstdint>

#include "data/task.hpp"
#include "graph/pool.hpp"

namespace fairlead::graph {

struct Epoch {
  /// Accesses not finished, and one more while it is the datum's last epoch.
  std::atomic<std::int32_t> pending{0};
  AccessMode mode = AccessMode::read;  ///< the submitter's
  /// Accesses that wait for it to begin, newest first; then `begun()`.
  std::atomic<Access*> waiters{nullptr};
  Epoch* next = nullptr;  ///< set before the bias is taken away, read by the last to finish
  /// Where tasks of the direct lane find the datum; DatumTail's when they were inserted.
  void* address = nullptr;

  /// The value of `waiters` once the epoch has begun. No access has this address.
  static Access* begun() noexcept { return reinterpret_cast<Access*>(std::uintptr_t{1}); }
};

template <>
struct PoolLink<Epoch> {
  static Epoch* get(Epoch& epoch) noexcept { return epoch.next; }
  static void set(Epoch& epoch, Epoch* next) noexcept { epoch.next = next; }
};

template <>
struct PoolLink<Task> {
  static Task* get(Task& task) noexcept { return static_cast<Task*>(task.next); }
  static void set(Task& task, Task* next) noexcept { task.next = next; }
};

}  // namespace fairlead::graph
