// One task, to be waited for by itself, or to be followed by others.
#pragma once
#include <memory>

namespace fairlead {

/// Made by Flow::future. Copies are of the same task; the flow may be gone.
class Future {
 public:
  /// The task is over, with or without success. Any thread may ask.
  bool done() const noexcept;
  /// Works until the task is over: by the runtime's thread, outside of bodies. Throws TaskError, nesting what
  /// the task threw, if it failed, or if it was not run because an input was missing or its flow was
  /// cancelled. Flow::wait() tells of it all the same.
  void wait() const;

 private:
  friend class Flow;
  struct State;
  explicit Future(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace fairlead
