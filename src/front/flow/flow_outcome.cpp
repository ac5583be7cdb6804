// Failure texts, and notification of futures and callbacks. See flow_outcome.hpp.
#include "front/flow/flow_outcome.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/exception_text.hpp"
#include "data/ready.hpp"

namespace fairlead::front {

namespace {
constexpr std::size_t most_shown = 64;  // data of a task in a message

std::string failed(const std::string& task, const std::exception_ptr& cause) {
  return "the task " + task +
         " failed: " + exception_text(cause, "it threw something that is not a std::exception");
}
}  // namespace

void throw_nesting(const std::exception_ptr& cause, const std::string& text) {
  try {
    std::rethrow_exception(cause);
  } catch (...) {
    std::throw_with_nested(TaskError(text));
  }
}

void FlowOutcome::watch(TaskId task, const std::shared_ptr<ObservedTask>& watched) {
  const std::lock_guard guard(mutex_);
  watched_.emplace(task, watched);
  watched_count_.store(watched_.size());
}

std::string FlowOutcome::take(std::exception_ptr& cause) {
  std::string text = take_failure(cause);
  return text.empty() ? take_callback_failure(cause) : text;
}

std::string FlowOutcome::take_failure(std::exception_ptr& cause) {
  const std::lock_guard guard(mutex_);
  cause = std::exchange(failure_, nullptr);
  const auto others = std::exchange(failed_, 0), skipped = std::exchange(cancelled_, 0);
  const bool unfolded = std::exchange(unfolded_, false);
  const std::string first_skipped = std::exchange(first_skipped_, {});
  if (cause == nullptr) {
    if (skipped != 0) {
      std::string text = skipped == 1 ? std::string("1 task was cancelled before it ran")
                                      : fmt::format("{} tasks were cancelled before they ran", skipped);
      if (!first_skipped.empty()) text += "\n  " + first_skipped;
      if (!first_skipped.empty() && !earlier_failure_.empty()) text += "\n  Earlier, " + earlier_failure_;
      return text;
    }
    // All tasks of the program ran, but the result of a reduction may be missing.
    return unfolded
               ? "the flow was cancelled before the partial results of a reduction were put together: its "
                 "result is missing"
               : "";
  }
  std::string text = failed(failed_task_, cause);
  if (earlier_failure_.empty()) earlier_failure_ = text;
  if (others > 1) text += fmt::format("\n  {} more task{} failed", others - 1, others == 2 ? "" : "s");
  if (skipped > 0)
    text += skipped == 1 ? std::string("\n  1 task that needed its results was not run")
                         : fmt::format("\n  {} tasks that needed its results were not run", skipped);
  return text;
}

std::string FlowOutcome::take_callback_failure(std::exception_ptr& cause) {
  const std::lock_guard guard(callbacks_->mutex);
  cause = std::exchange(callbacks_->failure, nullptr);
  if (cause == nullptr) return {};
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return "the callback of " + callbacks_->description + " threw: " + exception_text(error);
  } catch (...) {
    return "the callback of " + callbacks_->description + " threw something that is not a std::exception";
  }
}

void FlowOutcome::print_unreported_failures() noexcept {
  if (!core_.surroundings().show_message || !core_.caller().same_process()) return;
  try {
    std::exception_ptr cause;
    const bool heard = failed_watched_ != nullptr && failed_watched_->reported.load();
    const std::string failure = take_failure(cause);
    if (cause != nullptr && !heard)
      core_.surroundings().show_message("a flow ended without a wait(): " + failure + "\n");
    const std::string callback = take_callback_failure(cause);
    if (cause != nullptr)
      core_.surroundings().show_message("a flow ended without a wait(): " + callback + "\n");
  } catch (...) {
    // No memory for the text, or standard error is not writable.
  }
}

std::string FlowOutcome::text_of(const Task& task) const {
  std::string data;
  const bool folds = task.codelet == &fold_codelet();
  const std::size_t shown = folds ? 1 : std::min<std::size_t>(task.access_count, most_shown);
  for (const Access& access : task.accesses().first(shown))
    data += (data.empty() ? "" : ", ") + core_.names().text(access.datum);
  const bool ran = task.failure != nullptr && task.worker != no_id<WorkerId>;
  const std::string name = task.source()->name_of(task);
  return fmt::format(
      "{}{}{}({}), submitted at {}:{},", name, name.empty() ? "" : ": ",
      ran ? task.codelet->text(core_.topology().workers[index(task.worker)].kind, task.implementation)
          : task.codelet->name,
      data, task.submitted_at.file, task.submitted_at.line);
}

std::string FlowOutcome::text_of_end(const Task& task) const {
  return task.failure != nullptr
             ? failed(text_of(task), task.failure)
             : "the task " + text_of(task) + " was not run: an input is missing, or its flow was cancelled";
}

std::string FlowOutcome::text_of_missing_input(const Task& task) const {
  if (task.source()->cancelled.load()) return {};
  std::vector<std::string> inputs;
  for (const Access& access : task.accesses().first(std::min<std::size_t>(task.access_count, most_shown)))
    if (reads(access.mode)) inputs.push_back(core_.names().text(access.datum));
  if (inputs.empty()) return {};
  return fmt::format("the task {} {} {}, which a failed or skipped task should have written", text_of(task),
                     inputs.size() == 1 ? "reads" : "reads at least one of", fmt::join(inputs, ", "));
}

void FlowOutcome::note_failure(const Task& task) {
  const std::lock_guard guard(mutex_);
  if (task.failure != nullptr) {
    if (failed_++ == 0) {
      failure_ = task.failure;
      failed_task_ = text_of(task);
      const auto watched = watched_.find(task.id);
      failed_watched_ = watched == watched_.end() ? nullptr : watched->second;
    }
  } else if (task.codelet != &fold_codelet()) {
    if (cancelled_++ == 0) first_skipped_ = text_of_missing_input(task);
  } else if (task.source()->cancelled.load()) {  // otherwise the failed task is reported
    unfolded_ = true;
  }
}

void FlowOutcome::notify(const Task& task, EventChain& ready) {
  std::shared_ptr<ObservedTask> watched;
  {
    const std::lock_guard guard(mutex_);
    const auto found = watched_.find(task.id);
    if (found == watched_.end()) return;
    watched = std::move(found->second);
    watched_.erase(found);
    watched_count_.store(watched_.size());
  }
  watched->failure = task.failure;
  watched->cancelled = task.cancelled;
  if (task.failure != nullptr || task.cancelled) watched->text = text_of(task);
  std::vector<Task*> followers;
  {
    const std::lock_guard guard(watched->mutex);
    watched->followers_notified = true;
    followers.swap(watched->followers);
  }
  watched->finished.store(true);
  for (Task* follower : followers)
    if (was_last(follower->wait)) append_ready(*follower, task, ready);
  if (watched->on_done != nullptr)
    core_.engine().callbacks().push([watched, calls = callbacks_, &world = core_.world()]() mutable {
      calls->call([&] { watched->on_done(watched->outcome()); }, watched->description);
      watched->on_done = nullptr;
      calls->open.fetch_sub(1);
      world.wake(engine::WakeTarget::application());
    });
  core_.world().wake(engine::WakeTarget::application());
}

std::exception_ptr ObservedTask::outcome() const noexcept {
  reported.store(true);
  if (failure != nullptr || !cancelled) return failure;
  try {
    rethrow();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void ObservedTask::rethrow() const {
  reported.store(true);
  if (failure == nullptr && !cancelled) return;
  if (failure == nullptr)
    throw TaskError("the task " + text + " was not run: an input is missing, or its flow was cancelled");
  throw_nesting(failure, failed(text, failure));
}

}  // namespace fairlead::front
