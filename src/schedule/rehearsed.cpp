// When is played, for how long, and how one policy takes over from another.
//
// Played is when no more tasks come for now (the flow waits, or the window is full), once for what has been submitted
// by then; again when all of that is over and something else has come. Costs are kept in bounds: all candidates play
// the same part of the work, the two best ones a larger part. How large follows from the tasks' own durations, not from
// a clock: the same run decides the same.
#include "schedule/rehearsed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "policy/least_estimate.hpp"
#include "policy/rehearsal.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

/// What is tried, and why it may be the best: found from the cases of `overview/`, of which each has one of these within
/// some per cent of its best.
constexpr std::array<std::string_view, 6> candidates = {
    "blocks",        // data exceed the memories, and updates of a tile can run back to back
    "darts",         // they exceed them, and cannot
    "dmdas",         // they fit: the critical path first, where tasks are over first
    "heft-tmdp-pr",  // the same, first come, first served: many equal chains
    "static",        // each datum is updated again and again with its neighbours: stencils
    "ap",            // few tasks: whoever is free takes the most urgent one
};

/// The tasks that are not over, in the order of the program.
class Unfinished {
 public:
  void add(Task& task) {
    if (tasks_.empty()) first_ = number(task);
    ensure(number(task) >= first_ + tasks_.size(), "tasks are told of in the order of their ids");
    tasks_.resize(number(task) - first_ + 1);
    tasks_.back() = &task;
    ++count_;
  }
  void remove(const Task& task) noexcept {
    if (number(task) < first_ || number(task) - first_ >= tasks_.size()) return;  // nobody told of it
    if (std::exchange(tasks_[number(task) - first_], nullptr) != nullptr) --count_;
    for (; !tasks_.empty() && tasks_.front() == nullptr; ++first_) tasks_.pop_front();
  }
  std::size_t count() const noexcept { return count_; }
  std::vector<Task*> list() const {
    std::vector<Task*> found;
    found.reserve(count_);
    std::ranges::copy_if(tasks_, std::back_inserter(found), [](const Task* task) { return task != nullptr; });
    return found;
  }

 private:
  static std::uint64_t number(const Task& task) noexcept { return static_cast<std::uint64_t>(task.id); }
  std::deque<Task*> tasks_;  // by id; null: over, or never submitted
  std::uint64_t first_ = 0;
  std::size_t count_ = 0;
};

/// On which nodes each datum is, or arrives: to be told to whoever takes over.
class Residency {
 public:
  void reserved(DatumId datum, NodeId node) {
    if (index(datum) >= nodes_.size()) nodes_.resize(2 * index(datum) + 1);
    nodes_[index(datum)] |= bit(node);
  }
  void dropped(DatumId datum, NodeId node) noexcept {
    if (index(datum) < nodes_.size()) nodes_[index(datum)] &= ~bit(node);
  }
  void removed(DatumId datum) noexcept {
    if (index(datum) < nodes_.size()) nodes_[index(datum)] = 0;
  }
  void tell(Policy& policy, const View& view) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (std::uint32_t left = nodes_[i]; left != 0; left &= left - 1) {
        const auto datum = static_cast<DatumId>(i);
        const auto node = static_cast<NodeId>(std::countr_zero(left));
        policy.reserved(datum, node);
        if (view.residency(datum, node) == ReplicaState::valid) policy.loaded(datum, node);
      }
  }

 private:
  static std::uint32_t bit(NodeId node) noexcept { return std::uint32_t{1} << index(node); }
  std::vector<std::uint32_t> nodes_;  // by datum: bit k, node k
};

class Rehearsed final : public Policy {
 public:
  Rehearsed(std::string first, double share, std::int64_t fewest)
      : share_(share), fewest_tasks_(static_cast<std::size_t>(fewest)) {
    take(std::move(first));
  }

  Interest interests() const override {
    return Interest::submitted | Interest::progress | Interest::residency;
  }
  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override {
    if (unfinished_.count() == 0) begin_anew();
    unfinished_.add(task);
    ++submitted_;
    if (holding_back_) work_ += least_estimate(view(), task, of_each_kind_);
    if (wants(Interest::submitted)) member_->submitted(task);
  }
  void horizon_closed() override {
    if (wants(Interest::submitted)) member_->horizon_closed();
    holding_back_ = false;
    if (!decided_ && submitted_ >= next_try_) decide();
  }
  void ready(Task& task, WorkerId released_by) override {
    wait(task);
    member_->ready(task, released_by);
  }
  void returned(Task& task) override {
    wait(task);
    member_->returned(task);
  }
  void cancelled(Task& task) override {
    waiting_.erase(task.id);
    unfinished_.remove(task);
    // Who is not told of submissions has never heard of one that was not ready.
    if (task.state != TaskState::waiting || wants(Interest::submitted)) member_->cancelled(task);
  }
  void worker_lost(WorkerId worker) override {
    lost_.push_back(worker);
    member_->worker_lost(worker);
  }
  void started(Task& task, WorkerId worker) override {
    if (wants(Interest::progress)) member_->started(task, worker);
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    unfinished_.remove(task);
    if (wants(Interest::progress)) member_->finished(task, worker, took);
  }
  void reserved(DatumId datum, NodeId node) override {
    residency_.reserved(datum, node);
    if (wants(Interest::residency)) member_->reserved(datum, node);
  }
  void loaded(DatumId datum, NodeId node) override {
    if (wants(Interest::residency)) member_->loaded(datum, node);
  }
  void dropped(DatumId datum, NodeId node, DropReason why) override {
    residency_.dropped(datum, node);
    if (wants(Interest::residency)) member_->dropped(datum, node, why);
  }
  void removed(DatumId datum) override {
    residency_.removed(datum);
    member_->removed(datum);
  }

  Task* pick(WorkerId worker, bool must) override {
    if (holding_back_ && holds_back() && !(must && does_most_of_the_work(worker))) return nullptr;
    return gone(member_->pick(worker, must));
  }
  Task* take_any(WorkerId worker) override { return gone(member_->take_any(worker)); }
  DatumId victim(NodeId node, Candidates& from) override { return member_->victim(node, from); }
  DatumId spare(NodeId node, DatumId wanted, Candidates& from) override {
    return member_->spare(node, wanted, from);
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return member_->upcoming(worker, out);
  }

 private:
  void attached() override {
    const std::size_t devices = accelerators(view()).size();
    devices_ = devices != 0;
    processors_ = static_cast<double>(devices != 0 ? devices : view().workers().size());
    for (const WorkerInfo& worker : view().workers()) {
      const auto same = [&](WorkerId other) { return view().workers()[index(other)].kind == worker.kind; };
      if (std::ranges::none_of(of_each_kind_, same)) of_each_kind_.push_back(worker.id);
    }
    member_->attach(view());
  }

  bool does_most_of_the_work(WorkerId worker) const {
    return !devices_ || view().workers()[index(worker)].kind != WorkerKind::cpu;
  }
  /// All that was submitted is over.
  void begin_anew() {
    decided_ = false;
    holding_back_ = view().rehearsal() != nullptr && share_ > 0;
    work_ = {};
    began_ = view().now();
    next_try_ = submitted_;
  }
  /// Until it is decided nobody begins, as long as waiting costs no more than playing may: data would be where another
  /// policy does not want them. If nothing runs at all, one of those who will do most of the work gets a task all the
  /// same, or whoever can run one: take_any().
  bool holds_back() {
    const auto waited = static_cast<double>((view().now() - began_).count());
    holding_back_ = waited <= share_ * static_cast<double>(work_.count()) / processors_;
    return holding_back_;
  }

  bool wants(Interest what) const noexcept { return includes(wanted_, what); }
  /// While another may still take over, it is known who waits.
  void wait(Task& task) {
    if (!decided_) waiting_.emplace(task.id, &task);
  }
  Task* gone(Task* task) {
    if (task != nullptr && !decided_) waiting_.erase(task->id);
    return task;
  }

  void take(std::string name) {
    member_ = make_policy(name);
    wanted_ = member_->interests();
    name_ = std::move(name);
  }

  /// The other one goes on, as if it had been told of all that is still so.
  void hand_over(std::string name) {
    for (const auto& [id, task] : waiting_) task->policy_data = nullptr;
    take(std::move(name));
    member_->attach(view());
    for (const WorkerId worker : lost_) member_->worker_lost(worker);
    if (wants(Interest::residency)) residency_.tell(*member_, view());
    if (wants(Interest::submitted)) {
      for (Task* task : unfinished_.list()) member_->submitted(*task);
      member_->horizon_closed();
    }
    for (const auto& [id, task] : waiting_) member_->ready(*task, no_id<WorkerId>);
  }

  void decide() {
    next_try_ = submitted_ + unfinished_.count();  // not at every task of a program that goes on for ever
    if (view().rehearsal() == nullptr || unfinished_.count() < fewest_tasks_) return;
    const std::vector<Task*> tasks = unfinished_.list();
    if (!durations_known(tasks)) return;
    Duration work{};  // of what is left
    for (const Task* task : tasks) work += least_estimate(view(), *task, of_each_kind_);
    // Of so many tasks in all can it be played what becomes of them; half of that to begin with.
    const double time_for_plays = share_ * static_cast<double>(work.count()) / processors_;
    const double plays = std::min(time_for_plays, longest) / cost_of_a_play();
    const auto count = static_cast<double>(tasks.size());
    double part = part_for(plays / 2, candidates.size(), count);
    if (part * count < static_cast<double>(fewest_tasks_)) return;  // too short to tell them apart
    decided_ = true;
    if (is_like_the_last(count, work)) return waiting_.clear();

    std::vector<Found> found;
    for (const std::string_view name : candidates) found.push_back({name});
    play(found, tasks, part_of(work, part));
    if (const double larger = part_for(plays / 2, 2, count); larger > part) {
      // The best one, and the second or the one that there is: it is the measure.
      part = larger;
      const auto behind =
          std::ranges::find(found.begin() + 2, found.end(), std::string_view(name_), &Found::policy);
      if (behind != found.end()) std::iter_swap(found.begin() + 1, behind);
      found.resize(2);
      play(found, tasks, part_of(work, part));
    }
    const auto present = std::ranges::find(found, std::string_view(name_), &Found::policy);
    if (present == found.end() || clearly_better(found.front().time, present->time, part))
      if (found.front().time != Duration::max()) hand_over(std::string(found.front().policy));
    waiting_.clear();
  }

  /// The same once more, as in each iteration of a program: it has been found out what is best.
  bool is_like_the_last(double tasks, Duration work) noexcept {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 0.02 * b; };
    const std::pair last = std::exchange(last_, {tasks, static_cast<double>(work.count())});
    return near(last.first, last_.first) && near(last.second, last_.second);
  }

  struct Found {
    std::string_view policy;
    Duration time{};
  };
  /// Sorts them by the time that each takes. Nobody is listened to for longer than it takes to know that another one is
  /// better by far.
  void play(std::vector<Found>& found, const std::vector<Task*>& tasks, Duration enough) {
    Duration patience = Duration::max();
    for (Found& each : found) {
      each.time = view().rehearsal()->play(each.policy, tasks, enough, patience);
      if (each.time < Duration::max() / 4) patience = std::min(patience, each.time * 3 / 2);
    }
    std::ranges::stable_sort(found, {}, &Found::time);
  }
  /// No play is quite like the run; and what only a part was played of may turn out otherwise in the rest: there has to
  /// be more in it.
  static bool clearly_better(Duration a, Duration b, double part) noexcept {
    const double least_gain = error_of_a_play + doubt * (1 - part);
    return static_cast<double>(a.count()) < static_cast<double>(b.count()) * (1 - least_gain);
  }
  /// Nearly all of it is all of it: then the results are home, too.
  static double part_for(double plays, std::size_t policies, double tasks) noexcept {
    const double part = plays / (static_cast<double>(policies) * tasks);
    return part > 0.5 ? 1 : part;
  }
  static Duration part_of(Duration work, double part) noexcept {
    return part >= 1 ? work : Duration(static_cast<std::int64_t>(static_cast<double>(work.count()) * part));
  }
  /// As far as a few of them tell.
  bool durations_known(const std::vector<Task*>& tasks) const {
    const std::size_t step = std::max<std::size_t>(1, tasks.size() / 64);
    for (std::size_t i = 0; i < tasks.size(); i += step)
      for (const WorkerId worker : of_each_kind_)
        if (view().can_run(*tasks[i], worker) && !view().known(*tasks[i], worker)) return false;
    return true;
  }
  /// Nanoseconds that playing a task takes, as measured on the machine of docs/performance.md.
  double cost_of_a_play() const { return 2000 + 300 * static_cast<double>(view().nodes().size()); }

  static constexpr double error_of_a_play = 0.02;
  static constexpr double doubt = 0.25;
  static constexpr double longest = 1e9;  // ns in all: nobody can stop a run meanwhile

  const double share_;
  const std::size_t fewest_tasks_;
  std::unique_ptr<Policy> member_;
  std::string name_;
  Interest wanted_{};
  bool decided_ = false;       // for what has been submitted
  bool holding_back_ = false;  // see holds_back()
  Duration work_{};            // of what has been submitted, while that goes on
  Time began_{};               // when the first of it came
  std::uint64_t submitted_ = 0, next_try_ = 0;
  std::pair<double, double> last_{};  // tasks and work that were played last
  std::vector<WorkerId> of_each_kind_;
  bool devices_ = false;
  double processors_ = 1;  // accelerators, which do most of the work if there are any; else cores
  Unfinished unfinished_;
  std::map<TaskId, Task*> waiting_;  // ready and not picked; kept until it is decided
  Residency residency_;
  std::vector<WorkerId> lost_;
};

}  // namespace

std::unique_ptr<Policy> make_rehearsed(const PolicyOptions& options) {
  const std::string& first = options.text("first");
  if (name_in(first) == "rehearsed") options.refuse("first", "cannot be itself");
  return std::make_unique<Rehearsed>(first, options.number("share", 0, 1),
                                     options.integer("fewest", 1, 1'000'000));
}

}  // namespace fairlead::schedule
