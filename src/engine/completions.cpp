// Completing and dropping tasks.
#include "engine/completions.hpp"

#include "engine/roles/roles.hpp"

namespace fairlead::engine {

/// Removes the task from all parts that refer to it, and releases its resources.
void Completions::release_resources(Task& task) {
  const TaskState state = task.state;
  if (state == TaskState::picked) memory_.forget_claim(task);
  if (state == TaskState::picked || state == TaskState::admitted) pipelines_.take_out(task);
  if (state == TaskState::admitted)
    memory_.release(task, memory::TaskOutcome::failed, effects_);
  else
    memory_.poison().mark_outputs(task);
  fast_path_.close();  // readers of its outputs must go through the engine
  if (task.role != TaskRole::program) roles_.of(task).over(task);
  memory_.flushes().early().forget(task);
  // A policy has seen a task that was never ready only if it was notified of the submission.
  if (state != TaskState::waiting || policy_.wants_submissions()) policy_->cancelled(task);
  ++cancelled_;
}

void Completions::drop(Task& task, Commands& out) {
  if (task.failure == nullptr && !is_cancelled(task)) task.failure = memory_.losses().read_by(task);
  release_resources(task);
  task.cancelled = task.failure == nullptr;
  complete(task, task.cancelled ? How::cancelled : How::copy_failed, out);
}

void Completions::drop_failed(Task& task, Commands& out) {
  release_resources(task);
  complete(task, How::copy_failed, out);
}

void Completions::skip(Task& task, Commands& out) {
  memory_.flushes().early().forget(task);
  if (policy_.wants_submissions()) policy_->cancelled(task);  // it was notified of the submission
  ++skipped_;
  complete(task, How::skipped, out);
}

void Completions::end(Task& task, Commands& out) { complete(task, How::pseudo, out); }

void Completions::fail(Task& task, Commands& out) {
  memory_.poison().mark_outputs(task);
  fast_path_.close();
  task.cancelled = true;
  end(task, out);
}

void Completions::count_run(Task& task) {
  if (task.role != TaskRole::program) [[unlikely]]
    roles_.of(task).over(task);
  ++done_;
}

/// The thread that executes the commands releases the successors.
void Completions::complete(Task& task, How how, Commands& out) {
  task.state = TaskState::finished;
  deliveries_.begin();  // under the lock, which threads that read the counter take as well
  journal_.completed(task, static_cast<std::uint64_t>(how));
  out.completions.push_back(&task);
}

}  // namespace fairlead::engine
