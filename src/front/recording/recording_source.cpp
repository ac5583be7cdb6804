// Records tasks and runs them. See recording_source.hpp.
#include "front/recording/recording_source.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/small_array.hpp"
#include "front/flow/gathered.hpp"

namespace fairlead::front {

namespace {
/// Marks data that earlier tasks of the recording write as written: later tasks may read them although nothing has run.
class ScopedWrittenMarks {
 public:
  ScopedWrittenMarks(const Submission& submission, const RecordedTasks& tasks) {
    for (const Submission::Use& use : submission.uses)
      if (use.datum != nullptr && !use.datum->ever_written && tasks.writes(*use.datum)) {
        use.datum->ever_written = true;
        data_.push_back(use.datum);
      }
  }
  ~ScopedWrittenMarks() {
    for (engine::RegisteredDatum* datum : data_) datum->ever_written = false;
  }
  ScopedWrittenMarks(const ScopedWrittenMarks&) = delete;
  ScopedWrittenMarks& operator=(const ScopedWrittenMarks&) = delete;

 private:
  std::vector<engine::RegisteredDatum*> data_;
};
}  // namespace

RecordingSource::~RecordingSource() {
  if (core_.caller().same_process()) stop_handing_out();
}

void RecordingSource::record(const Submission& submission,
                             const std::shared_ptr<const CodeletInfo>& codelet) {
  core_.caller().check("submit");
  const auto refuse = [&](const char* why) {
    throw UsageError(fmt::format("the task {} cannot be recorded: {}\n  submitted at {}:{}",
                                 submission.codelet->name, why, submission.file, submission.line));
  };
  if (tasks_.sealed()) refuse("the recording has run already");
  tasks_.retain(codelet);
  Gathered gathered(submission);
  {
    const ScopedWrittenMarks written(submission, tasks_);
    gather(submission, gathered);
  }
  if (gathered.views) refuse("it uses data that are split, or parts of data");
  std::uint32_t excluded = fit().nodes_excluded(submission, gathered.footprint);
  const std::uint16_t together =
      submission.workers.count() == 1 ? std::uint16_t{0} : fit().workers_wanted(submission, excluded);
  SmallArray<RecordedTasks::Insertion, few_data> insertions(gathered.count);
  for (std::size_t i = 0; i < submission.uses.size(); ++i) {
    const std::size_t at = gathered.access_of_use[i];
    const AccessMode mode = gathered.insertions[at].mode;
    // Recordings fix the program's order for commutative accesses and reductions.
    insertions[at] = {submission.uses[i].datum, writes_in_any_order(mode) ? AccessMode::read_write : mode};
  }
  const TaskTraits traits = traits_of(submission, gathered, excluded, together);
  if (core_.submission_book() != nullptr) {
    std::vector<engine::SubmissionRecorder::Use> uses;
    for (const RecordedTasks::Insertion& insertion : insertions.all())
      uses.push_back({insertion.datum, insertion.mode});
    tasks_.flow_file_lines += core_.submission_book()->line_of(submission, uses);
  }
  std::byte* const closure = tasks_.add(traits, insertions.all());
  if (submission.fill_closure != nullptr)
    submission.fill_closure(closure, submission.arguments, gathered.access_of_use);
  tasks_.added();
  tasks_.largest_footprint = std::max(tasks_.largest_footprint, gathered.host_footprint);
}

/// Checks that the recorded data still exist, marks the written ones as having values, and enters them into the fast
/// path.
std::uint32_t RecordingSource::open_fast_path() {
  engine::Engine& engine = core_.engine();
  if (engine.fast_path_possible() && engine.fast_path().generation() == 0) engine.try_open_fast_path();
  const std::uint32_t fast_path = engine.fast_path_possible() ? engine.fast_path().generation() : 0;
  if (fast_path == tasks_.run.fast_path && core_.data_changes() == tasks_.data_seen) return fast_path;
  std::vector<RecordedTasks::Use>& uses = tasks_.uses();
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i].datum->id != tasks_.id_of(i) || uses[i].datum->generation != uses[i].generation)
      throw UsageError(
          "a recording uses a datum that no longer exists: it was removed, or its matrix was destroyed");
    else if (uses[i].datum->view != nullptr)
      throw UsageError("a recording uses " + uses[i].datum->text() + ", which has been split since");
  bool all_on_fast_path = fast_path != 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    engine::RegisteredDatum& datum = *uses[i].datum;
    const bool in_fast_path = fast_path != 0 && datum.reduction == nullptr &&
                              (datum.tail.fast_path == fast_path || enter_fast_path(datum, fast_path));
    tasks_.uses_changed |= in_fast_path != std::exchange(uses[i].in_fast_path, in_fast_path);
    all_on_fast_path &= in_fast_path;
    tasks_.run.uses[i].address = datum.tail.address;
    tasks_.run.uses[i].packed = datum.tail.packed;
    datum.ever_written |= uses[i].written;
  }
  // Data that were not accepted may be accepted next time.
  tasks_.data_seen = all_on_fast_path ? core_.data_changes() : ~std::uint64_t{0};
  return fast_path;
}

void RecordingSource::run() {
  core_.caller().check("run");
  if (!core_.holds().none() && core_.holds().own())
    throw UsageError("run() of a recording waits for all tasks, while this thread holds data" +
                     core_.holds().text());
  if (!tasks_.complete()) throw UsageError("a recording cannot be run: recording one of its tasks failed");
  if (!tasks_.sealed()) tasks_.seal();
  core_.reductions().close_all();
  if (!core_.wait_for_all(false)) core_.throw_deadlock("run");
  core_.throw_if_stopped();
  engine::EngineClient& reporter = core_.application();
  reporter.serve_blocking();  // after this, the engine does not use the tasks of the last run any more
  stop_handing_out();         // a failed run may still be in the backlog
  core_.holds().note_footprint(tasks_.largest_footprint);
  const std::uint32_t fast_path = open_fast_path();
  tasks_.prepare(fast_path, core_.graph().take_ids(tasks_.size()),
                 core_.engine().view().workers().size() == 1);
  if (core_.engine().wants_submissions())
    tasks_.make_all(reporter.recycler(), [&](Task& task) { core_.engine().submitted(task); });
  if (core_.submission_book() != nullptr)
    core_.submission_book()->repeat(tasks_.flow_file_lines, tasks_.size());
  count_submitted(tasks_.size());
  hand_out();
  wait();
  stop_handing_out();
}

Task& RecordingSource::describe(LazyTask& task, Recycler& recycler) {
  return tasks_.run.describe(static_cast<graph::RecordedTask&>(task), recycler);
}

void RecordingSource::look_ahead(const LazyTask& task) const noexcept {
  tasks_.run.look_ahead(static_cast<const graph::RecordedTask&>(task));
}

void RecordingSource::release(Task& over, ReadyTasks& ready) {
  if (over.failure != nullptr || over.cancelled) [[unlikely]]
    outcome().note_failure(over);
  if (!tasks_.run.release(over, ready)) [[unlikely]]
    has_more_ready();
}

}  // namespace fairlead::front
