// A backend as the engine sees it: what is done with the engine's commands, and who has to be woken.
#pragma once
#include <fairlead/ids.hpp>

#include <span>
#include <vector>

#include "data/task.hpp"
#include "memory/replica.hpp"

namespace fairlead::engine {

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
  /// Tasks were handed to the worker: it must be woken if it sleeps.
  virtual void launched(WorkerId) = 0;
  /// The run cannot go on; whoever waits has to look. Any thread.
  virtual void stopped() noexcept = 0;
  /// The worker executes a body at this moment. Any thread.
  virtual bool in_body(WorkerId) const noexcept { return false; }
  /// Events were posted while somebody had the engine's lock who does not serve: a thread that sleeps has to
  /// look at them, unless one that does not will.
  virtual void posted_meanwhile() noexcept {}
  /// Nothing moves any more, which whoever waits wanted to hear of: see Engine::want_quiet.
  virtual void look_again() noexcept {}
  /// There is more in the direct lane than the thread that put it there will run at once.
  virtual void lane_filled() noexcept {}
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
