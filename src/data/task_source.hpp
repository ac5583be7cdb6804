// Where tasks come from: a front end behind one small interface, so that nothing below knows which one made a
// task.
#pragma once
#include <span>

#include "base/event_chain.hpp"
#include "data/task.hpp"

namespace fairlead {

/// What a thread that completes tasks brings along: its own store of emptied descriptors.
class Recycler;

/// A front end as the runtime sees it. `completed` is called by any thread; everything else by the submitting
/// one.
class TaskSource {
 public:
  virtual ~TaskSource() = default;

  /// The tasks are over, and the engine has been told. Appends the tasks that became ready by that to
  /// `ready`.
  virtual void completed(std::span<Task* const> tasks, EventChain& ready, Recycler&) = 0;

  /// Makes up to `limit` more tasks that are ready from the start, appended to `ready`; fewer = there are no
  /// more now. Front ends that insert tasks as the program runs have none of their own.
  virtual std::size_t make_initial(std::size_t limit, EventChain& ready) {
    (void)limit;
    (void)ready;
    return 0;
  }

  std::uint32_t id = 0;    ///< in order of creation; names the source in logs
  bool cancelled = false;  ///< the engine's: its unstarted tasks complete without running
};

}  // namespace fairlead
