// A flow: tasks inserted in program order. Which may run at the same time follows from how they use their
// data.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <memory>
#include <source_location>

namespace fairlead {

/// One task of a flow, to be waited for by itself. Copies are of the same task; the flow may be gone.
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
  /// The same, and the task can be waited for by itself.
  template <class... P>
  [[nodiscard]] Future future(const Call<P...>& call,
                              std::source_location where = std::source_location::current()) {
    detail::Submission submission = call.submission();
    submission.file = where.file_name();
    submission.line = where.line();
    return insert_watched(submission, call.codelet());
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
  Future insert_watched(const detail::Submission& submission,
                        const std::shared_ptr<const CodeletInfo>& codelet);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace fairlead
