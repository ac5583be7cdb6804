// The end of a task whose body returns before the work is done: the body hands this token to whoever finishes
// it.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <exception>
#include <memory>

namespace fairlead {

/// The first parameter of an asynchronous body. Signal it once, from any thread; the task's data stay where
/// they are until then. If all copies of it vanish without a signal, the task fails.
class Completion {
 public:
  explicit Completion(const TaskContext& context);
  /// The work is done.
  void done() const;
  /// The work failed.
  void fail(std::exception_ptr cause) const;

  /// The library's: the body is over, and threw this if it is not null.
  void body_returned(std::exception_ptr thrown) const;
  /// The same in a handler. True if it is no exception but the thread's end, which has to go on.
  bool body_threw() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fairlead
