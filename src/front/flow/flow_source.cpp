// Submission: the checks that refuse a mistake where it is made, then one insertion into the graph.
#include "front/flow/flow_source.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes_text.hpp"
#include "base/exception_text.hpp"
#include "base/pages.hpp"
#include "data/ready.hpp"
#include "front/flow/gathered.hpp"
#include "front/ranks/among_ranks.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {
constexpr std::uint64_t tasks_between_lane_trials = 1024;

}  // namespace

FlowSource::FlowSource(engine::RuntimeCore& core)
    : CountedSource(core),
      common_program_(among_ranks(core.surroundings()) == nullptr
                          ? nullptr
                          : &among_ranks(core.surroundings())->program()) {}

FlowSource::~FlowSource() {
  if (!finished_) finish();
  if (common_program_ != nullptr) common_program_->remove(*this);
  // The engine may not have looked at the ends of our last tasks yet, and somebody may be saying what runs.
  core_.caller().may_wait() ? core_.application().serve_surely() : core_.world().serve_for_others();
  core_.engine().locked([](memory::Memory&) {});
  if (!stop_heard_) outcome_.say_what_nobody_heard();
}

bool FlowSource::finish() noexcept {
  finished_ = true;
  bool folds_later = false;  // for the first that needs the values, or when the runtime ends
  try {
    if (core_.caller().may_wait())
      core_.reductions().close_all(this);
    else
      folds_later = core_.reductions().has_part_in_any(this);
    if (has_common_) common_program_->leave();
    if (core_.caller().may_wait() && done() != submitted_) wait_until_done(submitted_, true);
    if (core_.caller().may_wait() && outcome_.callbacks()->open.load() != 0)
      core_.help([this] { return outcome_.callbacks()->open.load() == 0; }, true);
    if (core_.caller().may_wait()) core_.home_values().refresh();
  } catch (...) {
    // What stopped the run is told to those who wait.
    core_.reductions().orphan(this);
  }
  return !folds_later && done() == submitted_;
}

/// Throws UsageError for what must not be used, or not like this. Changes nothing.
void FlowSource::gather(const Submission& submission, Gathered& out) const {
  std::size_t used = 0;
  out.lane = core_.engine().lane().generation();
  if (submission.uses.size() > most_uses)
    throw UsageError(fmt::format("{} has {} parameters that are data; there may be {}\n  submitted at {}:{}",
                                 SubmissionFit::subject(submission), submission.uses.size(), most_uses,
                                 submission.file, submission.line));
  for (const Submission::Use& use : submission.uses) {
    if (use.datum == nullptr)
      throw UsageError(fmt::format("{} is given an empty handle as its datum {}\n  submitted at {}:{}",
                                   SubmissionFit::subject(submission), used + 1, submission.file,
                                   submission.line));
    if (const SharedDatum* const shared = shared_of(*use.datum);
        shared != nullptr && shared->named == use.datum && shared->home == nullptr &&
        use.datum->generation == use.generation)
      throw UsageError(fmt::format(
          "{} uses {}, which is rank {}'s: what this rank does alone it does with its own data\n  "
          "submitted at {}:{}",
          SubmissionFit::subject(submission), use.datum->text(), net::index(shared->owner), submission.file,
          submission.line));
    if (use.datum->id == no_id<DatumId> || use.datum->generation != use.generation)
      throw UsageError(
          fmt::format("{} uses a datum that is gone: it was removed, or its matrix was destroyed\n  "
                      "submitted at {}:{}",
                      SubmissionFit::subject(submission), submission.file, submission.line));
    out.any_order |= writes_in_any_order(use.mode);
    out.first_write |= writes(use.mode) && !use.datum->ever_written;
    std::size_t same = 0;
    while (same < out.count && out.insertions[same].datum != use.datum->id) ++same;
    if (same < out.count) {
      out.access_of_use[used++] = static_cast<std::uint8_t>(same);
      out.insertions[same].mode = graph::merged(out.insertions[same].mode, use.mode);
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
    // Comes while the rest is looked at: what reads it later are locked instructions, which wait one by one.
    __builtin_prefetch(use.datum->tail.last, 1);
    out.access_of_use[used++] = static_cast<std::uint8_t>(out.count);
    out.insertions[out.count++] = {&use.datum->tail, use.datum->id, use.mode, 0};
    const Bytes rounded = whole_pages_for(use.datum->bytes);
    out.footprint += rounded;
    if (!use.datum->in_place) out.host_footprint += rounded;
    out.views |= use.datum->view != nullptr;
    out.reduced |= use.datum->reduction != nullptr;
    out.all_in_lane &= use.datum->tail.lane == out.lane;
    if (reads(use.mode) && (!use.datum->ever_written || use.datum->view != nullptr) && !has_value(*use.datum))
      throw UsageError(fmt::format("{} reads {}, which nothing has written yet\n  submitted at {}:{}",
                                   SubmissionFit::subject(submission), use.datum->text(), submission.file,
                                   submission.line));
  }
  if (out.views) [[unlikely]]
    SubmissionFit::check_views(submission);
  if (submission.device != no_device) fit_.check_device(submission);
}

/// Of what was gathered: data that were named twice are one access.
PlaceHint FlowSource::place_of(const Submission& submission, const Gathered& gathered) noexcept {
  PlaceHint place;
  place.device = static_cast<std::int8_t>(submission.device);
  if (submission.like >= 0)
    place.like = static_cast<std::int8_t>(gathered.access_of_use[static_cast<std::size_t>(submission.like)]);
  return place;
}

void FlowSource::insert(const Submission& submission, std::shared_ptr<WatchedTask> watched,
                        const Order* order) {
  if (window_.held_up()) [[unlikely]] {
    window_.try_again(*this);
    throw_if_stopped();
    if (window_.held_up()) window_.throw_held_up(*this);
  }
  if (cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    core_.throw_if_winding_down();  // else millions of tasks would be submitted that do not run
  Gathered gathered;
  gather(submission, gathered);
  const Bytes scratch = whole_pages_for(submission.scratch_bytes);
  gathered.footprint += scratch;
  gathered.host_footprint += scratch;
  const bool somebody_can = (submission.codelet->kinds & core_.machine().kinds_of_workers) != 0;
  const bool fits_anywhere = somebody_can && gathered.footprint <= core_.machine().smallest_cache;
  const bool by_one_kind = core_.fixed_order() && core_.machine().devices != 0;
  std::uint32_t excluded =
      fits_anywhere && submission.node == no_id<NodeId> && !by_one_kind ? 0 : fit_.nodes_excluded(submission);
  const std::uint16_t together =
      submission.workers.count() == 1 ? std::uint16_t{0} : fit_.workers_wanted(submission, excluded);
  if (gathered.host_footprint != 0 && ((excluded >> index(core_.engine().view().host())) & 1u) == 0 &&
      (submission.codelet->kinds & core_.machine().host_kinds) != 0) {
    // Whatever may run there has to find room beside what the application holds.
    if (!core_.holds().none()) [[unlikely]]
      core_.holds().check_room(gathered.host_footprint, false, SubmissionFit::text_of(submission),
                               submission);
    if (is_common_) common_program_->check_room(gathered.host_footprint, submission);
    core_.holds().note_footprint(gathered.host_footprint + (is_common_ ? common_program_->reserve() : 0));
  }
  std::vector<engine::SubmissionBook::Use> written_down;  // as the program says, which may be changed below
  if (core_.submission_book() != nullptr) [[unlikely]]
    written_down = gathered.uses_of(submission);
  Task& task = core_.or_stop([&]() -> Task& { return make_task(submission, gathered, excluded, together); });
  if (submission.fill_closure != nullptr) {
    try {
      submission.fill_closure(task.closure.data(), submission.arguments, gathered.access_of_use.data());
    } catch (...) {
      core_.graph().discard(task);
      throw;
    }
  }
  core_.or_stop([&] {
    if (core_.submission_book() != nullptr) [[unlikely]]
      write_down(submission, gathered, written_down, order);
    put_in(task, submission, gathered, std::move(watched), order);
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

/// A descriptor with all but the closure. What has to come before the task is in the graph afterwards.
[[gnu::always_inline]] inline Task& FlowSource::make_task(const Submission& submission, Gathered& gathered,
                                                          std::uint32_t excluded, std::uint16_t together) {
  if (gathered.views) [[unlikely]]
    show_all(submission);
  const TaskTraits traits = traits_of(submission, gathered, excluded, together);
  // The lane does not know that values come and go.
  const std::uint32_t lane =
      core_.engine().lane_possible() && !is_common_ ? lane_for(traits, submission, gathered) : 0;
  if (core_.fixed_order() && gathered.any_order) [[unlikely]]
    for (graph::Insertion& insertion : std::span(gathered.insertions).first(gathered.count))
      if (writes_in_any_order(insertion.mode)) insertion.mode = AccessMode::read_write;
  if (gathered.reduced || !submission.codelet->reductions.empty()) [[unlikely]]
    follow_reductions(submission, gathered);

  Task& task = new_task(traits, gathered.count);
  task.lane = lane;
  return task;
}

[[gnu::always_inline]] inline void FlowSource::put_in(Task& task, const Submission& submission,
                                                      const Gathered& gathered,
                                                      std::shared_ptr<WatchedTask> watched,
                                                      const Order* order) {
  if (gathered.first_write)
    for (const Submission::Use& use : submission.uses) use.datum->ever_written |= writes(use.mode);
  bool call_later = false;
  if (watched != nullptr) {
    if (core_.home_values().may_be_away())
      for (const Submission::Use& use : submission.uses)
        if (writes(use.mode) && use.datum->in_place) watched->own_data.push_back(use.datum->id);
    if (order != nullptr && order->on_done != nullptr) {
      watched->whose = fmt::format("the task {}, submitted at {}:{},", submission.codelet->name,
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
    // acq_rel: sees what those did that are over.
    if (over != 0) ready = task.wait.fetch_sub(over, std::memory_order_acq_rel) == over;
  }
  if (ready) tell_ready(task);
  if (call_later) call_when_home(submission, watched, order->on_done);
}

/// Nothing can be refused any more: a line cannot be taken back.
void FlowSource::write_down(const Submission& submission, const Gathered& gathered,
                            std::span<const engine::SubmissionBook::Use> uses, const Order* order) {
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

/// Tasks that ask for nothing special, on data that stay where they are.
std::uint32_t FlowSource::lane_for(const TaskTraits& traits, const Submission& submission,
                                   const Gathered& gathered) {
  if (!engine::may_pass(traits) || gathered.views || gathered.any_order || gathered.reduced) return 0;
  std::uint32_t lane = gathered.lane;
  if (lane == 0) [[unlikely]] {
    engine::Engine& engine = core_.engine();
    if (submitted_ != progress_.done() && submitted_ < next_lane_trial_) return 0;
    next_lane_trial_ = submitted_ + tasks_between_lane_trials;
    if (!engine.try_open_lane()) return 0;
    lane = engine.lane().generation();
  } else if (gathered.all_in_lane) {
    return lane;
  }
  for (const Submission::Use& use : submission.uses)
    if (use.datum->tail.lane != lane && !let_in(*use.datum, lane)) return 0;
  return lane;
}

bool FlowSource::let_in(engine::RegisteredDatum& datum, std::uint32_t lane) {
  void* const address = core_.engine().let_into_lane(datum.id, datum.ever_written || has_value(datum));
  if (address == nullptr) return false;
  datum.tail.address = address;
  datum.tail.lane = lane;
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

void FlowSource::tell_ready(Task& task) {
  if (core_.application().put_in_lane(task)) {
    if (core_.world().must_be_told()) core_.world().wake(engine::Who::any_worker());
    return;
  }
  core_.engine().entrance().post(task, EventKind::task_ready, no_id<WorkerId>, Time{});
  if (core_.world().must_be_told()) core_.application().serve();
}

void FlowSource::retain(const std::shared_ptr<const CodeletInfo>& codelet) {
  if (codelet.get() == last_codelet_) return;
  last_codelet_ = codelet.get();
  if (std::ranges::find(codelets_, codelet) == codelets_.end()) codelets_.push_back(codelet);
}

void FlowSource::throw_if_stopped() {
  stop_heard_ |= core_.engine().stop_reason().stopped() || core_.engine().stop_reason().error() != 0;
  core_.throw_if_stopped();
}

bool FlowSource::pass_over_ranks(const Submission& submission,
                                 const std::shared_ptr<const CodeletInfo>& codelet,
                                 const std::shared_ptr<WatchedTask>& watched, const Order* order) {
  const CommonProgram::Where where = common_program_->pass(submission, codelet);
  if (where == CommonProgram::Where::alone) return false;
  has_common_ = true;
  if (where == CommonProgram::Where::elsewhere) {
    if (watched != nullptr) watched->pass_by();
    return true;
  }
  bool brought = false;
  try {
    if (order != nullptr && std::ranges::any_of(order->after, [](const auto& it) { return it->elsewhere; }))
      throw UsageError(fmt::format(
          "{} is to come after a task of another rank: that order is only kept by data\n  submitted "
          "at {}:{}",
          SubmissionFit::subject(submission), submission.file, submission.line));
    common_program_->add(*this);
    retain(codelet);
    Submission local = submission;
    local.uses = common_program_->bring(submission);
    brought = is_common_ = true;
    insert(local, watched, order);
  } catch (...) {
    is_common_ = false;
    common_program_->refused(submission, brought, std::current_exception());
    throw;
  }
  is_common_ = false;
  common_program_->written(submission);
  return true;
}

void FlowSource::wait() {
  core_.caller().check("wait");
  core_.reductions().close_all(this);
  core_.engine().all_submitted();
  core_.engine().horizon_closed();
  if (std::exchange(has_common_, false)) {
    common_program_->begin_wait();
    common_program_->end_wait();
  }
  const bool over =
      wait_until_done(submitted_) && core_.help([this] { return outcome_.callbacks()->open.load() == 0; });
  throw_if_stopped();
  if (!over) core_.throw_held_up("wait()");
  core_.home_values().refresh();
  if (core_.submission_book() != nullptr) core_.submission_book()->phase_ended();
  std::exception_ptr cause;
  const std::string text = outcome_.take(cause);
  if (cause == nullptr && common_program_ != nullptr && common_program_->has_failed())
    throw RankError("the flow cannot go on: " + common_program_->failure());
  if (text.empty()) return core_.home_values().throw_if_lost();
  if (cause == nullptr) throw TaskError(text);
  throw_nesting(cause, text);
}

void FlowSource::release(Task& task, ReadyTasks& ready) {
  outcome_.over(task, ready.described);
  if (task.family == &common_ && (task.failure != nullptr || task.cancelled)) [[unlikely]]
    common_program_->failed_here(outcome_.text_of_end(task));
  graph::Graph::complete(task, ready.described, ready.recycler);
}

}  // namespace fairlead::front
