// An epoch: one access to a datum that must be exclusive, or a group of accesses that may share it. The epochs of a
// datum follow each other in program order; when the last access of one is finished, the next starts.
#pragma once
#include <fairlead/access.hpp>

#include <atomic>
#include <cstdint>

#include "data/task.hpp"
#include "graph/pool.hpp"

namespace fairlead::graph {

struct Epoch {
  /// Unfinished accesses, plus one (the bias) while it is the datum's last epoch.
  std::atomic<std::int32_t> pending{0};
  AccessMode mode = AccessMode::read;  ///< used by the submitter only
  /// Accesses that wait for the epoch to start, newest first; afterwards `begun()`.
  std::atomic<Access*> waiters{nullptr};
  /// set before the bias is removed; read by the thread that finishes the last access
  Epoch* next = nullptr;
  /// The datum's address for tasks of the fast path; DatumState::address at their insertion.
  void* address = nullptr;

  /// The value of `waiters` once the epoch has started. No access has this address.
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
