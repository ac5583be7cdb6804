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
#include "front/flow/flow_recorder.hpp"
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
  core_.caller().check("submit");
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
  const graph::RecordedKind kind{.codelet = submission.codelet,
                                 .submitted_at = {submission.file, submission.line},
                                 .scratch_bytes = submission.scratch_bytes,
                                 .priority = submission.priority,
                                 .nodes_excluded = excluded,
                                 .work = submission.work,
                                 .workers_wanted = together,
                                 .place = place_of(submission, gathered),
                                 .may_pass = submission.priority == 0 && submission.scratch_bytes == 0 &&
                                             excluded == 0 && together == 0 &&
                                             !submission.codelet->has_choice(WorkerKind::cpu) &&
                                             !submission.codelet->for_kind(WorkerKind::cpu).asynchronous};
  if (core_.flow_recorder() != nullptr) {
    std::vector<FlowRecorder::Use> uses;
    for (const RecordedTasks::Insertion& insertion : std::span(insertions).first(gathered.count))
      uses.push_back({insertion.datum, insertion.mode});
    into.written_down += core_.flow_recorder()->line_of(submission, uses);
  }
  std::byte* const closure = into.add(kind, std::span(insertions).first(gathered.count));
  if (submission.fill_closure != nullptr)
    submission.fill_closure(closure, submission.arguments, gathered.access_of_use.data());
  into.added();
  into.largest_footprint =
      std::max(into.largest_footprint, gathered.host_footprint + whole_pages_for(submission.scratch_bytes));
}

/// What the tasks use is there still, counts as written if they write it, and stays for the lane if it can.
std::uint32_t FlowSource::open_lane_for(RecordedTasks& tasks) {
  engine::Engine& engine = core_.engine();
  if (engine.lane_possible() && engine.lane().generation() == 0) engine.try_open_lane();
  const std::uint32_t lane = engine.lane_possible() ? engine.lane().generation() : 0;
  if (lane == tasks.run.lane && core_.data_changes() == tasks.data_seen) return lane;
  std::vector<RecordedTasks::Use>& uses = tasks.uses();
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i].datum->id != tasks.id_of(i) || uses[i].datum->generation != uses[i].generation)
      throw UsageError("a recording uses a datum that is gone: it was removed, or its matrix was destroyed");
    else if (uses[i].datum->view != nullptr)
      throw UsageError("a recording uses " + uses[i].datum->text() + ", which has been split since");
  bool all_in_lane = lane != 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    engine::RegisteredDatum& datum = *uses[i].datum;
    const bool in_lane =
        lane != 0 && datum.reduction == nullptr && (datum.tail.lane == lane || let_in(datum, lane));
    tasks.uses_changed |= in_lane != std::exchange(uses[i].in_lane, in_lane);
    all_in_lane &= in_lane;
    tasks.run.uses[i].address = datum.tail.address;
    tasks.run.uses[i].packed = datum.tail.packed;
    datum.ever_written |= uses[i].written;
  }
  // Those that were not let in may be next time.
  tasks.data_seen = all_in_lane ? core_.data_changes() : ~std::uint64_t{0};
  return lane;
}

void FlowSource::run(RecordedTasks& tasks) {
  core_.caller().check("run");
  if (!core_.holds().none() && core_.holds().own())
    throw UsageError("run() of a recording waits for all tasks, while this thread holds data" +
                     core_.holds().text());
  if (!tasks.complete()) throw UsageError("a recording cannot be run: recording one of its tasks failed");
  if (!tasks.sealed()) tasks.seal();
  core_.reductions().close_all();
  if (!core_.help_until_all_done(false)) core_.throw_held_up("run");
  core_.throw_if_stopped();
  engine::Reporter& reporter = core_.application();
  reporter.serve_surely();  // the engine looks at none of them any more
  core_.holds().note_footprint(tasks.largest_footprint);
  const std::uint32_t lane = open_lane_for(tasks);
  tasks.prepare(lane, core_.graph().take_ids(tasks.size()), core_.engine().view().workers().size() == 1);
  if (core_.engine().wants_submissions())
    tasks.make_all(reporter.recycler(), [&](Task& task) { core_.engine().submitted(task); });
  if (core_.flow_recorder() != nullptr) core_.flow_recorder()->repeat(tasks.written_down, tasks.size());
  const std::uint64_t before = submitted_;
  submitted_ += tasks.size();
  core_.sources().count_submitted(tasks.size());
  std::uint64_t begun = 0;
  for (const std::uint32_t place : tasks.initial()) {
    graph::RecordedTask& task = tasks.run.blocks.at(place);
    if (!reporter.put_in_lane(task))
      tell_ready(tasks.run.describe(task, reporter.recycler()));
    else if (core_.world().must_be_told())
      core_.world().wake(engine::Who::any_worker());
    if (++begun % begun_together == 0 && begun > begun_together)
      wait_until_done(before + begun - begun_together);
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
  if (core.caller().may_wait() && implementation_->source.finish())
    core.application().serve_surely();
  else
    core.keep(std::move(implementation_));
}

void Recording::insert(const detail::Submission& submission,
                       const std::shared_ptr<const CodeletInfo>& codelet) {
  implementation_->source.record(submission, codelet, implementation_->tasks);
}
void Recording::run() {
  implementation_->core.or_stop([this] { implementation_->source.run(implementation_->tasks); });
}
void Recording::cancel() { implementation_->source.cancel(); }
std::size_t Recording::tasks() const noexcept { return implementation_->tasks.size(); }

}  // namespace fairlead
