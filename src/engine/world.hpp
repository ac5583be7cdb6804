// The backend as the engine sees it: executes the engine's commands and wakes threads.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "base/device_memory.hpp"
#include "data/task.hpp"
#include "memory/replica.hpp"

namespace fairlead::engine {

/// The threads that should check for work.
struct WakeTarget {
  enum class Kind : std::uint8_t {
    worker,          // this worker
    any_worker,      // one that sleeps, unless an awake one will check
    any_cpu_worker,  // the same, among the workers on the host's memory node
    application,     // the thread that waits for the program
    all,             // all threads: the run has stopped
  };
  Kind kind = Kind::all;
  WorkerId id = no_id<WorkerId>;

  static constexpr WakeTarget worker(WorkerId id) noexcept { return {Kind::worker, id}; }
  static constexpr WakeTarget any_worker() noexcept { return {Kind::any_worker}; }
  static constexpr WakeTarget any_cpu_worker() noexcept { return {Kind::any_cpu_worker}; }
  static constexpr WakeTarget application() noexcept { return {Kind::application}; }
  static constexpr WakeTarget all() noexcept { return {Kind::all}; }
};

/// Executes the engine's commands. launch() and recall() are called under the engine's lock and only pass tasks on; the
/// others by the thread that entered, without the lock, unless stated otherwise.
class World {
 public:
  virtual ~World() = default;
  /// Passes the task to the worker, which runs it after those launched before.
  virtual void launch(WorkerId, Task&) = 0;
  /// Takes a staged task back if it has not started and posts `task_returned`; otherwise posts `recall_refused`.
  virtual void recall(WorkerId, Task&) = 0;
  /// The task is launched next, on the first of these workers; the others are reserved while it runs. Under the engine's
  /// lock.
  virtual void span_formed(Task&, std::span<const WorkerId>) {}
  /// These workers are no longer reserved. Under the engine's lock.
  virtual void span_released(std::span<const WorkerId>) {}

  virtual void start(memory::Copy&) = 0;
  /// Wakes these threads if they sleep: there is new work where they look for it. Any thread.
  virtual void wake(WakeTarget) noexcept = 0;
  /// The address of this place for bodies on its node; null if bodies there cannot use it. Any thread.
  virtual void* address_of(const memory::Location&) const noexcept { return nullptr; }
  /// Access to the node's memory for code other than its workers and links; null if there is none. Any thread, once the
  /// world has started.
  virtual DeviceMemory* device_memory(NodeId) const noexcept { return nullptr; }
  /// Whether the worker executes a body now. Any thread.
  virtual bool in_body(WorkerId) const noexcept { return false; }
};

/// Commands that the thread that entered the engine executes without the lock.
struct Commands {
  std::vector<memory::Copy*> copies;  ///< to start
  /// Tasks completed without running; their successors must be released.
  std::vector<Task*> completions;
  std::vector<WorkerId> launched;
  std::vector<Task*> granted;  ///< holds whose data are available
  bool stopped = false;        ///< the run has stopped: see Stop
  bool quiet = false;          ///< no progress is possible, and a thread waits for that

  bool empty() const noexcept {
    return copies.empty() && completions.empty() && launched.empty() && granted.empty() &&
           !(stopped || quiet);
  }
  void clear() noexcept {
    copies.clear();
    completions.clear();
    launched.clear();
    granted.clear();
    stopped = quiet = false;
  }
};

}  // namespace fairlead::engine
