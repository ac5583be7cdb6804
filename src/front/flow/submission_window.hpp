// Limits how far submission runs ahead of execution. Two limits apply. At the setting `window`, the submitting thread
// runs tasks until half of the window has finished. At a nearer limit it runs tasks only while some are runnable. A
// larger distance allows more planning and parallelism, but task descriptors leave the caches before their tasks run.
// With one worker there is no parallelism, so the nearer limit applies there.
#pragma once
#include <cstdint>

#include "engine/counted_source.hpp"

namespace fairlead::front {

/// Used by the submitting thread only.
class SubmissionWindow {
 public:
  explicit SubmissionWindow(engine::RuntimeCore& core);

  /// Call after a task was submitted. Returns true if the thread ran tasks: the caller then checks whether the run
  /// stopped.
  bool after(engine::CountedSource& source) { return source.submitted() >= next_look_ && check(source); }

  /// Whether the window was full and its tasks waited for data that the program holds. Check before each submission: if
  /// true, call try_again(), and throw_held_up() if that does not help.
  bool is_blocked() const noexcept { return held_up_; }
  void try_again(engine::CountedSource& source) { held_up_ = full(source) && !wait_until_half_done(source); }
  [[noreturn]] void throw_held_up(const engine::CountedSource& source) const;

 private:
  bool check(engine::CountedSource& source);
  bool everything_fits();
  bool full(const engine::CountedSource& source) const noexcept {
    return source.submitted() - source.done() >= core_.window();
  }
  bool wait_until_half_done(engine::CountedSource& source) {
    return source.wait_until_done(source.submitted() - core_.window() / 2);
  }

  engine::RuntimeCore& core_;
  const std::uint64_t near_;     // limit of unfinished tasks; 0: no nearer limit
  std::uint64_t next_look_ = 0;  // number of submitted tasks at which the finished ones are counted again
  bool held_up_ = false;
};

}  // namespace fairlead::front
