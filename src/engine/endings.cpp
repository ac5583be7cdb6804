// See endings.hpp.
#include "engine/endings.hpp"

namespace fairlead::engine {

/// Whoever knows of the task forgets it; what it holds is given back.
void Endings::leave(Task& task) {
  const TaskState state = task.state;
  if (state == TaskState::picked) memory_.forget_claim(task);
  if (state == TaskState::picked || state == TaskState::admitted) pipelines_.take_out(task);
  if (state == TaskState::admitted)
    memory_.release(task, memory::Outcome::failed, effects_);
  else
    memory_.poison_outputs(task);
  lane_.close();  // whoever reads that has to be told
  if (task.role == TaskRole::fold) memory_.reductions().fold_over(task);
  // Of tasks that were never ready, a policy knows what it was told when they were submitted.
  if (state != TaskState::waiting || policy_.wants_submissions()) policy_->cancelled(task);
  ++cancelled_;
}

void Endings::drop(Task& task, Commands& out) {
  leave(task);
  task.cancelled = true;
  complete(task, How::cancelled, out);
}

void Endings::drop_failed(Task& task, Commands& out) {
  leave(task);
  complete(task, How::copy_failed, out);
}

void Endings::skip_fold(Task& task, Commands& out) {
  if (policy_.wants_submissions()) policy_->cancelled(task);  // it knows the task already
  ++folds_skipped_;
  complete(task, How::nothing_to_fold, out);
}

void Endings::end_hold(Task& hold, Commands& out) { complete(hold, How::hold, out); }

void Endings::poison_hold(Task& hold, Commands& out) {
  memory_.poison_outputs(hold);
  lane_.close();
  hold.cancelled = true;
  end_hold(hold, out);
}

/// Whoever carries commands out releases its successors.
void Endings::complete(Task& task, How how, Commands& out) {
  task.state = TaskState::finished;
  deliveries_.begin();  // under the lock: whoever asks takes it, too
  journal_.completed(task, static_cast<std::uint64_t>(how));
  out.completions.push_back(&task);
}

}  // namespace fairlead::engine
