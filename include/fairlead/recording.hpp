// A recording: a list of tasks whose dependencies are analysed once, and that can run any number of times.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/source_line.hpp>

#include <cstddef>
#include <memory>

namespace fairlead {

/// Spends the cost of submission (checks, dependencies, descriptors) once, for programs that repeat the same tasks on
/// the same data. Commutative tasks and reductions run in the order in which they were recorded.
class Recording {
 public:
  explicit Recording(Runtime& runtime);
  Recording(Recording&&) noexcept = default;
  Recording& operator=(Recording&&) = delete;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  /// Adds a task; nothing runs yet. Arguments that are not data keep their current values in all runs. Throws as
  /// Flow::submit(); also throws UsageError for data that are split, and after the first run.
  template <class... P>
  void submit(const Call<P...>& call, SourceLine where = SourceLine::current()) {
    detail::Submission submission = call.submission();
    submission.file = where.file_name();
    submission.line = where.line();
    insert(submission, call.codelet());
  }
  /// Waits until all tasks submitted to flows are finished, runs the tasks once, and waits for them. Throws as
  /// Flow::wait(); also throws UsageError if this thread holds data, or if a datum that the recording uses has been
  /// removed.
  void run();
  /// Cancels tasks that have not started, in this and all later runs; run() then reports the cancellation. Thread-safe.
  void cancel();
  std::size_t tasks() const noexcept;

 private:
  class Implementation;
  void insert(const detail::Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace fairlead
