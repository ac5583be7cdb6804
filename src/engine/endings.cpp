// See endings.hpp.
#include "engine/endings.hpp"

#include "engine/roles/roles.hpp"

namespace fairlead::engine {

/// Whoever knows of the task forgets it; what it holds is given back.
void Endings::leave(Task& task) {
  const TaskState state = task.state;
  if (state == TaskState::picked) memory_.forget_claim(task);
  if (state == TaskState::picked || state == TaskState::admitted) pipelines_.take_out(task);
  if (state == TaskState::admitted)
    memory_.release(task, memory::Outcome::failed, effects_);
  else
    memory_.poison().mark_outputs(task);
  lane_.close();  // whoever reads that has to be told
  if (task.role != TaskRole::program) roles_.of(task).over(task);
  memory_.flushes().early().forget(task);
  // Of tasks that were never ready, a policy knows what it was told when they were submitted.
  if (state != TaskState::waiting || policy_.wants_submissions()) policy_->cancelled(task);
  ++cancelled_;
}

void Endings::drop(Task& task, Commands& out) {
  if (task.failure == nullptr && !unwanted(task)) task.failure = memory_.losses().read_by(task);
  leave(task);
  task.cancelled = task.failure == nullptr;
  complete(task, task.cancelled ? How::cancelled : How::copy_failed, out);
}

void Endings::drop_failed(Task& task, Commands& out) {
  leave(task);
  complete(task, How::copy_failed, out);
}

void Endings::skip(Task& task, Commands& out) {
  memory_.flushes().early().forget(task);
  if (policy_.wants_submissions()) policy_->cancelled(task);  // it knows the task already
  ++skipped_;
  complete(task, How::skipped, out);
}

void Endings::end(Task& task, Commands& out) { complete(task, How::pseudo, out); }

void Endings::refuse(Task& task, Commands& out) {
  memory_.poison().mark_outputs(task);
  lane_.close();
  task.cancelled = true;
  end(task, out);
}

void Endings::ran(Task& task) {
  if (task.role != TaskRole::program) [[unlikely]]
    roles_.of(task).over(task);
  ++done_;
}

/// Whoever carries commands out releases its successors.
void Endings::complete(Task& task, How how, Commands& out) {
  task.state = TaskState::finished;
  deliveries_.begin();  // under the lock: whoever asks takes it, too
  journal_.completed(task, static_cast<std::uint64_t>(how));
  out.completions.push_back(&task);
}

}  // namespace fairlead::engine
