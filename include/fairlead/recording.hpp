// A recording: tasks whose order is found once, and that run as often as the program likes.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/source_line.hpp>

#include <cstddef>
#include <memory>

namespace fairlead {

/// What a flow spends on each task before it runs (checks, dependencies, a descriptor) is spent once here.
/// For programs that do the same to the same data again and again. Commutative tasks and reductions run in
/// the order in which they were recorded.
class Recording {
 public:
  explicit Recording(Runtime& runtime);
  Recording(Recording&&) noexcept = default;
  Recording& operator=(Recording&&) = delete;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  /// Adds a task; nothing runs yet. What it is given beside data stays as it is now. Throws as
  /// Flow::submit(); UsageError also for data that are split, and after the first run.
  template <class... P>
  void submit(const Call<P...>& call, SourceLine where = SourceLine::current()) {
    detail::Submission submission = call.submission();
    submission.file = where.file_name();
    submission.line = where.line();
    insert(submission, call.codelet());
  }
  /// Waits until all that was submitted to flows is over, runs the tasks once, and waits until they are over.
  /// Throws as Flow::wait(); UsageError if this thread holds data, or some that it uses are gone.
  void run();
  /// Tasks that have not started will not run, now or later; run() then says so. Any thread.
  void cancel();
  std::size_t tasks() const noexcept;

 private:
  class Implementation;
  void insert(const detail::Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace fairlead
