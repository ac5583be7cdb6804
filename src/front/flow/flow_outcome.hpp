// The outcome of a flow's tasks: failures and tasks that were not run, for wait(); the outcome of single tasks that
// have a future or a callback; and the callbacks that have not returned.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/event_chain.hpp"
#include "data/task.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::front {

/// The codelet of tasks that combine a partial result of a reduction with its datum.
const CodeletInfo& fold_codelet();

/// The outcome of a task with a future or a callback. The thread that finishes the task writes it, before `over`.
struct ObservedTask {
  std::exception_ptr failure;
  bool cancelled = false;
  mutable std::atomic<bool> reported{false};  // the outcome was reported to a caller or to on_done
  std::string text;                           // describes the task, if it did not succeed
  std::vector<DatumId> own_data;              // written in the program's memory, if refresh is needed there
  std::atomic<bool> finished{false};
  std::function<void(std::exception_ptr)> on_done;
  std::string description;          // describes the task for messages, if on_done throws
  std::mutex mutex;                 // guards the fields below
  std::vector<Task*> followers;     // tasks that start after this one
  bool followers_notified = false;  // `followers` have been notified
  bool elsewhere = false;           // runs on another rank

  /// Makes `task`, which already counts this dependency, start after this task. Returns false if this task has
  /// finished.
  bool follow(Task& task) {
    const std::lock_guard guard(mutex);
    if (!followers_notified) followers.push_back(&task);
    return !followers_notified;
  }
  /// Marks the task as another rank's: callers on this rank do not wait for it.
  void mark_remote() {
    const std::lock_guard guard(mutex);
    followers_notified = true;
    elsewhere = true;
    finished.store(true);
  }
  /// The argument of on_done.
  std::exception_ptr outcome() const noexcept;

  /// Throws TaskError if the task failed or did not run.
  void rethrow() const;
};

/// The callbacks of a flow that have not returned. They may outlive the flow.
struct FlowCallbacks {
  std::atomic<std::size_t> open{0};
  std::mutex mutex;  // guards the fields below
  std::exception_ptr failure;
  std::string description;

  /// Calls f(). The flow's wait() reports an exception from f().
  template <class F>
  void call(F&& f, const std::string& of) noexcept {
    try {
      f();
    } catch (...) {
      const std::lock_guard guard(mutex);
      if (failure != nullptr) return;
      failure = std::current_exception();
      try {
        description = of;
      } catch (const std::bad_alloc&) {
        description.clear();
      }
    }
  }
};

class FlowOutcome {
 public:
  explicit FlowOutcome(engine::RuntimeCore& core) : core_(core) {}

  /// Whether no finished task has failed; tasks that did not run do not count. Thread-safe.
  bool none_failed() {
    const std::lock_guard guard(mutex_);
    return failed_ == 0;
  }

  // ---- for the submitting thread

  /// Registers the task. Called before the task is inserted, so that the thread that finishes it finds `watched`.
  void watch(TaskId task, const std::shared_ptr<ObservedTask>& watched);
  /// The text of the first failure and the number of other failures; otherwise the text of a callback's exception;
  /// otherwise empty. Clears what it returns.
  std::string take(std::exception_ptr& cause);
  /// Called when a flow is destroyed: prints failures that no wait() has thrown.
  void print_unreported_failures() noexcept;
  const std::shared_ptr<FlowCallbacks>& callbacks() const noexcept { return callbacks_; }

  // ---- for any thread

  /// The task has finished: notifies its future and callback. Appends tasks that waited only for this one to `ready`.
  void task_finished(const Task& task, EventChain& ready) {
    if (task.failure != nullptr || task.cancelled) note_failure(task);
    if (watched_count_.load(std::memory_order_relaxed) != 0) notify(task, ready);
  }
  /// Counts a task that failed or did not run.
  void note_failure(const Task& task);
  /// Counts `tasks` more tasks that did not run.
  void note_not_run(std::uint64_t tasks) {
    const std::lock_guard guard(mutex_);
    cancelled_ += tasks;
  }
  /// The text of an outcome other than success.
  std::string text_of_end(const Task& task) const;

 private:
  void notify(const Task& task, EventChain& ready);
  std::string text_of(const Task& task) const;
  /// The text naming the missing inputs of a task that did not run; empty if its flow was cancelled.
  std::string text_of_missing_input(const Task& task) const;
  std::string take_failure(std::exception_ptr& cause);
  std::string take_callback_failure(std::exception_ptr& cause);

  engine::RuntimeCore& core_;
  const std::shared_ptr<FlowCallbacks> callbacks_ = std::make_shared<FlowCallbacks>();
  std::atomic<std::size_t> watched_count_{0};  // size of watched_
  std::mutex mutex_;                           // guards the fields below
  std::exception_ptr failure_;
  std::string failed_task_;
  std::shared_ptr<const ObservedTask> failed_watched_;  // of the same task, if it is watched
  std::string earlier_failure_;  // text of the first failure that was taken: later tasks may lack its results
  std::string first_skipped_;    // why the first task that did not run was skipped
  std::uint64_t failed_ = 0, cancelled_ = 0;
  bool unfolded_ = false;  // the flow was cancelled before the partial results of a reduction were combined
  std::unordered_map<TaskId, std::shared_ptr<ObservedTask>> watched_;
};

/// Throws a TaskError with this text that nests `cause`.
[[noreturn]] void throw_nesting(const std::exception_ptr& cause, const std::string& text);

}  // namespace fairlead::front
