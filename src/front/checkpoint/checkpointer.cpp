// See checkpointer.hpp.
#include "front/checkpoint/checkpointer.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/pages.hpp"
#include "front/checkpoint/pause_of_run.hpp"
#include "front/flow/flow_source.hpp"
#include "front/flow/submission_fit.hpp"

namespace fairlead::front {

namespace {

/// A checkpoint may take a twentieth of the time.
constexpr int period_per_pause = 19;
constexpr Duration retry_after = std::chrono::milliseconds(100);
constexpr int most_retries_of_stop = 100;
/// Flushes while an older version of a datum is being written back.
constexpr int most_flushes = 3;

}  // namespace

Checkpointer::Checkpointer(const std::filesystem::path& directory, engine::RuntimeCore& core,
                           backend::SpillFile& spill, const backend::Checksums& checksums, Settings settings)
    : directory_(directory),
      core_(core),
      spill_(spill),
      checksums_(checksums),
      period_(settings.period),
      timer_([this] { core_.world().wake(engine::WakeTarget::application()); }, settings.stop) {}

void Checkpointer::remove() noexcept {
  phase_ = Phase::closed;
  directory_.remove();
}

// ---- tasks

void Checkpointer::require_same(const CheckpointIdentity& identity) const {
  const CheckpointIdentity& former = directory_.found()->identity;
  for (std::size_t i = 0; i < std::max(identity.size(), former.size()); ++i) {
    if (i < identity.size() && i < former.size() && identity[i] == former[i]) continue;
    const auto value_of = [&](const CheckpointIdentity& of, const std::string& property) {
      const auto at = std::ranges::find(of, property, &CheckpointIdentity::value_type::first);
      return at == of.end() ? std::string("none") : at->second;
    };
    const std::string& property = i < identity.size() ? identity[i].first : former[i].first;
    throw InputError(
        fmt::format("{}: the checkpoint is of another computation: its {} is {}, and that of this run is {}; "
                    "name another "
                    "directory, or remove this one",
                    directory_.text(), property, value_of(former, property), value_of(identity, property)));
  }
}

std::uint64_t Checkpointer::use(CheckpointIdentity identity, FlowSource& flow, CheckpointedState state) {
  core_.caller().check("use_checkpoints");
  if (flow.done() != flow.submitted())
    throw UsageError("checkpoints begin after a wait: the flow has unfinished tasks");
  const bool is_first = phase_ == Phase::none;
  resumed_.reset();
  tasks_ = std::make_unique<CheckpointedTasks>();
  if (!is_first) {
    directory_.discard_found();  // of a computation that was given up
  } else if (directory_.found() != nullptr) {
    require_same(identity);
    resumed_ = std::make_unique<ResumedTasks>(*directory_.found(), directory_, *tasks_);
  }
  identity_ = std::move(identity);
  state_ = std::move(state);
  if (resumed_ != nullptr && state_.restore) state_.restore(resumed_->state());
  flow_ = &flow;
  submitted_before_ = core_.sources().submitted();
  inserted_ = 0;
  phase_ = Phase::open;
  flow.checkpointer_ = this;
  flow.interruption_ = this;
  timer_.schedule(period_);
  return resumed_ == nullptr ? 0 : resumed_->finished();
}

void Checkpointer::require_coverable(const detail::Submission& submission) const {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("the task {} cannot be part of a checkpoint: {}\n  submitted at {}:{}",
                                 submission.codelet->name, why, submission.file, submission.line));
  };
  if (!submission.codelet->reductions.empty()) refuse("it reduces a datum");
  for (const auto& use : submission.uses) {
    if (use.datum->view != nullptr) refuse(use.datum->text() + " is split, or a part of another datum");
    if (writes(use.mode) && use.datum->home != core_.topology().store())
      refuse(use.datum->text() +
             " is in the program's memory, and checkpoints have only data that the runtime stores");
  }
}

void Checkpointer::require_unobserved(const detail::Submission& submission) {
  if (phase_ == Phase::complete) follow_complete(submission);
  if (!is_open()) return;
  throw UsageError(fmt::format(
      "{} cannot be part of a checkpoint: the program sees its values or its end before all tasks "
      "have finished\n  at {}:{}",
      SubmissionFit::subject(submission), submission.file, submission.line));
}

bool Checkpointer::next(const detail::Submission& submission) {
  is_submitting_ = false;  // the last task may have been rejected
  if (is_due()) make_checkpoint();
  if (phase_ == Phase::complete) follow_complete(submission);
  // An empty handle is an error that the submission reports.
  const auto is_empty = [](const detail::Submission::Use& use) { return use.datum == nullptr; };
  if (!is_open() || std::ranges::any_of(submission.uses, is_empty)) return true;
  require_coverable(submission);
  is_submitting_ = true;
  const std::uint64_t number = tasks_->add(submission);
  if (resumed_ == nullptr || resumed_->next(submission, number, insert())) return true;
  is_submitting_ = false;
  return false;
}

/// A task after the last one changes data: from now on they are not those of a checkpoint.
void Checkpointer::follow_complete(const detail::Submission& submission) {
  for (const auto& use : submission.uses)
    if (use.datum != nullptr && writes(use.mode) && tasks_->uses(*use.datum)) phase_ = Phase::closed;
}

void Checkpointer::runs_as(TaskId id) {
  if (!is_open()) return;
  ++inserted_;
  if (resumed_ != nullptr && resumed_->is_restoring()) return;
  tasks_->runs_as(id);
  is_submitting_ = false;
}

void Checkpointer::finished(TaskId id, bool succeeded) {
  if (!succeeded)
    phase_ = Phase::closed;
  else if (is_open())
    tasks_->finished(id);
}

void Checkpointer::all_submitted() {
  if (!is_open() || resumed_ == nullptr) return;
  is_submitting_ = true;
  resumed_->end(insert());
  is_submitting_ = false;
}

void Checkpointer::complete() noexcept {
  Phase open = Phase::open;
  phase_.compare_exchange_strong(open, Phase::complete);
}

ResumedTasks::Insert Checkpointer::insert() {
  return [this](const detail::Submission& submission) { flow_->insert(submission); };
}

// ---- checkpoints

bool Checkpointer::is_possible() {
  const Phase phase = phase_;
  return (phase == Phase::open || phase == Phase::complete) && !is_submitting_ &&
         (resumed_ == nullptr || resumed_->is_complete()) && core_.holds().open() == 0 &&
         !core_.winding_down() && !core_.engine().stop_reason().stopped() &&
         core_.engine().stop_reason().error() == 0;
}

void Checkpointer::make_checkpoint() {
  timer_.take();
  const auto start = std::chrono::steady_clock::now();
  const bool made = is_possible() && save();
  const Duration took = std::chrono::steady_clock::now() - start;
  const bool stops = timer_.stop_requested();
  if (!stops)
    return timer_.schedule(made ? std::max(period_, period_per_pause * took)
                                : std::min(retry_after, period_));
  // Holds end, and data are restored.
  if (!made && is_open() && !timer_.is_given_up() && ++stops_put_off_ < most_retries_of_stop)
    return timer_.schedule(retry_after);
  if (timer_.is_given_up()) core_.wind_down();  // the runtime's end writes no more data
  core_.engine().cancel(*flow_);
  phase_ = Phase::closed;
  throw CheckpointStop(directory_.has_checkpoint()
                           ? fmt::format("the run was stopped; it can be resumed from {}", directory_.text())
                           : "the run was stopped before there was anything to resume");
}

bool Checkpointer::request_stop() noexcept {
  if (const Phase phase = phase_; phase != Phase::open && phase != Phase::complete) return false;
  timer_.request_stop();
  return true;
}

/// Returns false.
bool Checkpointer::warn(const std::string& why) {
  core_.surroundings().show_message(
      fmt::format("no checkpoint was made in {}: {}\n", directory_.text(), why));
  return false;
}

/// Returns false if that was impossible, after a warning if that is unexpected.
bool Checkpointer::save() {
  const PauseOfRun pause(core_, [this] { return timer_.is_given_up(); });
  const auto give_up = [this] { return warn("the time of stop-limit has passed"); };
  if (timer_.is_given_up()) return give_up();
  if (!pause.is_complete() || phase_ == Phase::closed) return false;
  if (is_open() && core_.sources().submitted() - submitted_before_ != inserted_) {
    phase_ = Phase::closed;
    return warn("another flow or graph has submitted tasks");
  }
  CheckpointIndex index{.identity = identity_,
                        .data_file = {},
                        .state = state_.save ? state_.save() : std::string(),
                        .submitted = tasks_->count(),
                        .program_hash = tasks_->hash(),
                        .unfinished = tasks_->unfinished(),
                        .data = {}};
  std::vector<Bytes> slots;
  for (int flushes = 0; !collect(index, slots); ++flushes) {
    if (flushes == most_flushes) return warn("internal: data do not reach the disk");
    pause.flush();
    if (timer_.is_given_up()) return give_up();
  }
  if (::fdatasync(spill_.descriptor()) != 0) return warn(std::strerror(errno));
  try {
    directory_.replace_index(std::move(index));
  } catch (const SystemError& error) {
    return warn(error.what());
  }
  spill_.places()->save(slots);
  spill_.free_released();
  return true;
}

/// The data that tasks have written, where they are in the file. Returns false if some are not there yet.
bool Checkpointer::collect(CheckpointIndex& index, std::vector<Bytes>& slots) {
  index.data.clear();
  slots.clear();
  return core_.engine().locked([&](memory::Memory& memory) {
    for (std::uint64_t ordinal = 0; ordinal < tasks_->data().size(); ++ordinal) {
      const CheckpointedDatum& used = tasks_->data()[ordinal];
      if (!used.is_written || !used.exists()) continue;
      const memory::Datum& datum = memory.datum(used.datum->id);
      if (datum.version == 1) continue;  // no task that writes it has finished
      if (datum.dirty()) return false;
      const Bytes slot = datum.home.block->offset, place = spill_.places()->for_reading(slot, datum.bytes);
      SavedDatum saved{.ordinal = ordinal, .bytes = datum.bytes, .offset = place, .sums = {}};
      saved.sums = checksums_.within(place, whole_pages_for(datum.bytes));
      Bytes covered = 0;
      for (auto& sum : saved.sums) {
        sum.offset -= place;
        if (sum.offset == covered) covered += sum.bytes;
      }
      if (covered < datum.bytes) return false;
      slots.push_back(slot);
      index.data.push_back(std::move(saved));
    }
    return true;
  });
}

}  // namespace fairlead::front
