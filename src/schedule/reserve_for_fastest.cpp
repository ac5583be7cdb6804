// A wrapper for policies that ignore durations. The inner policy sees each ready task as one that only its fastest kind
// of worker can run. If a slower worker would finish the task before the fastest kind works off its backlog, the task
// goes to a separate overflow queue instead:
//   A slower worker takes the newest task of the queue if it still finishes it sooner; otherwise all tasks of the queue
//   return to the inner policy. A worker of the fastest kind takes the oldest task when the inner policy has none for
//   it.
// A few tasks with unknown durations on the slower kind also enter the queue, to be measured.
// The expected time of the fastest kind is its estimate times a measured slowdown, the time between picks over the
// estimate. It exceeds 1 where links are the bottleneck or streams share a device.
#include "schedule/reserve_for_fastest.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/forwarding_policy.hpp"
#include "policy/forwarding_view.hpp"

namespace fairlead::schedule {
namespace {

template <class T>
using ByKind = std::array<T, worker_kind_count>;

constexpr std::size_t index_of(WorkerKind kind) noexcept { return static_cast<std::size_t>(kind); }

/// The ratio of measured to estimated time per task for the workers of one kind, waiting included.
class MeasuredSlowdown {
 public:
  void attach(std::size_t workers) { last_.resize(workers); }
  /// The worker was busy until it picked this task.
  void picked(WorkerId worker, Time now, Duration estimate) {
    Last& last = last_[index(worker)];
    if (last.busy) {
      took_ = took_ * kept + static_cast<double>((now - last.at).count());
      estimated_ = estimated_ * kept + static_cast<double>(last.estimate.count());
    }
    last = {true, now, estimate};
  }
  void found_nothing(WorkerId worker) { last_[index(worker)].busy = false; }
  double times() const noexcept { return estimated_ <= 0 ? 1 : std::max(1.0, took_ / estimated_); }

 private:
  static constexpr double kept = 0.99;  // weight of older measurements, per new task
  struct Last {
    bool busy = false;
    Time at{};
    Duration estimate{};
  };
  std::vector<Last> last_;  // by worker
  double took_ = 0, estimated_ = 0;
};

class ReserveForFastest final : public ForwardingPolicy<ReserveForFastest> {
 public:
  using ForwardingPolicy::ForwardingPolicy;

  void ready(Task& task, WorkerId released_by) override {
    if (several_kinds_ && classify(task)) return;
    inner().ready(task, released_by);
  }
  void returned(Task& task) override {
    if (several_kinds_) classify(task, false);
    inner().returned(task);
  }
  void cancelled(Task& task) override {
    if (several_kinds_) {
      forget(task);
      std::erase(overflow_, &task);
    }
    inner().cancelled(task);
  }

  Task* pick(WorkerId worker, bool must) override {
    Task* task = inner().pick(worker, must);
    if (!several_kinds_) return task;
    if (task != nullptr) {
      note_pick(*task, worker);
      return task;
    }
    pace_of(worker).found_nothing(worker);
    return take_from_overflow(worker, must);
  }

  /// Takes any task of the inner policy that the worker can run, also one reserved for another worker.
  Task* take_any(WorkerId worker) override {
    Task* task = inner().take_any(worker);
    if (!several_kinds_) return task;
    for (const WorkerInfo& other : view().workers()) {
      if (task != nullptr) break;
      task = inner().take_any(other.id);
      if (task == nullptr || view().can_run(*task, worker)) continue;
      inner().returned(*task);
      task = nullptr;
    }
    if (task != nullptr) forget(*task);
    return task;
  }

  /// Classifies the tasks that the lost worker could have run again: their fastest kind may have changed.
  void worker_lost(WorkerId lost) override {
    if (!several_kinds_) return inner().worker_lost(lost);
    std::vector<Task*> again;
    while (Task* task = inner().pick(lost, true)) {
      forget(*task);
      again.push_back(task);
    }
    again.insert(again.end(), overflow_.begin(), overflow_.end());
    overflow_.clear();
    lost_[index(lost)] = true;
    --present_[index_of(kind_of(lost))];
    inner().worker_lost(lost);
    for (Task* task : again) returned(*task);
  }

 private:
  /// A task in the inner policy that only its fastest kind may run.
  struct Reserved {
    WorkerKind best;
    Duration work;  // estimated duration on that kind
  };
  /// The machine as the inner policy sees it: only the fastest kind can run a task.
  class FastestKindView final : public ForwardingView {
   public:
    FastestKindView(View& outer, const ReserveForFastest& patience)
        : ForwardingView(outer), patience_(patience) {}
    bool can_run(const Task& task, WorkerId worker) const override {
      return ForwardingView::can_run(task, worker) && !patience_.is_reserved_for_other_kind(task, worker);
    }

   private:
    const ReserveForFastest& patience_;
  };
  /// The kinds of worker that can run a task, with their estimates.
  struct EligibleWorkers {
    ByKind<std::optional<WorkerId>> one{};  // one worker of each kind that is not lost
    ByKind<Duration> estimate{};
    WorkerKind best{};
    std::size_t kinds = 0;
  };

  void attached() override {
    const auto workers = view().workers();
    several_kinds_ = std::ranges::any_of(
        workers, [&](const WorkerInfo& worker) { return worker.kind != workers.front().kind; });
    if (!several_kinds_) return ForwardingPolicy::attached();
    lost_.assign(workers.size(), false);
    for (const WorkerInfo& worker : workers) ++present_[index_of(worker.kind)];
    for (MeasuredSlowdown& pace : paces_) pace.attach(workers.size());
    only_best_.emplace(view(), *this);
    inner().attach(*only_best_);
  }

  /// Safety factor: a slower worker must finish sooner by this factor, since other tasks may depend on its
  /// task.
  static constexpr double safety_factor = 1.3;

  WorkerKind kind_of(WorkerId worker) const { return view().workers()[index(worker)].kind; }
  MeasuredSlowdown& pace_of(WorkerId worker) { return paces_[index_of(kind_of(worker))]; }
  bool is_reserved_for_other_kind(const Task& task, WorkerId worker) const {
    const auto found = reserved_.find(&task);
    return found != reserved_.end() && found->second.best != kind_of(worker);
  }

  EligibleWorkers find_eligible_workers(const Task& task) const {
    EligibleWorkers runners;
    for (const WorkerInfo& worker : view().workers()) {
      const std::size_t kind = index_of(worker.kind);
      if (runners.one[kind].has_value() || lost_[index(worker.id)] || !view().can_run(task, worker.id))
        continue;
      runners.one[kind] = worker.id;
      runners.estimate[kind] = view().estimate(task, worker.id);
      if (runners.kinds++ == 0 || runners.estimate[kind] < runners.estimate[index_of(runners.best)])
        runners.best = worker.kind;
    }
    return runners;
  }

  /// Returns true if the task went to the overflow queue. Otherwise reserves it for its fastest kind; the caller passes
  /// it to the inner policy.
  bool classify(Task& task, bool may_be_over = true) {
    const EligibleWorkers runners = find_eligible_workers(task);
    if (runners.kinds < 2) return false;
    const Duration work = runners.estimate[index_of(runners.best)];
    for (std::size_t kind = 0; may_be_over && kind < worker_kind_count; ++kind) {
      if (kind == index_of(runners.best) || !runners.one[kind].has_value()) continue;
      const std::size_t before = overflow_.size() / present_[kind];
      const bool soon =
          runners.estimate[kind] * static_cast<std::int64_t>(before + 1) < until_done(runners.best, work);
      if (!soon && (before > 0 || view().is_estimate_reliable(task, *runners.one[kind]))) continue;
      overflow_.push_back(&task);
      return true;
    }
    reserved_.emplace(&task, Reserved{runners.best, work});
    backlog_[index_of(runners.best)] += work;
    return false;
  }

  /// Time in which that kind works off its backlog and one more task, divided by the safety factor.
  Duration until_done(WorkerKind kind, Duration work) const {
    const std::size_t k = index_of(kind);
    const auto workers = static_cast<double>(std::max<std::size_t>(1, present_[k]));
    const double all = static_cast<double>(backlog_[k].count()) / workers + static_cast<double>(work.count());
    return Duration{static_cast<std::int64_t>(paces_[k].times() * all / safety_factor)};
  }

  void forget(const Task& task) {
    const auto found = reserved_.find(&task);
    if (found == reserved_.end()) return;
    backlog_[index_of(found->second.best)] -= found->second.work;
    reserved_.erase(found);
  }
  void note_pick(const Task& task, WorkerId worker) {
    forget(task);
    pace_of(worker).picked(worker, view().now(), view().estimate(task, worker));
  }

  /// A task of the overflow queue, for a worker for which the inner policy has none.
  Task* take_from_overflow(WorkerId worker, bool must) {
    const auto able = [&](const Task* task) { return view().can_run(*task, worker); };
    const auto oldest = std::ranges::find_if(overflow_, able);
    if (oldest == overflow_.end()) return nullptr;
    const EligibleWorkers runners = find_eligible_workers(**oldest);
    if (must || runners.best == kind_of(worker)) return take(oldest);
    const auto newest = std::prev(std::ranges::find_if(overflow_.rbegin(), overflow_.rend(), able).base());
    if (!view().is_estimate_reliable(**newest, worker))
      return kind_of(worker) == WorkerKind::cpu && a_core_tries() ? nullptr : take(newest);
    const Duration here = view().estimate(**newest, worker);
    const Duration there = until_done(runners.best, runners.estimate[index_of(runners.best)]);
    view().pipeline(view().workers()[index(worker)].node, pipeline_);
    const auto before = std::ranges::count(pipeline_, worker, &Task::worker);
    if (here * (before + 1) < there) return take(newest);
    if (here >= there) give_back_all();
    return nullptr;
  }
  /// True if a core already runs a trial. One is enough: with trials on a hundred slow cores, all other workers would
  /// wait for the last of these.
  bool a_core_tries() {
    return std::ranges::any_of(view().nodes(), [&](const NodeInfo& node) {
      view().pipeline(node.id, pipeline_);
      return std::ranges::any_of(pipeline_, [&](const Task* task) {
        return kind_of(task->worker) == WorkerKind::cpu &&
               !view().is_estimate_reliable(*task, task->worker) && find_eligible_workers(*task).kinds > 1;
      });
    });
  }
  Task* take(std::deque<Task*>::iterator at) {
    Task* const task = *at;
    overflow_.erase(at);
    return task;
  }
  void give_back_all() {
    for (Task* task : std::exchange(overflow_, {})) {
      classify(*task, false);
      inner().ready(*task, no_id<WorkerId>);
    }
  }

  bool several_kinds_ = false;
  std::optional<FastestKindView> only_best_;
  std::vector<bool> lost_;         // by worker
  ByKind<std::size_t> present_{};  // by kind: workers that are not lost
  ByKind<Duration> backlog_{};     // by kind: estimated work of the tasks reserved for it
  ByKind<MeasuredSlowdown> paces_;
  std::unordered_map<const Task*, Reserved> reserved_;
  std::deque<Task*> overflow_;  // the overflow queue, oldest first
  std::vector<const Task*> pipeline_;
};

}  // namespace

std::unique_ptr<Policy> reserve_for_fastest(std::unique_ptr<Policy> inner) {
  return std::make_unique<ReserveForFastest>(std::move(inner));
}

}  // namespace fairlead::schedule
