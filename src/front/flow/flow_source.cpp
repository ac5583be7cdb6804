// Submission of tasks: the checks that reject a mistake at its source line, then one insertion into the graph.
#include "front/flow/flow_source.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "base/bytes_text.hpp"
#include "base/exception_text.hpp"
#include "base/pages.hpp"
#include "data/ready.hpp"
#include "front/flow/gathered.hpp"
#include "front/ranks/rank_context.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {
constexpr std::uint64_t tasks_between_fast_path_trials = 1024;

}  // namespace

FlowSource::FlowSource(engine::RuntimeCore& core)
    : CountedSource(core),
      common_program_(rank_context(core.surroundings()) == nullptr
                          ? nullptr
                          : &rank_context(core.surroundings())->program()) {}

FlowSource::~FlowSource() {
  if (!finished_) finish();
  if (common_program_ != nullptr) common_program_->remove(*this);
  // The engine may not have processed the completion of the last tasks, and another thread may be printing the status.
  core_.caller().may_wait() ? core_.application().serve_blocking() : core_.world().process_remote_events();
  core_.engine().locked([](memory::Memory&) {});
  if (!stop_reported_) outcome_.print_unreported_failures();
}

bool FlowSource::finish() noexcept {
  finished_ = true;
  bool folds_later = false;  // folds are left to the next reader of the values, or to the end of the runtime
  try {
    if (core_.caller().may_wait())
      core_.reductions().close_all(this);
    else
      folds_later = core_.reductions().has_part_in_any(this);
    if (has_common_) common_program_->finish();
    if (core_.caller().may_wait() && done() != submitted_) wait_until_done(submitted_, true);
    if (core_.caller().may_wait() && outcome_.callbacks()->open.load() != 0)
      core_.wait([this] { return outcome_.callbacks()->open.load() == 0; }, true);
    if (core_.caller().may_wait()) core_.home_values().refresh();
  } catch (const std::bad_alloc&) {
    // The program's memory is out of date and may be freed before the runtime ends, which must not write to it.
    core_.engine().stop(std::current_exception());
    core_.reductions().orphan(this);
  } catch (...) {
    // The error that stopped the run is reported to the waiting callers.
    core_.reductions().orphan(this);
  }
  return !folds_later && done() == submitted_;
}

/// Throws UsageError for data that must not be used, or not in this way. Changes nothing.
void FlowSource::gather(const Submission& submission, Gathered& out) const {
  std::size_t used = 0;
  out.fast_path = core_.engine().fast_path().generation();
  for (const Submission::Use& use : submission.uses) {
    if (use.datum == nullptr)
      throw UsageError(fmt::format("{} is given an empty handle as its datum {}\n  submitted at {}:{}",
                                   SubmissionFit::subject(submission), used + 1, submission.file,
                                   submission.line));
    if (const SharedDatum* const shared = shared_of(*use.datum);
        shared != nullptr && shared->handle_target == use.datum && shared->home == nullptr &&
        use.datum->generation == use.generation)
      throw UsageError(
          fmt::format("{} uses {}, which belongs to rank {}: a task of one rank alone may use only data of "
                      "that rank\n  submitted at {}:{}",
                      SubmissionFit::subject(submission), use.datum->text(), net::index(shared->owner),
                      submission.file, submission.line));
    if (use.datum->id == no_id<DatumId> || use.datum->generation != use.generation)
      throw UsageError(
          fmt::format("{} uses a datum that no longer exists: it was removed, or its matrix was destroyed\n  "
                      "submitted at {}:{}",
                      SubmissionFit::subject(submission), submission.file, submission.line));
    out.any_order |= writes_in_any_order(use.mode);
    out.first_write |= writes(use.mode) && !use.datum->ever_written;
    const std::size_t same = out.find_or_add(use.datum->id);
    if (same < out.count) {
      AccessMode& mode = out.insertions[same].mode;
      if (used >= submission.first_listed && (writes(use.mode) || writes(mode)))
        throw UsageError(fmt::format(
            "{} is given {} twice: what a task changes may be in its lists of data only once\n  submitted at "
            "{}:{}",
            SubmissionFit::subject(submission), use.datum->text(), submission.file, submission.line));
      out.access_of_use[used++] = static_cast<detail::AccessIndex>(same);
      mode = graph::merged(mode, use.mode);
      continue;
    }
    if (out.count == most_data)
      throw UsageError(fmt::format("{} uses more than {} data\n  submitted at {}:{}",
                                   SubmissionFit::subject(submission), most_data, submission.file,
                                   submission.line));
    if (use.datum->runtime != &core_)
      throw UsageError(fmt::format("{} uses {}, which belongs to another runtime\n  submitted at {}:{}",
                                   SubmissionFit::subject(submission), use.datum->text(), submission.file,
                                   submission.line));
    // Prefetches the cache line while the remaining checks run: it is read later by locked instructions, which stall.
    __builtin_prefetch(use.datum->tail.last, 1);
    out.access_of_use[used++] = static_cast<detail::AccessIndex>(out.count);
    out.insertions[out.count++] = {&use.datum->tail, use.datum->id, use.mode, 0};
    const Bytes rounded = whole_pages_for(use.datum->bytes);
    out.footprint += rounded;
    if (!use.datum->in_place) out.host_footprint += rounded;
    out.views |= use.datum->view != nullptr;
    out.reduced |= use.datum->reduction != nullptr;
    out.all_on_fast_path &= use.datum->tail.fast_path == out.fast_path;
    if (reads(use.mode) && (!use.datum->ever_written || use.datum->view != nullptr) && !has_value(*use.datum))
      throw UsageError(fmt::format("{} reads {}, which nothing has written yet\n  submitted at {}:{}",
                                   SubmissionFit::subject(submission), use.datum->text(), submission.file,
                                   submission.line));
  }
  const Bytes scratch = whole_pages_for(submission.scratch_bytes);
  out.footprint += scratch;
  out.host_footprint += scratch;
  if (out.views) [[unlikely]]
    SubmissionFit::check_views(submission);
  if (submission.device != no_device) fit_.check_device(submission);
}

/// Uses gathered accesses: several parameters for the same datum are one access.
PlaceHint FlowSource::place_of(const Submission& submission, const Gathered& gathered) noexcept {
  PlaceHint place;
  place.device = static_cast<std::int8_t>(submission.device);
  if (submission.like >= 0)
    place.like = static_cast<std::int8_t>(gathered.access_of_use[static_cast<std::size_t>(submission.like)]);
  return place;
}

void FlowSource::insert(const Submission& submission, std::shared_ptr<ObservedTask> watched,
                        const SubmissionOrder* order) {
  if (window_.is_blocked()) [[unlikely]] {
    window_.try_again(*this);
    throw_if_stopped();
    if (window_.is_blocked()) window_.throw_held_up(*this);
  }
  if (cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    core_.throw_if_winding_down();  // otherwise millions of tasks would be submitted that never run
  Gathered gathered(submission);
  gather(submission, gathered);
  std::uint32_t excluded = fit_.nodes_excluded(submission, gathered.footprint);
  const std::uint16_t together =
      submission.workers.count() == 1 ? std::uint16_t{0} : fit_.workers_wanted(submission, excluded);
  if (gathered.host_footprint != 0 && ((excluded >> index(core_.engine().view().host())) & 1u) == 0 &&
      (submission.codelet->kinds & core_.machine().host_kinds) != 0) {
    // A task that may run there must fit next to the data that the program holds.
    if (!core_.holds().none()) [[unlikely]]
      core_.holds().check_room(gathered.host_footprint, false, SubmissionFit::text_of(submission),
                               submission);
    if (is_common_) common_program_->check_memory(gathered.host_footprint, submission);
    core_.holds().note_footprint(gathered.host_footprint +
                                 (is_common_ ? common_program_->transfer_reserve() : 0));
  }
  std::vector<engine::SubmissionRecorder::Use> written_down;  // the modes as submitted; below they may change
  if (core_.submission_book() != nullptr) [[unlikely]]
    written_down = gathered.uses_of(submission);
  Task& task = core_.stop_on_out_of_memory(
      [&]() -> Task& { return make_task(submission, gathered, excluded, together); });
  if (submission.fill_closure != nullptr) {
    try {
      submission.fill_closure(task.closure.data(), submission.arguments, gathered.access_of_use);
    } catch (...) {
      core_.graph().discard(task);
      throw;
    }
  }
  core_.stop_on_out_of_memory([&] {
    if (checkpointer_ != nullptr) [[unlikely]]
      checkpointer_->runs_as(task.id);
    if (core_.submission_book() != nullptr) [[unlikely]]
      record_task(submission, gathered, written_down, order);
    insert_task(task, submission, gathered, std::move(watched), order);
  });
  if (window_.after(*this)) throw_if_stopped();
}

TaskTraits FlowSource::traits_of(const Submission& submission, const Gathered& gathered,
                                 std::uint32_t excluded, std::uint16_t together) noexcept {
  return {.codelet = submission.codelet,
          .submitted_at = {submission.file, submission.line},
          .scratch_bytes = submission.scratch_bytes,
          .priority = submission.priority,
          .nodes_excluded = excluded,
          .work = submission.work,
          .workers_wanted = together,
          .place = place_of(submission, gathered)};
}

/// Makes a descriptor without its closure. Tasks that must precede this one are in the graph when it returns.
[[gnu::always_inline]] inline Task& FlowSource::make_task(const Submission& submission, Gathered& gathered,
                                                          std::uint32_t excluded, std::uint16_t together) {
  if (gathered.views) [[unlikely]]
    activate_views(submission);
  const TaskTraits traits = traits_of(submission, gathered, excluded, together);
  // The fast path does not support the common program's tasks: copies of remote data arrive and are discarded.
  const std::uint32_t fast_path =
      core_.engine().fast_path_possible() && !is_common_ ? fast_path_for(traits, submission, gathered) : 0;
  if (core_.fixed_order() && gathered.any_order) [[unlikely]]
    for (graph::Insertion& insertion : gathered.all())
      if (writes_in_any_order(insertion.mode)) insertion.mode = AccessMode::read_write;
  if (gathered.reduced || !submission.codelet->reductions.empty()) [[unlikely]]
    follow_reductions(submission, gathered);

  Task& task = new_task(traits, gathered.count);
  task.fast_path_generation = fast_path;
  return task;
}

[[gnu::always_inline]] inline void FlowSource::insert_task(Task& task, const Submission& submission,
                                                           const Gathered& gathered,
                                                           std::shared_ptr<ObservedTask> watched,
                                                           const SubmissionOrder* order) {
  if (gathered.first_write)
    for (const Submission::Use& use : submission.uses) use.datum->ever_written |= writes(use.mode);
  bool call_later = false;
  if (watched != nullptr) {
    if (core_.home_values().may_be_away())
      for (const Submission::Use& use : submission.uses)
        if (writes(use.mode) && use.datum->in_place) watched->own_data.push_back(use.datum->id);
    if (order != nullptr && order->on_done != nullptr) {
      watched->description = fmt::format("the task {}, submitted at {}:{},", submission.codelet->name,
                                         submission.file, submission.line);
      call_later = !watched->own_data.empty();
      if (!call_later) {
        watched->on_done = order->on_done;
        outcome_.callbacks()->open.fetch_add(1);
      }
    }
    outcome_.watch(task.id, watched);
  }
  announce(task, gathered.all());
  count_submitted(1);
  const std::size_t after = order == nullptr ? 0 : order->after.size();
  bool ready = core_.graph().insert(task, gathered.all(), static_cast<std::int32_t>(after));
  if (gathered.reduced) [[unlikely]]
    replace_reduced(submission, gathered);
  if (after != 0) {
    std::int32_t over = 0;
    for (const auto& before : order->after) over += !before->follow(task);
    // acq_rel: this thread sees the writes of the predecessors that have finished.
    if (over != 0) ready = task.wait.fetch_sub(over, std::memory_order_acq_rel) == over;
  }
  if (ready) post_ready(task);
  if (call_later) call_after_write_back(submission, watched, order->on_done);
}

/// Called when no check can fail any more: a written line cannot be removed.
void FlowSource::record_task(const Submission& submission, const Gathered& gathered,
                             std::span<const engine::SubmissionRecorder::Use> uses,
                             const SubmissionOrder* order) {
  if (gathered.views)
    return core_.submission_book()->give_up(fmt::format("{} at {}:{} uses split data, or parts of data",
                                                        SubmissionFit::text_of(submission), submission.file,
                                                        submission.line));
  core_.submission_book()->task(submission, uses, order != nullptr && !order->after.empty());
}

Task& FlowSource::new_task(const TaskTraits& traits, std::size_t accesses) {
  Task& task = *core_.graph().make_task(accesses, traits);
  task.family = is_common_ ? &common_ : &in_graph;
  return task;
}

/// Only tasks without special requirements, on data that stay in place.
std::uint32_t FlowSource::fast_path_for(const TaskTraits& traits, const Submission& submission,
                                        const Gathered& gathered) {
  if (!engine::is_eligible_for_fast_path(traits) || gathered.views || gathered.any_order || gathered.reduced)
    return 0;
  std::uint32_t fast_path = gathered.fast_path;
  if (fast_path == 0) [[unlikely]] {
    engine::Engine& engine = core_.engine();
    if (submitted_ != progress_.done() && submitted_ < next_fast_path_trial_) return 0;
    next_fast_path_trial_ = submitted_ + tasks_between_fast_path_trials;
    if (!engine.try_open_fast_path()) return 0;
    fast_path = engine.fast_path().generation();
  } else if (gathered.all_on_fast_path) {
    return fast_path;
  }
  for (const Submission::Use& use : submission.uses)
    if (use.datum->tail.fast_path != fast_path && !enter_fast_path(*use.datum, fast_path)) return 0;
  return fast_path;
}

bool FlowSource::enter_fast_path(engine::RegisteredDatum& datum, std::uint32_t fast_path) {
  void* const address = core_.engine().admit_to_fast_path(datum.id, datum.ever_written || has_value(datum));
  if (address == nullptr) return false;
  datum.tail.address = address;
  datum.tail.fast_path = fast_path;
  datum.tail.packed = !datum.in_place;
  return true;
}

void FlowSource::announce(Task& task, std::span<const graph::Insertion> insertions) {
  if (!core_.engine().wants_submissions()) return;
  for (std::size_t i = 0; i < insertions.size(); ++i) {
    task.accesses_begin[i].datum = insertions[i].datum;
    task.accesses_begin[i].mode = insertions[i].mode;
    task.accesses_begin[i].partials = insertions[i].partials;
  }
  core_.engine().submitted(task);
}

void FlowSource::post_ready(Task& task) {
  if (core_.application().put_in_fast_path(task)) {
    if (core_.world().needs_wake_up()) core_.world().wake(engine::WakeTarget::any_worker());
    return;
  }
  core_.engine().entrance().post(task, EventKind::task_ready, no_id<WorkerId>, Time{});
  if (core_.world().needs_wake_up()) core_.application().serve();
}

void FlowSource::retain(const std::shared_ptr<const CodeletInfo>& codelet) {
  if (codelet.get() == last_codelet_) return;
  last_codelet_ = codelet.get();
  if (std::ranges::find(codelets_, codelet) == codelets_.end()) codelets_.push_back(codelet);
}

void FlowSource::throw_if_stopped() {
  stop_reported_ |= core_.engine().stop_reason().stopped() || core_.engine().stop_reason().error() != 0;
  core_.throw_if_stopped();
}

bool FlowSource::submit_to_common_program(const Submission& submission,
                                          const std::shared_ptr<const CodeletInfo>& codelet,
                                          const std::shared_ptr<ObservedTask>& watched,
                                          const SubmissionOrder* order) {
  const SharedProgram::TaskPlacement where = common_program_->next_task(submission, codelet);
  if (where == SharedProgram::TaskPlacement::local) return false;
  has_common_ = true;
  if (where == SharedProgram::TaskPlacement::other_rank) {
    if (watched != nullptr) watched->mark_remote();
    return true;
  }
  bool brought = false;
  try {
    if (order != nullptr && std::ranges::any_of(order->after, [](const auto& it) { return it->elsewhere; }))
      throw UsageError(
          fmt::format("{} cannot run after a task of another rank: only data order tasks of different "
                      "ranks\n  submitted at {}:{}",
                      SubmissionFit::subject(submission), submission.file, submission.line));
    common_program_->add(*this);
    retain(codelet);
    Submission local = submission;
    local.uses = common_program_->localize_uses(submission);
    brought = is_common_ = true;
    insert(local, watched, order);
  } catch (...) {
    is_common_ = false;
    common_program_->task_rejected(submission, brought, std::current_exception());
    throw;
  }
  is_common_ = false;
  common_program_->written(submission);
  return true;
}

void FlowSource::wait() {
  core_.caller().check("wait");
  if (checkpointer_ != nullptr) checkpointer_->all_submitted();
  core_.reductions().close_all(this);
  core_.engine().all_submitted();
  core_.engine().horizon_closed();
  if (std::exchange(has_common_, false)) {
    common_program_->begin_wait();
    common_program_->end_wait();
  }
  const bool over =
      wait_until_done(submitted_) && core_.wait([this] { return outcome_.callbacks()->open.load() == 0; });
  throw_if_stopped();
  if (!over) core_.throw_deadlock("wait()");
  try {
    core_.home_values().refresh();
  } catch (...) {
    stop_reported_ = true;
    throw;
  }
  if (core_.submission_book() != nullptr) core_.submission_book()->phase_ended();
  std::exception_ptr cause;
  const std::string text = outcome_.take(cause);
  if (cause == nullptr && common_program_ != nullptr && common_program_->has_failed())
    throw RankError("the flow was aborted: " + common_program_->failure());
  if (text.empty() && checkpointer_ != nullptr) checkpointer_->complete();
  if (text.empty()) return core_.home_values().throw_if_lost();
  if (cause == nullptr) throw TaskError(text);
  throw_nesting(cause, text);
}

void FlowSource::release(Task& task, ReadyTasks& ready) {
  outcome_.task_finished(task, ready.described);
  if (checkpointer_ != nullptr) [[unlikely]]
    checkpointer_->finished(task.id, task.failure == nullptr && !task.cancelled);
  if (task.family == &common_ && (task.failure != nullptr || task.cancelled)) [[unlikely]]
    common_program_->report_failure(outcome_.text_of_end(task));
  graph::DependencyGraph::complete(task, ready.described, ready.recycler);
}

}  // namespace fairlead::front
