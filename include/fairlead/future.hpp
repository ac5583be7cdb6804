// A future refers to one submitted task: it can be waited for on its own, and other tasks can be ordered after it.
#pragma once
#include <memory>

namespace fairlead {

/// Made by Flow::future(). Copies refer to the same task. It may outlive its flow.
class Future {
 public:
  /// True if the task is finished, successfully or not. Thread-safe.
  bool done() const noexcept;
  /// Waits until the task is finished; the thread runs tasks in the meantime. Only for the runtime's thread, outside of
  /// bodies. Throws TaskError, with the cause nested, if the task failed, or if it did not run because an input was
  /// poisoned or its flow was cancelled. Flow::wait() reports the failure as well.
  void wait() const;

 private:
  friend class Flow;
  struct State;
  explicit Future(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace fairlead
