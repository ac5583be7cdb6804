// How far submission runs ahead of what is done. Two limits: the setting `window`, at which the submitter works
// until half of it is done; and a nearer one, at which it works as long as there is something to do. The
// farther it runs ahead, the more can be planned and run side by side, and the farther have descriptors left the
// caches when their tasks run: with one worker, where nothing is side by side, that is all that it brings.
#pragma once
#include <cstdint>

#include "engine/counted_source.hpp"

namespace fairlead::front {

/// The submitting thread's.
class SubmissionWindow {
 public:
  explicit SubmissionWindow(engine::RuntimeCore& core);

  /// After a task was submitted. True if the submitter has worked: what stopped the run is to be thrown.
  bool after(engine::CountedSource& source) { return source.submitted() >= next_look_ && look(source); }

  /// When it was last full, its tasks waited for what the application holds. To be asked before a task is
  /// submitted: it is to be tried again then, and if that does not help, to be told.
  bool held_up() const noexcept { return held_up_; }
  void try_again(engine::CountedSource& source) { held_up_ = full(source) && !wait_until_half_done(source); }
  [[noreturn]] void throw_held_up(const engine::CountedSource& source) const;

 private:
  bool look(engine::CountedSource& source);
  bool everything_fits();
  bool full(const engine::CountedSource& source) const noexcept {
    return source.submitted() - source.done() >= core_.window();
  }
  bool wait_until_half_done(engine::CountedSource& source) {
    return source.wait_until_done(source.submitted() - core_.window() / 2);
  }

  engine::RuntimeCore& core_;
  const std::uint64_t near_;     // unfinished tasks; 0: there is no nearer limit
  std::uint64_t next_look_ = 0;  // so many may be submitted before it looks how many are done
  bool held_up_ = false;
};

}  // namespace fairlead::front
