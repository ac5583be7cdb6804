// The consequences of a copy's end: tasks whose data are complete, new copies for readers of an old version,
// evictions, and retries (rules 3 to 6; coherence).
#pragma once
#include <exception>

#include "memory/evictor.hpp"
#include "memory/flushes.hpp"

namespace fairlead::memory {

class CopyCompletion {
 public:
  CopyCompletion(State& state, Coherence& coherence, Transfers& transfers, Evictor& evictor, Flushes& flushes)
      : state_(state), coherence_(coherence), transfers_(transfers), evictor_(evictor), flushes_(flushes) {}

  /// A started copy has ended.
  void landed(Copy& copy, bool succeeded, Effects& effects);
  /// The copy has not started, and one of its ends is lost. Tasks that wait for it get a copy from another valid
  /// replica, if one exists.
  void cancel(Copy& copy, Effects& effects);
  /// Fails the waiting tasks that read the copy's value, but not those that only wait for its end. They keep waiting
  /// until they are released, or until the copy ends if they work in homes.
  void fail_readers(Copy& copy, const std::exception_ptr& why, Effects& effects);

 private:
  /// The copy has ended, or never starts.
  void over(Copy& copy, Effects& effects);
  void arrived(Copy& copy, Effects& effects);
  void came_home(Copy& copy, Effects& effects);
  void failed(Copy& copy, Effects& effects);
  /// Retries the copy, from another valid replica if one exists.
  void try_again(Copy& copy, Effects& effects);
  /// Fails the tasks that need the copy's value; tasks that only waited until its source was read go on. True if a
  /// failed task should have read the value at home.
  bool fail_waiters(Copy& copy, Effects& effects);
  std::exception_ptr failure_of(const Copy& copy) const;
  static void fail(Task& task, const std::exception_ptr& why, Effects& effects);
  /// The task waits for one copy less.
  static void finish_wait(Task& task, Effects& effects);
  void serve_waiters(Copy& copy, Effects& effects);
  void retry_from_holder(Replica& replica, Copy& copy, Effects& effects);
  /// The replica has no value for the copies joined to it: they get another source.
  void reroute_readers(Replica& replica, Effects& effects);
  void settle_after(Replica& replica, DropReason unwanted);
  void left(Replica& replica);

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Evictor& evictor_;
  Flushes& flushes_;
};

}  // namespace fairlead::memory
