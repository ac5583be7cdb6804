// A task that becomes ready goes to the policy within, as one that only the kind of worker that is best at it
// can run: so that it orders tasks, and plans data, as if the others were not there. But if a slower worker
// would be done with it sooner than the best kind with all that waits, it is left over, in a line of its own:
//   a slower worker takes the newest of them, for which others probably wait last, if it still is done
//   sooner; if not, all go to the policy within; a worker of the best kind to which the policy within gives
//   nothing takes the oldest in any case.
// A few tasks that have never run on the slower kind are left over anyway, to learn how long they take.
// What the best kind takes for a task is its estimate times a pace, measured from pick to pick while the
// policy gives it tasks: links are often what it waits for, and the streams of a device share it.
#include "schedule/patience.hpp"

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

/// How much longer than estimated workers of one kind take per task, waiting included.
class Pace {
 public:
  void attach(std::size_t workers) { last_.resize(workers); }
  /// The worker had something to do until it got this.
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
  static constexpr double kept = 0.99;  // of what was known before, with each task
  struct Last {
    bool busy = false;
    Time at{};
    Duration estimate{};
  };
  std::vector<Last> last_;  // by worker
  double took_ = 0, estimated_ = 0;
};

class Patience final : public ForwardingPolicy<Patience> {
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
      std::erase(over_, &task);
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
    return take_over(worker, must);
  }

  /// What others would be given, if it comes to that.
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

  /// What the worker could have had comes anew: the best kind for it may be another now.
  void worker_lost(WorkerId lost) override {
    if (!several_kinds_) return inner().worker_lost(lost);
    std::vector<Task*> again;
    while (Task* task = inner().pick(lost, true)) {
      forget(*task);
      again.push_back(task);
    }
    again.insert(again.end(), over_.begin(), over_.end());
    over_.clear();
    lost_[index(lost)] = true;
    --present_[index_of(kind_of(lost))];
    inner().worker_lost(lost);
    for (Task* task : again) returned(*task);
  }

 private:
  /// A task that the policy within has, and that only the best kind for it is to run.
  struct Reserved {
    WorkerKind best;
    Duration work;  // of that kind
  };
  /// What the policy within sees: only the best kind can run a task.
  class OnlyBest final : public ForwardingView {
   public:
    OnlyBest(View& outer, const Patience& patience) : ForwardingView(outer), patience_(patience) {}
    bool can_run(const Task& task, WorkerId worker) const override {
      return ForwardingView::can_run(task, worker) && !patience_.barred(task, worker);
    }

   private:
    const Patience& patience_;
  };
  /// Who can run a task, and how fast.
  struct Runners {
    ByKind<std::optional<WorkerId>> one{};  // that is not lost
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
    for (Pace& pace : paces_) pace.attach(workers.size());
    only_best_.emplace(view(), *this);
    inner().attach(*only_best_);
  }

  /// A slower worker has to be done so much sooner: others may wait for what it took.
  static constexpr double caution = 1.3;

  WorkerKind kind_of(WorkerId worker) const { return view().workers()[index(worker)].kind; }
  Pace& pace_of(WorkerId worker) { return paces_[index_of(kind_of(worker))]; }
  bool barred(const Task& task, WorkerId worker) const {
    const auto found = reserved_.find(&task);
    return found != reserved_.end() && found->second.best != kind_of(worker);
  }

  Runners look_for_runners(const Task& task) const {
    Runners runners;
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

  /// Whether the task is left over; if not, the policy within is to get it.
  bool classify(Task& task, bool may_be_over = true) {
    const Runners runners = look_for_runners(task);
    if (runners.kinds < 2) return false;
    const Duration work = runners.estimate[index_of(runners.best)];
    for (std::size_t kind = 0; may_be_over && kind < worker_kind_count; ++kind) {
      if (kind == index_of(runners.best) || !runners.one[kind].has_value()) continue;
      const std::size_t before = over_.size() / present_[kind];
      const bool soon =
          runners.estimate[kind] * static_cast<std::int64_t>(before + 1) < until_done(runners.best, work);
      if (!soon && (before > 0 || view().known(task, *runners.one[kind]))) continue;
      over_.push_back(&task);
      return true;
    }
    reserved_.emplace(&task, Reserved{runners.best, work});
    backlog_[index_of(runners.best)] += work;
    return false;
  }

  /// How long that kind needs for all that waits for it and one more task, less what caution demands.
  Duration until_done(WorkerKind kind, Duration work) const {
    const std::size_t k = index_of(kind);
    const auto workers = static_cast<double>(std::max<std::size_t>(1, present_[k]));
    const double all = static_cast<double>(backlog_[k].count()) / workers + static_cast<double>(work.count());
    return Duration{static_cast<std::int64_t>(paces_[k].times() * all / caution)};
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

  /// One that is left over, for a worker to which the policy within gives nothing.
  Task* take_over(WorkerId worker, bool must) {
    const auto able = [&](const Task* task) { return view().can_run(*task, worker); };
    const auto oldest = std::ranges::find_if(over_, able);
    if (oldest == over_.end()) return nullptr;
    const Runners runners = look_for_runners(**oldest);
    if (must || runners.best == kind_of(worker)) return take(oldest);
    const auto newest = std::prev(std::ranges::find_if(over_.rbegin(), over_.rend(), able).base());
    if (!view().known(**newest, worker))
      return kind_of(worker) == WorkerKind::cpu && a_core_tries() ? nullptr : take(newest);
    const Duration here = view().estimate(**newest, worker);
    const Duration there = until_done(runners.best, runners.estimate[index_of(runners.best)]);
    view().pipeline(view().workers()[index(worker)].node, pipeline_);
    const auto before = std::ranges::count(pipeline_, worker, &Task::worker);
    if (here * (before + 1) < there) return take(newest);
    if (here >= there) give_back_all();
    return nullptr;
  }
  /// One at a time is enough: of a hundred slow ones that each try a task, all others wait for the last.
  bool a_core_tries() {
    return std::ranges::any_of(view().nodes(), [&](const NodeInfo& node) {
      view().pipeline(node.id, pipeline_);
      return std::ranges::any_of(pipeline_, [&](const Task* task) {
        return kind_of(task->worker) == WorkerKind::cpu && !view().known(*task, task->worker) &&
               look_for_runners(*task).kinds > 1;
      });
    });
  }
  Task* take(std::deque<Task*>::iterator at) {
    Task* const task = *at;
    over_.erase(at);
    return task;
  }
  void give_back_all() {
    for (Task* task : std::exchange(over_, {})) {
      classify(*task, false);
      inner().ready(*task, no_id<WorkerId>);
    }
  }

  bool several_kinds_ = false;
  std::optional<OnlyBest> only_best_;
  std::vector<bool> lost_;         // by worker
  ByKind<std::size_t> present_{};  // workers
  ByKind<Duration> backlog_{};     // work of the tasks reserved for that kind
  ByKind<Pace> paces_;
  std::unordered_map<const Task*, Reserved> reserved_;
  std::deque<Task*> over_;  // left over, oldest first
  std::vector<const Task*> pipeline_;
};

}  // namespace

std::unique_ptr<Policy> with_patience(std::unique_ptr<Policy> inner) {
  return std::make_unique<Patience>(std::move(inner));
}

}  // namespace fairlead::schedule
