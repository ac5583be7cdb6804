// See graph_source.hpp. Here is what the program's thread does: the beginning of a run, and its end.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/exception_text.hpp"
#include "front/ptg/graph_source.hpp"
#include "front/ptg/never_fed.hpp"
#include "front/ranks/among_ranks.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::ptg {

void GraphSource::run() {
  core_.caller().check("run");
  if (!core_.holds().none() && core_.holds().own())
    throw UsageError("run() of a parameterized graph waits for all tasks, while this thread holds data" +
                     core_.holds().text());
  if (!early_end_.misuse().empty()) throw UsageError(early_end_.misuse());
  if (fresh_.unmade() != nullptr) std::rethrow_exception(fresh_.unmade());
  if (auto* const ranks = front::among_ranks(core_.surroundings())) {  // what flows have made comes home
    ranks->program().begin_wait();
    ranks->program().end_wait();
  }
  core_.reductions().close_all();
  if (!core_.help_until_all_done(false)) core_.throw_held_up("run");
  core_.throw_if_stopped();
  core_.application().serve_surely();  // the engine looks at none of our tasks any more
  core_.holds().note_footprint(kinds_.largest_footprint());
  let_in_all();
  unfolding_.begin(all_in_lane_.load() && !to_be_announced() && core_.engine().view().workers().size() == 1);
  // A policy that plans knows tasks by numbers in the order in which it has heard of them.
  first_id_ = core_.graph().take_ids(to_be_announced() ? tasks_ : table_.names);
  ahead_.reset();
  if (plans()) {
    ahead_ = std::make_unique<Ahead>(table_, kinds_, values_, active_, fresh_);
    ahead_->begin(first_id_);
  }
  for (Counts& counts : counts_) counts.handed_out.store(0);
  counted_.store(0);
  initial_.begin();
  initial_over_.store(tasks_ == 0);
  // Last: what others have told of this run may come at once, and workers go on with it.
  if (over_ranks_ != nullptr) over_ranks_->begin(kinds_.largest_footprint());
  try {
    count_submitted(tasks_);
    CountedSource::hand_out();
    over_ranks_ == nullptr ? wait_for_all() : wait_over_ranks();
  } catch (...) {  // no memory to wait for other ranks: none of them may use this graph any more
    if (over_ranks_ == nullptr) throw;
    core_.engine().stop(std::current_exception());
    over_ranks_->give_up();
  }
  stop_handing_out();
  throw_if_stopped();
  std::exception_ptr cause;
  if (fresh_.unmade() != nullptr) {
    static_cast<void>(outcome().take(cause));  // tasks were cancelled, which says less
    std::rethrow_exception(fresh_.unmade());
  }
  if (over_ranks_ != nullptr && over_ranks_->has_failed() && outcome().none_failed() &&
      early_end_.misuse().empty())
    throw RankError("the parameterized graph cannot go on: " + over_ranks_->failure() +
                    (over_ranks_->stopped() ? never_fed(table_, &placement(), first_to_wait_) : ""));
  if (early_end_.misuse().empty()) return wait();
  static_cast<void>(outcome().take(cause));
  throw UsageError(early_end_.misuse());
}

/// All data are there still; those that can be stay where they are for the direct lane.
void GraphSource::let_in_all() {
  engine::Engine& engine = core_.engine();
  if (engine.lane_possible() && engine.lane().generation() == 0) engine.try_open_lane();
  // Over ranks values come and go, which the lane does not know.
  const std::uint32_t lane =
      engine.lane_possible() && over_ranks_ == nullptr ? engine.lane().generation() : 0;
  if (lane == lane_ && core_.data_changes() == data_seen_) return;
  for (const auto& collection : table_.collections)
    for (const auto& reference : collection->data)
      if (reference.datum != nullptr &&
          (reference.datum->id == no_id<DatumId> || reference.datum->generation != reference.generation))
        throw UsageError("a parameterized graph uses a datum of " + collection->name +
                         " that is gone: it was removed, or its matrix was destroyed");
  lane_ = lane;
  all_in_lane_.store(lane != 0);
  for (std::uint32_t i = 0; i < values_.all(); ++i) see(values_[i]);
  // What was not let in may be next time.
  data_seen_ = all_in_lane_.load() ? core_.data_changes() : ~std::uint64_t{0};
}

void GraphSource::see(Value& value) {
  engine::RegisteredDatum* const datum = value.datum;
  if (datum == nullptr) return;
  if (datum->view != nullptr)
    throw UsageError("a parameterized graph uses " + datum->text() + ", which is split or a part");
  value.id = datum->id;
  value.in_lane =
      lane_ != 0 && datum->reduction == nullptr && (datum->tail.lane == lane_ || let_in(*datum, lane_));
  if (!value.in_lane) all_in_lane_.store(false);
  value.address = datum->tail.address;
  value.packed = datum->tail.packed;
}

/// Until all tasks are over, also where they are cancelled since something went wrong: what of them could be left would
/// outlive the run.
void GraphSource::wait_for_all() {
  core_.engine().horizon_closed();
  const std::uint64_t before = submitted_ - tasks_;
  progress_.set_target(submitted_);
  for (bool over = false; !over;) {
    bool nothing_moves = false;
    const bool can_go_on = core_.help([&] {
      over = progress_.reached(submitted_);
      const std::uint64_t counted = counted_.load();
      nothing_moves = !over && still(counted) && has_told(before + counted);
      return over || nothing_moves || fresh_.wanted();
    });
    if (core_.engine().stop_reason().stopped()) throw_if_stopped();
    if (!can_go_on) core_.throw_held_up("run");
    if (over) break;
    if (fresh_.wanted()) {
      make_more_fresh();
    } else if (nothing_moves && !progress_.reached(submitted_)) {
      give_up_the_rest(fresh_.given_up() || early_end_.abandoned() || !early_end_.misuse().empty()
                           ? ""
                           : who_waits() +
                                 never_fed(table_, nullptr, first_to_wait(table_, unfolding_.partly())));
    }
  }
  progress_.no_target();
}

/// Until all tasks of this rank are over and nobody waits for it, or somebody cannot go on.
void GraphSource::wait_over_ranks() {
  core_.engine().horizon_closed();
  const std::uint64_t before = submitted_ - tasks_;
  std::pair<std::uint64_t, std::uint64_t> said{~std::uint64_t{0}, 0};  // when we said that we wait
  for (;;) {
    bool over = false, failed = false, waits = false;
    std::optional<std::uint64_t> moved;
    std::uint64_t counted = 0;
    static_cast<void>(core_.help([&] {
      progress_.set_target(submitted_);
      over = progress_.reached(submitted_) && over_ranks_->quiet() && left_.none();
      failed = over_ranks_->has_failed() || cancelled.load() || core_.engine().stop_reason().error() != 0;
      // In this order: what moves after it was asked for is seen by who compares it.
      moved = over_ranks_->moved();
      counted = counted_.load();
      // Its tasks may be over, and others not have what they left.
      const bool idle = !over && still(counted) && has_told(before + counted);
      waits = idle && moved && said != std::pair(*moved, counted);
      return over || failed || waits || fresh_.to_be_made() || is_held_back();
    }));
    failed |= core_.engine().stop_reason().stopped();
    if (over || failed) return end_over_ranks(before, failed);
    if (!fresh_.to_be_made() && is_held_back())
      fresh_.let_more(fresh_.visitors_wait() ? FreshUse::visitor : FreshUse::task);
    if (fresh_.to_be_made()) make_more_fresh();
    if (waits) {
      said = {*moved, counted};
      over_ranks_->waits(*moved, progress_.reached(submitted_) ? "" : who_waits());
    }
  }
}

/// Tasks that have begun may tell others of their ends, others may send what makes tasks ready: so when all is still here it
/// is over for the network, and what has come until then is over before what nobody will feed is counted.
void GraphSource::end_over_ranks(std::uint64_t before, bool failed) {
  const engine::Stop& stop = core_.engine().stop_reason();
  const auto is_still = [&] {
    const std::uint64_t counted = counted_.load();
    return still(counted) && has_told(before + counted);
  };
  if (failed) {
    static_cast<void>(early_end_.failed());  // of tasks here nobody has any use either
    fresh_.give_up();
    over_ranks_->fail(stop.stopped() || stop.error() != 0 ? "its run was stopped"
                      : fresh_.unmade() != nullptr        ? said_by(fresh_.unmade(), "no data can be made")
                      : over_ranks_->has_failed()         ? over_ranks_->failure()
                                                          : "the graph was cancelled");
    if (!stop.stopped()) {  // else nothing is served any more
      cancel();
      CountedSource::hand_out();
    }
    static_cast<void>(core_.help(is_still));
  }
  over_ranks_->end();
  static_cast<void>(core_.help([&] { return is_still() && over_ranks_->quiet(); }));
  if (stop.stopped()) return;
  if (!progress_.reached(submitted_)) {
    first_to_wait_ = first_to_wait(table_, unfolding_.partly());
    give_up_the_rest({});
  }
  progress_.no_target();
}

/// Small values are held back, and those waited for will not come by themselves. Visitors are held back while tasks here can
/// run, which wait for nobody elsewhere. Tasks are held back while others have still to get what is here: they will, since
/// they hold back visitors no longer than that. What no task here can use yet is let in, bit by bit.
bool GraphSource::is_held_back() const noexcept {
  if (!fresh_.wanted() || !has_few_ready(counted_.load())) return false;
  return fresh_.visitors_wait() || !over_ranks_->owes();
}

/// If that cannot be, nobody who waits for one goes on.
void GraphSource::make_more_fresh() {
  try {
    fresh_.make_more([this](Value& value) { see(value); }, [this](ActiveTask& task) { again(task); });
  } catch (...) {
    fresh_.give_up(std::current_exception());
    cancel();
    left_something();
  }
  if (over_ranks_ != nullptr) over_ranks_->look_again();
  core_.application().ask_for_more();
  core_.application().serve();
}

/// While nothing moves: how many tasks are left, and what some of them wait for.
std::string GraphSource::who_waits() const {
  constexpr std::size_t shown = 5;
  std::string some;
  std::size_t begun = 0;
  unfolding_.partly().for_each([&](const ActiveTask& task) {
    if (++begun > shown) return;
    some += fmt::format("\n  {} waits for {} more", table_.text_of(task), task.wait);
  });
  if (begun > shown) some += fmt::format("\n  and {} others that got some of their values", begun - shown);
  return fmt::format("{} of {} tasks wait for what no task gives them{}{}", submitted_ - progress_.done(),
                     tasks_, some.empty() ? "" : ":", some);
}

void GraphSource::give_up_the_rest(const std::string& why) {
  if (!why.empty()) early_end_.misused("the parameterized graph cannot go on: " + why);
  unfolding_.forget_all();
  if (early_end_.abandoned()) outcome().note_not_run(submitted_ - progress_.done());
  progress_.count_by_application(submitted_ - progress_.done());
}

}  // namespace fairlead::ptg
