// A flow: tasks inserted in program order. Which may run at the same time follows from how they use their
// data.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <memory>
#include <source_location>

namespace fairlead {

class Flow {
 public:
  explicit Flow(Runtime& runtime);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  /// Waits for its tasks, except inside a body or in another thread. Failures that wait() has not told are
  /// lost.
  ~Flow();

  /// Inserts a task. It may run from now on; the caller helps while too many are unfinished. Throws
  /// FootprintError if no empty memory node could hold all it uses, UsageError if it reads what nothing has
  /// written, uses data of another runtime, or is called inside a body or by another thread than the
  /// runtime's.
  template <class... P>
  void submit(const Call<P...>& call, std::source_location where = std::source_location::current()) {
    detail::Submission submission = call.submission();
    submission.file = where.file_name();
    submission.line = where.line();
    insert(submission, call.codelet());
  }
  /// Works until all tasks are over. Throws TaskError for the first that failed, nesting its exception: the
  /// task, its data, where it was submitted, and how many others failed or were not run.
  void wait();
  /// Tasks that have not started will not run; wait() then says so. Any thread may call it.
  void cancel();

  std::uint64_t submitted() const noexcept;
  /// Tasks that are over; any thread may ask.
  std::uint64_t done() const noexcept;

 private:
  class Implementation;
  void insert(const detail::Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace fairlead
