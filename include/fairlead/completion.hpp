// The completion token of an asynchronous task, whose body returns before the work is done. The body passes the token
// to the code that finishes the work.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <exception>
#include <memory>

namespace fairlead {

/// The first parameter of an asynchronous body. Signal it exactly once, from any thread; a second signal throws. The
/// task's data stay pinned until then. The task fails if all copies of the token are destroyed without a signal.
class Completion {
 public:
  explicit Completion(const TaskContext& context);
  /// Signals success.
  void done() const;
  /// Signals failure with this cause.
  void fail(std::exception_ptr cause) const;

  /// Internal: the body has returned, or has thrown `thrown` if it is not null.
  void body_returned(std::exception_ptr thrown) const;
  /// Internal: like body_returned(), called in an exception handler. Returns true if the unwinding comes from the end
  /// of the thread (pthread_exit or cancellation) and not from an exception; the handler must then rethrow.
  bool body_threw() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fairlead
