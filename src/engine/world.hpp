// A backend as the engine sees it: what is done with the engine's commands, and who has to be woken.
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

/// Who is to look whether there is something to do.
struct Who {
  enum class Kind : std::uint8_t {
    worker,       // this one
    any_worker,   // one that sleeps, unless somebody is awake who will look
    a_core,       // likewise, beside the host's memory
    application,  // the thread that waits for the program
    everybody,    // the run cannot go on
  };
  Kind kind = Kind::everybody;
  WorkerId id = no_id<WorkerId>;

  static constexpr Who worker(WorkerId id) noexcept { return {Kind::worker, id}; }
  static constexpr Who any_worker() noexcept { return {Kind::any_worker}; }
  static constexpr Who a_core() noexcept { return {Kind::a_core}; }
  static constexpr Who application() noexcept { return {Kind::application}; }
  static constexpr Who everybody() noexcept { return {Kind::everybody}; }
};

/// What the engine's commands do. The first two are called under the engine's lock and only hand tasks over;
/// the others by whoever entered, after it let go of the lock.
class World {
 public:
  virtual ~World() = default;
  /// The task is the worker's; it runs after those handed over before.
  virtual void launch(WorkerId, Task&) = 0;
  /// Takes a staged task back if it has not started: then posts `task_returned`, else `recall_refused`.
  virtual void recall(WorkerId, Task&) = 0;
  /// The task is launched next, on the first of these workers; the others have nothing to do and get nothing
  /// while it runs. Under the engine's lock.
  virtual void gathered(Task&, std::span<const WorkerId>) {}
  /// They do not stand aside any more. Under the engine's lock.
  virtual void dissolved(std::span<const WorkerId>) {}

  virtual void start(memory::Copy&) = 0;
  /// Something was put where they find it: whoever of them sleeps has to be woken. Any thread.
  virtual void wake(Who) noexcept = 0;
  /// What bodies beside the node call that place; null if none could find it. Any thread.
  virtual void* address_of(const memory::Location&) const noexcept { return nullptr; }
  /// By which others than its workers and wires write the node's memory; null if they cannot. Any thread, once the world has begun.
  virtual DeviceMemory* device_memory(NodeId) const noexcept { return nullptr; }
  /// The worker executes a body at this moment. Any thread.
  virtual bool in_body(WorkerId) const noexcept { return false; }
};

/// What is to be done outside the lock, by the thread that entered.
struct Commands {
  std::vector<memory::Copy*> copies;  ///< to start
  /// Tasks that are over without running; their successors are to be released.
  std::vector<Task*> completions;
  std::vector<WorkerId> launched;
  std::vector<Task*> granted;  ///< holds that have their data
  bool stopped = false;        ///< the run cannot go on: see Stop
  bool quiet = false;          ///< nothing moves, and somebody wanted to know

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
