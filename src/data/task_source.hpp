// Where tasks come from: a front end behind one small interface, so that nothing below knows which one made a
// task.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/event_chain.hpp"
#include "data/task.hpp"

namespace fairlead {

/// What a thread that completes tasks brings along: its own store of emptied descriptors.
class Recycler;

/// A front end as the runtime sees it. `completed` and `granted` are called by any thread; everything else by
/// the submitting one.
class TaskSource {
 public:
  virtual ~TaskSource() = default;

  /// The tasks are over, and the engine has been told. Appends the tasks that became ready by that to
  /// `ready`.
  virtual void completed(std::span<Task* const> tasks, EventChain& ready, Recycler&) = 0;
  /// The same in two steps for tasks of the direct lane, of which the engine hears nothing: what became ready
  /// by one, and later that so many are over. Sources that have none need neither.
  virtual void release(Task&, EventChain& ready, Recycler&) { static_cast<void>(ready); }
  virtual void count(std::size_t tasks, Recycler&) { static_cast<void>(tasks); }

  /// The hold has its data: they are the application's until it is released.
  virtual void granted(Task& hold) { (void)hold; }

  std::uint32_t id = 0;  ///< in order of creation; names the source in logs
  /// Its unstarted tasks complete without running. Changed by the engine; workers look at it, too.
  std::atomic<bool> cancelled{false};
};

}  // namespace fairlead
