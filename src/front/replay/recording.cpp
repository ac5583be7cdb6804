// Recording a flow's tasks, and running what was recorded.
#include <fairlead/recording.hpp>

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "front/flow/flow_source.hpp"
#include "front/flow/gathered.hpp"
#include "front/replay/recorded_tasks.hpp"

namespace fairlead {

namespace front {

namespace {
constexpr std::size_t begun_together = 1024;  // tasks that wait for nothing: more would not fit into a queue

/// What earlier tasks of a recording write may be read by later ones, although nothing has run yet.
class TakenForWritten {
 public:
  TakenForWritten(const Submission& submission, const RecordedTasks& tasks) {
    for (const Submission::Use& use : submission.uses)
      if (use.datum != nullptr && !use.datum->ever_written && tasks.writes(*use.datum)) {
        use.datum->ever_written = true;
        data_.push_back(use.datum);
      }
  }
  ~TakenForWritten() {
    for (engine::RegisteredDatum* datum : data_) datum->ever_written = false;
  }
  TakenForWritten(const TakenForWritten&) = delete;
  TakenForWritten& operator=(const TakenForWritten&) = delete;

 private:
  std::vector<engine::RegisteredDatum*> data_;
};
}  // namespace

void FlowSource::record(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet,
                        RecordedTasks& into) {
  core_.check_caller("submit");
  const auto refuse = [&](const char* why) {
    throw UsageError(fmt::format("the task {} cannot be recorded: {}\n  submitted at {}:{}",
                                 submission.codelet->name, why, submission.file, submission.line));
  };
  if (into.sealed()) refuse("the recording has run already");
  into.retain(codelet);
  Gathered gathered;
  {
    const TakenForWritten written(submission, into);
    gather(submission, gathered);
  }
  if (gathered.views) refuse("it uses data that are split, or parts of data");
  std::uint32_t excluded = nodes_excluded_for(submission);
  const std::uint16_t together =
      submission.workers.count() == 1 ? std::uint16_t{0} : workers_wanted(submission, excluded);
  std::array<RecordedTasks::Insertion, most_data> insertions;
  for (std::size_t i = 0; i < submission.uses.size(); ++i) {
    const std::size_t at = gathered.access_of_use[i];
    const AccessMode mode = gathered.insertions[at].mode;
    // What may come in any order, or at the same time, has the program's order here.
    insertions[at] = {submission.uses[i].datum, writes_in_any_order(mode) ? AccessMode::read_write : mode};
  }
  const RecordedKind kind{.codelet = submission.codelet,
                          .submitted_at = {submission.file, submission.line},
                          .scratch_bytes = submission.scratch_bytes,
                          .priority = submission.priority,
                          .nodes_excluded = excluded,
                          .work = submission.work,
                          .workers_wanted = together,
                          .may_pass = submission.priority == 0 && submission.scratch_bytes == 0 &&
                                      excluded == 0 && together == 0 &&
                                      !submission.codelet->has_choice(WorkerKind::cpu) &&
                                      !submission.codelet->for_kind(WorkerKind::cpu).asynchronous};
  std::byte* const closure = into.add(kind, std::span(insertions).first(gathered.count));
  if (submission.fill_closure != nullptr)
    submission.fill_closure(closure, submission.arguments, gathered.access_of_use.data());
  into.added();
  into.largest_footprint =
      std::max(into.largest_footprint, gathered.host_footprint + whole_pages_for(submission.scratch_bytes));
}

/// What the tasks use is there still, counts as written if they write it, and stays for the lane if it can.
std::uint32_t FlowSource::open_lane_for(RecordedTasks& tasks) {
  for (const RecordedTasks::Use& use : tasks.uses())
    if (use.datum->id != use.id || use.datum->generation != use.generation)
      throw UsageError("a recording uses a datum that is gone: it was removed, or its matrix was destroyed");
    else if (use.datum->view != nullptr)
      throw UsageError("a recording uses " + use.datum->text() + ", which has been split since");
  engine::Engine& engine = core_.engine();
  if (engine.lane_possible() && engine.lane().generation() == 0) engine.try_open_lane();
  const std::uint32_t lane = engine.lane_possible() ? engine.lane().generation() : 0;
  for (RecordedTasks::Use& use : tasks.uses()) {
    const bool in_lane = lane != 0 && use.datum->reduction == nullptr &&
                         (use.datum->tail.lane == lane || let_in(*use.datum, lane));
    tasks.uses_changed |= in_lane != std::exchange(use.in_lane, in_lane);
    use.address = use.datum->tail.address;
    use.datum->ever_written |= use.written;
  }
  return lane;
}

void FlowSource::run(RecordedTasks& tasks) {
  core_.check_caller("run");
  if (!core_.holds().none() && core_.holds().own())
    throw UsageError("run() of a recording waits for all tasks, while this thread holds data" +
                     core_.holds().text());
  if (!tasks.complete()) throw UsageError("a recording cannot be run: recording one of its tasks failed");
  if (!tasks.sealed()) tasks.seal();
  core_.reductions().close_all();
  if (!core_.help_until_all_done()) core_.throw_held_up("run");
  core_.throw_if_stopped();
  core_.application().serve_surely();  // the engine looks at none of them any more
  core_.holds().note_footprint(tasks.largest_footprint);
  tasks.prepare(open_lane_for(tasks), core_.graph().take_ids(tasks.size()));
  Recycler& recycler = core_.application().recycler();
  if (core_.engine().wants_submissions())
    tasks.make_all(recycler, [&](Task& task) { core_.engine().submitted(task); });
  const std::uint64_t before = submitted_;
  submitted_ += tasks.size();
  core_.submitted += tasks.size();
  for (std::size_t i = 0; i < tasks.initial_count(); ++i) {
    tell_ready(tasks.initial(i, recycler));
    if ((i + 1) % begun_together == 0 && i >= begun_together) wait_until_done(before + i - begun_together);
  }
  wait();
}

}  // namespace front

class Recording::Implementation {
 public:
  Implementation(std::shared_ptr<void> r, engine::RuntimeCore& c)
      : runtime(std::move(r)), core(c), source(core) {}

  std::shared_ptr<void> runtime;  // there as long as the recording is
  engine::RuntimeCore& core;
  front::FlowSource source;
  front::RecordedTasks tasks{source};
};

Recording::Recording(Runtime& runtime)
    : implementation_(std::make_shared<Implementation>(runtime.implementation_, runtime.core())) {}

Recording::~Recording() {
  if (implementation_ == nullptr) return;
  engine::RuntimeCore& core = implementation_->core;
  // Ends that were told may not have been looked at yet.
  if (core.may_help() && implementation_->source.finish())
    core.application().serve_surely();
  else
    core.keep(std::move(implementation_));
}

void Recording::insert(const detail::Submission& submission,
                       const std::shared_ptr<const CodeletInfo>& codelet) {
  implementation_->source.record(submission, codelet, implementation_->tasks);
}
void Recording::run() { implementation_->source.run(implementation_->tasks); }
void Recording::cancel() { implementation_->source.cancel(); }
std::size_t Recording::tasks() const noexcept { return implementation_->tasks.size(); }

}  // namespace fairlead
