// How a flow's tasks went: what failed and what was not run, for wait(); the tasks that somebody waits for by
// themselves, and the callbacks that are still to come.
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

/// Of the tasks that add a partial result to its datum.
const CodeletInfo& fold_codelet();

/// How a task went that somebody waits for by itself. Written once, before `over`.
struct WatchedTask {
  std::exception_ptr failure;
  bool cancelled = false;
  mutable std::atomic<bool> told{false};  // its end, to somebody
  std::string text;                       // what it was, if it did not succeed
  std::vector<DatumId> own_data;  // that it writes in the program's memory; where others might have them
  std::atomic<bool> over{false};
  std::function<void(std::exception_ptr)> on_done;
  std::string whose;             // for messages, if on_done throws
  std::mutex mutex;              // guards what follows
  std::vector<Task*> followers;  // start after it
  bool followed = false;         // they have been told
  bool elsewhere = false;        // it runs on another rank

  /// The task, which is counted as waiting, starts after this one. False if this one is over already.
  bool follow(Task& task) {
    const std::lock_guard guard(mutex);
    if (!followed) followers.push_back(&task);
    return !followed;
  }
  /// It is another rank's: there is nothing to wait for here.
  void pass_by() {
    const std::lock_guard guard(mutex);
    followed = true;
    elsewhere = true;
    over.store(true);
  }
  /// What on_done is given.
  std::exception_ptr outcome() const noexcept;

  /// Throws TaskError if the task failed or was not run.
  void rethrow() const;
};

/// What a flow still has to be told by callbacks. They may outlive the flow.
struct FlowCallbacks {
  std::atomic<std::size_t> open{0};
  std::mutex mutex;  // guards what follows
  std::exception_ptr failure;
  std::string whose;

  /// Calls f(); what it throws is told by the flow's wait().
  template <class F>
  void call(F&& f, const std::string& of) noexcept {
    try {
      f();
    } catch (...) {
      const std::lock_guard guard(mutex);
      if (failure != nullptr) return;
      failure = std::current_exception();
      try {
        whose = of;
      } catch (const std::bad_alloc&) {
        whose.clear();
      }
    }
  }
};

class FlowOutcome {
 public:
  explicit FlowOutcome(engine::RuntimeCore& core) : core_(core) {}

  /// Whether all that is over has succeeded, or was not run. Any thread.
  bool none_failed() {
    const std::lock_guard guard(mutex_);
    return failed_ == 0;
  }

  // ---- the submitter's

  /// Before the task is inserted, so that whoever completes it sees that.
  void watch(TaskId task, const std::shared_ptr<WatchedTask>& watched);
  /// What failed, and how much more; else what a callback threw; nothing if nothing did. Forgets it.
  std::string take(std::exception_ptr& cause);
  /// Of a flow that ends: what wait() would have thrown.
  void say_what_nobody_heard() noexcept;
  const std::shared_ptr<FlowCallbacks>& callbacks() const noexcept { return callbacks_; }

  // ---- any thread's

  /// The task is over. Tells who watches it; those that only waited for it are appended to `ready`.
  void over(const Task& task, EventChain& ready) {
    if (task.failure != nullptr || task.cancelled) note_failure(task);
    if (watched_count_.load(std::memory_order_relaxed) != 0) tell(task, ready);
  }
  /// The task failed, or was not run.
  void note_failure(const Task& task);
  /// So many more were not run.
  void note_not_run(std::uint64_t tasks) {
    const std::lock_guard guard(mutex_);
    cancelled_ += tasks;
  }
  /// How it went that did not succeed, in words.
  std::string text_of_end(const Task& task) const;

 private:
  void tell(const Task& task, EventChain& ready);
  std::string text_of(const Task& task) const;
  /// What it reads that has no value; empty if its flow was cancelled.
  std::string text_of_missing_input(const Task& task) const;
  std::string take_failure(std::exception_ptr& cause);
  std::string take_callback_failure(std::exception_ptr& cause);

  engine::RuntimeCore& core_;
  const std::shared_ptr<FlowCallbacks> callbacks_ = std::make_shared<FlowCallbacks>();
  std::atomic<std::size_t> watched_count_{0};  // size of watched_
  std::mutex mutex_;                           // guards what follows
  std::exception_ptr failure_;
  std::string failed_task_;
  std::shared_ptr<const WatchedTask> failed_watched_;  // the same task, if somebody else may hear of it
  std::string earlier_failure_;  // the first that was taken: later tasks may lack what it was to write
  std::string first_skipped_;    // why the first of these was not run
  std::uint64_t failed_ = 0, cancelled_ = 0;
  bool unfolded_ = false;  // the flow was cancelled before a reduction's result was put together
  std::unordered_map<TaskId, std::shared_ptr<WatchedTask>> watched_;
};

/// Throws a TaskError of this text that nests the cause.
[[noreturn]] void throw_nesting(const std::exception_ptr& cause, const std::string& text);

}  // namespace fairlead::front
