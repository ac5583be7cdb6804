// The program's thread's half of GraphSource: start and end of a run.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/exception_text.hpp"
#include "front/ptg/describe_stall.hpp"
#include "front/ptg/graph_source.hpp"
#include "front/ranks/rank_context.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::ptg {

void GraphSource::run() {
  core_.caller().check("run");
  if (!core_.holds().none() && core_.holds().own())
    throw UsageError("run() of a parameterized graph waits for all tasks, while this thread holds data" +
                     core_.holds().text());
  if (!early_end_.error().empty()) throw UsageError(early_end_.error());
  if (fresh_.creation_error() != nullptr) std::rethrow_exception(fresh_.creation_error());
  // values that flows have made are written back
  if (auto* const ranks = front::rank_context(core_.surroundings())) {
    ranks->program().begin_wait();
    ranks->program().end_wait();
  }
  core_.reductions().close_all();
  if (!core_.wait_for_all(false)) core_.throw_deadlock("run");
  core_.throw_if_stopped();
  core_.application().serve_blocking();  // the engine no longer reads tasks of this graph
  core_.holds().note_footprint(kinds_.largest_footprint());
  enable_fast_path();
  unfolding_.begin(all_on_fast_path_.load() && !to_be_announced() &&
                   core_.engine().view().workers().size() == 1);
  // A planning policy identifies tasks by ids in the order of their announcement.
  first_id_ = core_.graph().take_ids(to_be_announced() ? tasks_ : table_.names);
  ahead_.reset();
  if (plans()) {
    ahead_ = std::make_unique<Lookahead>(table_, kinds_, values_, active_, fresh_);
    ahead_->begin(first_id_);
  }
  for (Counts& counts : counts_) counts.handed_out.store(0);
  counted_.store(0);
  initial_.begin();
  initial_over_.store(tasks_ == 0);
  // Last: messages from other ranks about this run may arrive at once, and workers process them.
  if (over_ranks_ != nullptr) over_ranks_->begin(kinds_.largest_footprint());
  try {
    count_submitted(tasks_);
    CountedSource::hand_out();
    over_ranks_ == nullptr ? wait_for_all() : wait_over_ranks();
  } catch (...) {  // e.g. no memory to wait for other ranks; they must not use this graph any more
    if (over_ranks_ == nullptr) throw;
    core_.engine().stop(std::current_exception());
    over_ranks_->give_up();
  }
  stop_handing_out();
  throw_if_stopped();
  std::exception_ptr cause;
  if (fresh_.creation_error() != nullptr) {
    // the failure is reported, not the cancellations that follow from it
    static_cast<void>(outcome().take(cause));
    std::rethrow_exception(fresh_.creation_error());
  }
  if (over_ranks_ != nullptr && over_ranks_->has_failed() && outcome().none_failed() &&
      early_end_.error().empty())
    throw RankError("the parameterized graph was aborted: " + over_ranks_->failure() +
                    (over_ranks_->is_stalled() ? describe_stall(table_, &placement(), first_to_wait_) : ""));
  if (early_end_.error().empty()) return wait();
  static_cast<void>(outcome().take(cause));
  throw UsageError(early_end_.error());
}

/// Checks that all data still exist, and enables the fast path for those that can use it.
void GraphSource::enable_fast_path() {
  engine::Engine& engine = core_.engine();
  if (engine.fast_path_possible() && engine.fast_path().generation() == 0) engine.try_open_fast_path();
  // With several ranks, values are transferred, which the fast path does not support.
  const std::uint32_t fast_path =
      engine.fast_path_possible() && over_ranks_ == nullptr ? engine.fast_path().generation() : 0;
  if (fast_path == fast_path_ && core_.data_changes() == data_seen_) return;
  for (const auto& collection : table_.collections)
    for (const auto& reference : collection->data)
      if (reference.datum != nullptr &&
          (reference.datum->id == no_id<DatumId> || reference.datum->generation != reference.generation))
        throw UsageError("a parameterized graph uses a datum of " + collection->name +
                         " that no longer exists: it was removed, or its matrix was destroyed");
  fast_path_ = fast_path;
  all_on_fast_path_.store(fast_path != 0);
  for (std::uint32_t i = 0; i < values_.all(); ++i) refresh_value(values_[i]);
  // Data that were not enabled may be next time.
  data_seen_ = all_on_fast_path_.load() ? core_.data_changes() : ~std::uint64_t{0};
}

void GraphSource::refresh_value(FlowValue& value) {
  engine::RegisteredDatum* const datum = value.datum;
  if (datum == nullptr) return;
  if (datum->view != nullptr)
    throw UsageError("a parameterized graph uses " + datum->text() + ", which is split or a part");
  value.id = datum->id;
  value.on_fast_path = fast_path_ != 0 && datum->reduction == nullptr &&
                       (datum->tail.fast_path == fast_path_ || enter_fast_path(*datum, fast_path_));
  if (!value.on_fast_path) all_on_fast_path_.store(false);
  value.address = datum->tail.address;
  value.packed = datum->tail.packed;
}

/// Waits until all tasks are finished, even if they are cancelled after an error: tasks left over would outlive the
/// run.
void GraphSource::wait_for_all() {
  core_.engine().horizon_closed();
  const std::uint64_t before = submitted_ - tasks_;
  progress_.set_target(submitted_);
  for (bool over = false; !over;) {
    bool nothing_moves = false;
    const bool can_go_on = core_.wait([&] {
      over = progress_.reached(submitted_);
      const std::uint64_t counted = counted_.load();
      nothing_moves = !over && is_quiescent(counted) && is_counted(before + counted);
      return over || nothing_moves || fresh_.has_waiters();
    });
    if (core_.engine().stop_reason().stopped()) throw_if_stopped();
    if (!can_go_on) core_.throw_deadlock("run");
    if (over) break;
    if (fresh_.has_waiters()) {
      make_more_fresh();
    } else if (nothing_moves && !progress_.reached(submitted_)) {
      drop_pending(fresh_.given_up() || early_end_.abandoned() || !early_end_.error().empty()
                       ? ""
                       : describe_pending() +
                             describe_stall(table_, nullptr, stall_roots(table_, unfolding_.partly())));
    }
  }
  progress_.no_target();
}

/// Waits until all tasks of this rank are finished and no other rank needs values from it, or a rank cannot continue.
void GraphSource::wait_over_ranks() {
  core_.engine().horizon_closed();
  const std::uint64_t before = submitted_ - tasks_;
  // the state of the last report as idle
  std::pair<std::uint64_t, std::uint64_t> reported{~std::uint64_t{0}, 0};
  for (;;) {
    bool over = false, failed = false, waits = false;
    std::optional<std::uint64_t> moved;
    std::uint64_t counted = 0;
    static_cast<void>(core_.wait([&] {
      progress_.set_target(submitted_);
      over = progress_.reached(submitted_) && over_ranks_->no_transfers() && left_.none();
      failed = over_ranks_->has_failed() || cancelled.load() || core_.engine().stop_reason().error() != 0;
      // Read before the counts, so that a comparison with this value detects any later progress.
      moved = over_ranks_->progress();
      counted = counted_.load();
      // True also when all tasks are finished, but other ranks have still to fetch values.
      const bool idle = !over && is_quiescent(counted) && is_counted(before + counted);
      waits = idle && moved && reported != std::pair(*moved, counted);
      return over || failed || waits || fresh_.to_be_made() || is_held_back();
    }));
    failed |= core_.engine().stop_reason().stopped();
    if (over || failed) return end_over_ranks(before, failed);
    if (!fresh_.to_be_made() && is_held_back())
      fresh_.raise_limit(fresh_.visitors_wait() ? FreshUse::remote_value : FreshUse::task);
    if (fresh_.to_be_made()) make_more_fresh();
    if (waits) {
      reported = {*moved, counted};
      over_ranks_->report_idle(*moved, progress_.reached(submitted_) ? "" : describe_pending());
    }
  }
}

/// Running tasks may still notify other ranks, and these may send values that make tasks ready. So the run ends in
/// the network only when this rank is quiescent. Values that arrived until then are processed before the tasks that
/// cannot run are counted.
void GraphSource::end_over_ranks(std::uint64_t before, bool failed) {
  const engine::StopReason& stop = core_.engine().stop_reason();
  const auto is_still = [&] {
    const std::uint64_t counted = counted_.load();
    return is_quiescent(counted) && is_counted(before + counted);
  };
  if (failed) {
    // abandons the graph if failures do; results on this rank are not needed either
    static_cast<void>(early_end_.failed());
    fresh_.give_up();
    over_ranks_->fail(stop.stopped() || stop.error() != 0 ? "its run was stopped"
                      : fresh_.creation_error() != nullptr
                          ? exception_text(fresh_.creation_error(), "no data can be created")
                      : over_ranks_->has_failed() ? over_ranks_->failure()
                                                  : "the graph was cancelled");
    if (!stop.stopped()) {  // otherwise nothing is processed any more
      cancel();
      CountedSource::hand_out();
    }
    static_cast<void>(core_.wait(is_still));
  }
  over_ranks_->end();
  static_cast<void>(core_.wait([&] { return is_still() && over_ranks_->no_transfers(); }));
  if (stop.stopped()) return;
  if (!progress_.reached(submitted_)) {
    first_to_wait_ = stall_roots(table_, unfolding_.partly());
    drop_pending({});
  }
  progress_.no_target();
}

/// True if values are held back by the limit on small data and would wait forever. Values from other ranks are held
/// back while tasks here can run without them. Tasks are held back while other ranks have still to fetch values from
/// here; they will, as they too hold back arriving values only for a time. Values that no task here can use yet are
/// admitted bit by bit.
bool GraphSource::is_held_back() const noexcept {
  if (!fresh_.has_waiters() || !has_few_ready(counted_.load())) return false;
  return fresh_.visitors_wait() || !over_ranks_->has_pending_sends();
}

/// Creates missing fresh data. If that fails, all tasks that wait for one are dropped.
void GraphSource::make_more_fresh() {
  try {
    fresh_.make_more([this](FlowValue& value) { refresh_value(value); },
                     [this](TaskInstance& task) { retry(task); });
  } catch (...) {
    fresh_.give_up(std::current_exception());
    cancel();
    has_more_ready();
  }
  if (over_ranks_ != nullptr) over_ranks_->retry_placement();
  core_.application().ask_for_more();
  core_.application().serve();
}

/// For a stalled graph: the number of remaining tasks, and what some of them wait for.
std::string GraphSource::describe_pending() const {
  constexpr std::size_t shown = 5;
  std::string some;
  std::size_t begun = 0;
  unfolding_.partly().for_each([&](const TaskInstance& task) {
    if (++begun > shown) return;
    some += fmt::format("\n  {} waits for {} more", table_.text_of(task), task.missing_inputs);
  });
  if (begun > shown)
    some += fmt::format("\n  and {} others that received some of their values", begun - shown);
  return fmt::format("{} of {} tasks wait for inputs that no task provides{}{}",
                     submitted_ - progress_.done(), tasks_, some.empty() ? "" : ":", some);
}

void GraphSource::drop_pending(const std::string& why) {
  if (!why.empty()) early_end_.record_error("the parameterized graph was aborted: " + why);
  unfolding_.drop_pending();
  if (early_end_.abandoned()) outcome().note_not_run(submitted_ - progress_.done());
  progress_.count_by_application(submitted_ - progress_.done());
}

}  // namespace fairlead::ptg
