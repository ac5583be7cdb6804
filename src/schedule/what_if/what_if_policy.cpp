// When the default policy simulates, and for how long.
//
// It simulates when no more tasks arrive for now (the flow waits, or the window is full), once for the tasks submitted
// so far, and again when all of these have finished and others have arrived.
#include "schedule/what_if/what_if_policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "policy/forwarding_policy.hpp"
#include "policy/least_estimate.hpp"
#include "policy/what_if_simulation.hpp"
#include "schedule/policies.hpp"
#include "schedule/what_if/candidate_selection.hpp"
#include "schedule/what_if/prediction_progress.hpp"
#include "schedule/what_if/replaceable_policy.hpp"
#include "schedule/what_if/result_cache.hpp"
#include "schedule/what_if/unneeded_workers.hpp"

namespace fairlead::schedule {
namespace {

namespace parts = what_if::parts;
using what_if::is_worth_simulating;
using what_if::ReplaceablePolicy;
using what_if::SelectionInput;

struct Limits {
  double share = 0, within = 0;
  std::size_t fewest_tasks = 0;
  bool finds_first = false;
  what_if::Ablation left_out;
};

/// The steps of a decision, in this order; some may be skipped.
enum class Step : std::uint8_t {
  none,
  quick_check,          // tasks are already running: quick check of the first policy
  confirm_quick_check,  // check that result from the current state
  select,               // find the best policy
  confirm,              // check that result from the current state
  narrow,               // try fewer workers
};

class WhatIfPolicy final : public ForwardingPolicy<WhatIfPolicy> {
 public:
  WhatIfPolicy(std::unique_ptr<ReplaceablePolicy> policy, Limits limits)
      : ForwardingPolicy(std::move(policy)),
        policy_(static_cast<ReplaceablePolicy&>(inner())),
        limits_(std::move(limits)) {}

  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override {
    if (policy_.unfinished().count() == 0) start_program();
    ++submitted_;
    if (delaying_) delay_.work += least_estimate(view(), task, of_each_kind_);
    policy_.submitted(task);
  }
  void horizon_closed() override {
    policy_.horizon_closed();
    closed_ = true;
    consider();
  }
  /// The result of the last simulation. It is useless if the simulated tasks have finished.
  void simulation_finished(std::uint64_t word) override {
    const auto [finding, prediction] = what_if::unpacked(word);
    const Step step = std::exchange(step_, Step::none);
    if (step == Step::none || policy_.is_final() || given_up_) return consider();
    if (finding == what_if::exceeds_wait_budget) return start_in_background();
    progress_.set_prediction(prediction);
    std::string better = what_if::policy_of(selection_, finding);
    const bool waited = std::exchange(delaying_, false);
    const bool was_quick = step == Step::quick_check || step == Step::confirm_quick_check;
    const bool confirmed = step == Step::confirm || step == Step::confirm_quick_check;
    const bool confirms = !confirmed && !waited && !better.empty() && has(parts::confirm);
    if (confirms && begin(was_quick ? Step::confirm_quick_check : Step::confirm, finding)) return;
    if (!better.empty() && !confirms) policy_.hand_over(std::move(better));
    if (was_quick && begin(Step::select)) return;
    selection_.unneeded_workers = std::exchange(sets_to_try_, {});
    selection_.optional_sets = 0;
    if (!selection_.unneeded_workers.empty() && begin(Step::narrow)) return;
    results_.remember(std::string(policy_.active_policy()));
    // Final, unless the run takes longer than simulated.
    decide(!has(parts::repeat) || !progress_.start_watching());
  }
  void cancelled(Task& task) override {
    policy_.cancelled(task);
    give_up_if_over();
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    policy_.finished(task, worker, took);
    give_up_if_over();
    if (progress_.watched() && step_ == Step::none) look_at_progress(task);
    if (tasks_until_recheck_ != 0 && --tasks_until_recheck_ == 0) reconsider();
  }
  Task* pick(WorkerId worker, bool must) override {
    if (awaits_simulation()) return nullptr;
    if (delaying_ && delays_tasks() && !(must && does_most_of_the_work(worker))) return nullptr;
    return policy_.pick(worker, must);
  }
  bool awaits_simulation() const override { return delaying_ && step_ != Step::none; }

 private:
  void attached() override {
    const std::size_t devices = accelerators(view()).size();
    devices_ = devices != 0;
    processors_ = static_cast<double>(devices != 0 ? devices : view().workers().size());
    for (const WorkerInfo& worker : view().workers()) {
      cores_ += worker.kind == WorkerKind::cpu ? 1 : 0;
      const auto same = [&](WorkerId other) { return view().workers()[index(other)].kind == worker.kind; };
      if (std::ranges::none_of(of_each_kind_, same)) of_each_kind_.push_back(worker.id);
    }
    for (const NodeInfo& node : view().nodes())
      if (!devices_ || std::ranges::any_of(accelerators(view()), [&](NodeId id) { return id == node.id; }))
        capacity_ += node.capacity;
    // On cores with one memory there is no placement, only order and eviction, and data do not fit.
    if (limits_.finds_first && !devices_) policy_.set_first("blocks");
    policy_.attach(view());
  }

  // Fraction of the cores' time that simulations may use if no core is idle.
  static constexpr double share_of_cores = 0.05;
  // Transfers per datum where data exceed the memory; 2 to 4 with good policies.
  static constexpr int times_that_data_come = 4;
  static constexpr std::size_t looks_at_durations = 64;
  // Average number of simultaneous simulations: first six candidates, then two.
  static constexpr std::size_t most_at_once = 4;

  bool has(std::string_view idea) const noexcept { return !limits_.left_out.has(idea); }
  bool does_most_of_the_work(WorkerId worker) const {
    return !devices_ || view().workers()[index(worker)].kind != WorkerKind::cpu;
  }
  /// Starts a new decision after all earlier tasks have finished.
  void start_program() {
    closed_ = false;
    tasks_until_recheck_ = 0;
    progress_.forget();
    decide(false);
    delaying_ = view().what_if_simulation() != nullptr && limits_.share > 0;
    delay_.work = {};
    delay_.began = view().now();
    next_try_ = submitted_;
  }
  /// Marks the decision for the submitted tasks as final, or open.
  void decide(bool decided) { policy_.set_final(decided); }
  /// Called for each finished task. If the run is later than simulated, because a device is slow or by chance, the
  /// remaining work is simulated again.
  void look_at_progress(const Task& task) {
    using Is = what_if::PredictionProgress::Is;
    const Is is = progress_.after(least_estimate(view(), task, of_each_kind_), view().now());
    if (is == Is::late) results_.ignore_results();
    if (is == Is::nearly_finished || (is == Is::late && !begin(Step::select))) decide(true);
  }
  void give_up_if_over() {
    if (policy_.unfinished().count() == 0 && step_ != Step::none && !std::exchange(given_up_, true))
      view().what_if_simulation()->cancel();
  }
  /// Workers wait for the first result as long as that costs little, since early tasks would place data where another
  /// policy does not need them. If nothing runs, a main worker gets a task nevertheless, or any worker that can run
  /// one: take_any().
  bool delays_tasks() {
    delaying_ = view().now() - delay_.began <= share_of(limits_.share, delay_.work);
    return delaying_;
  }
  /// The fraction of the time that the given work takes on all processors.
  Duration share_of(double share, Duration work) const {
    return Duration(std::llround(share * static_cast<double>(work.count()) / processors_));
  }

  /// The time to transfer each datum once to one of the nodes. Adds the sizes of the data to `bytes`.
  Duration transfer_time_of_data(const std::vector<Task*>& tasks, Bytes& bytes) const {
    std::vector<bool> counted;
    Duration sum{};
    const NodeId there = view().workers()[index(of_each_kind_.back())].node;
    for (const Task* task : tasks)
      for (const Access& access : task->accesses()) {
        const std::size_t datum = index(access.datum);
        if (datum >= counted.size()) counted.resize(2 * datum + 1);
        if (counted[datum]) continue;
        counted[datum] = true;
        sum += view().transfer_time(access.datum, there);
        bytes += view().bytes(access.datum);
      }
    return sum / static_cast<std::int64_t>(std::max<std::size_t>(1, accelerators(view()).size()));
  }

  void consider() {
    if (!closed_ || policy_.is_final() || progress_.watched() || step_ != Step::none ||
        submitted_ < next_try_)
      return;
    next_try_ = submitted_ + policy_.unfinished().count();  // not at every task of an endless program
    if (!try_start()) delaying_ = false;
  }

  /// Returns false if a simulation is not worthwhile or impossible.
  bool try_start() {
    if (view().what_if_simulation() == nullptr || policy_.unfinished().count() < limits_.fewest_tasks)
      return false;
    const std::vector<Task*> tasks = policy_.unfinished().list();
    if (!durations_known(tasks)) {
      wait_for_durations(tasks);
      return false;
    }
    selection_ = {};
    // If no core is idle, simulations take time from the working cores.
    const std::size_t idle = view().what_if_simulation()->idle_cores();
    selection_.max_latency_fraction =
        idle != 0 || cores_ == 0 ? limits_.within
                                 : std::min(limits_.within, share_of_cores * static_cast<double>(cores_));
    const std::size_t at_once = std::clamp<std::size_t>(idle, 1, most_at_once);
    selection_.cost_per_task = simulation_cost_per_task(view().nodes().size(), view().workers().size()) /
                               static_cast<std::int64_t>(at_once);
    selection_.at_once = static_cast<double>(at_once);
    selection_.min_tasks = limits_.fewest_tasks;
    selection_.left_out = limits_.left_out;
    exclude_candidates();
    describe(tasks);
    if (!is_worth_simulating(selection_)) return false;
    if (const std::string* known = results_.find(described_)) {
      if (*known != policy_.active_policy()) policy_.hand_over(*known);
      decide(true);
      return false;
    }
    sets_to_try_.clear();
    if (has(parts::fewer_workers)) {
      auto find_unneeded_workers = what_if::find_unneeded_workers(view(), tasks);
      selection_.unneeded_workers = std::move(find_unneeded_workers.slower);
      sets_to_try_ = std::move(find_unneeded_workers.redundant);
    }
    // In long programs near costs a multiple in this case, before there is any result.
    if (limits_.finds_first && selection_.exceeds_memories && selection_.active_policy == "near") {
      policy_.hand_over(selection_.transfer_bound ? "darts" : "blocks");
      selection_.active_policy = policy_.active_policy();
    }
    // Simulations that exceed the waiting time run alongside the tasks; their result is confirmed later.
    selection_.max_wait_fraction = limits_.share;
    const auto fits_wait_budget = [&] {
      return selection_.fits_wait_budget(what_if::max_simulations(selection_), selection_.min_duration);
    };
    // With one accelerator, all data go there under any policy, and the first policy does little harm unless repeated
    // transfers make the link the bottleneck.
    if (selection_.transfers_are_cheap) delaying_ = false;
    if (delaying_ && !fits_wait_budget()) {
      std::vector<std::string> worse = std::exchange(selection_.unneeded_workers, {});
      // The run may take longer than the lower bound: simulating a part estimates it.
      const auto cost_of_look = selection_.tasks * what_if::pilot_fraction * selection_.at_once *
                                static_cast<double>(selection_.cost_per_task.count());
      delaying_ = fits_wait_budget() ||
                  cost_of_look <= limits_.share / 2 * static_cast<double>(selection_.min_duration.count());
      std::vector<std::string>& when = delaying_ ? sets_to_try_ : selection_.unneeded_workers;
      when.insert(when.begin(), worse.begin(), worse.end());
    }
    if (delaying_) {
      selection_.unneeded_workers.insert(selection_.unneeded_workers.end(), sets_to_try_.begin(),
                                         sets_to_try_.end());
      selection_.optional_sets = sets_to_try_.size();
      simulate(Step::select, tasks);
    } else {
      start_in_background();
    }
    return true;
  }
  /// The first policy runs some tasks and measures their durations; then the remaining tasks are simulated.
  void wait_for_durations(const std::vector<Task*>& tasks) {
    tasks_until_recheck_ = 1 + tasks.size() / looks_at_durations;
  }
  void reconsider() {
    if (!closed_ || policy_.is_final() || progress_.watched() || step_ != Step::none) return;
    try_start();
  }
  /// Excludes candidates that are equal to near here, since they differ in the choice of worker or node and there is
  /// only one; and those for the other number of nodes.
  void exclude_candidates() {
    selection_.one_memory = view().nodes().size() == 1;
    if (selection_.one_memory)
      for (const std::string_view of_several : {"nearer", "heft-tmdp-init"})
        selection_.left_out.add(of_several);
    else
      selection_.left_out.add("program-order");
    if (view().workers().size() == 1) selection_.left_out.add("dmdas");
  }
  /// Starts simulations alongside the running tasks.
  void start_in_background() {
    delaying_ = false;
    selection_.unneeded_workers.resize(selection_.unneeded_workers.size() -
                                       std::exchange(selection_.optional_sets, 0));
    selection_.max_wait_fraction = 0;
    // The first policy may be quite wrong. But where data do not fit, a part of the work predicts the number of
    // transfers badly.
    const bool quick =
        has(parts::quick_check) && (!selection_.exceeds_memories || quick_check_covers_all(selection_));
    simulate(quick ? Step::quick_check : Step::select, policy_.unfinished().list());
  }
  void describe(const std::vector<Task*>& tasks) {
    selection_.active_policy = policy_.active_policy();
    selection_.tasks = static_cast<double>(tasks.size());
    selection_.work = {};
    for (const Task* task : tasks) selection_.work += least_estimate(view(), *task, of_each_kind_);
    Bytes bytes = 0;
    const Duration computing = share_of(1, selection_.work), way = transfer_time_of_data(tasks, bytes);
    described_ = {selection_.tasks, static_cast<double>(bytes), static_cast<double>(selection_.work.count())};
    selection_.min_duration =
        std::max({computing, way, view().transfer_time_to_all(bytes, accelerators(view()))});
    selection_.exceeds_memories = bytes > capacity_;
    selection_.transfer_bound = way > computing;
    selection_.transfers_are_cheap =
        accelerators(view()).size() == 1 && times_that_data_come * way <= computing;
  }
  /// Starts a step for the remaining tasks. `finding`: to be confirmed. Returns false if there are too few tasks.
  bool begin(Step step, std::uint64_t finding = 0) {
    const std::vector<Task*> tasks = policy_.unfinished().list();
    if (tasks.size() < limits_.fewest_tasks) return false;
    describe(tasks);
    simulate(step, tasks, finding);
    return true;
  }
  /// `tasks` are those that selection_ describes.
  void simulate(Step step, const std::vector<Task*>& tasks, std::uint64_t finding = 0) {
    step_ = step;
    given_up_ = false;
    progress_.start_prediction(view().now(), selection_.work);
    using Priority = WhatIfSimulation::Priority;
    view().what_if_simulation()->start(
        tasks,
        [step, finding, input = selection_](Simulator& stage) {
          return packed(step == Step::quick_check ? what_if::quick_check(stage, input)
                        : step == Step::select    ? what_if::select_policy(stage, input)
                        : step == Step::narrow    ? what_if::try_fewer_workers(stage, input)
                                                  : what_if::confirm(stage, input, finding));
        },
        delaying_ ? Priority::normal : Priority::lowest);
  }

  /// Checks a sample of the tasks: each must have a known duration on some kind of worker, and most on every kind.
  bool durations_known(const std::vector<Task*>& tasks) const {
    const std::size_t step = std::max<std::size_t>(1, tasks.size() / looks_at_durations);
    std::size_t looked_at = 0, known_by_all = 0;
    for (std::size_t i = 0; i < tasks.size(); i += step) {
      bool somewhere = false, everywhere = true;
      for (const WorkerId worker : of_each_kind_) {
        if (!view().can_run(*tasks[i], worker)) continue;
        const bool known = view().is_estimate_reliable(*tasks[i], worker);
        somewhere = somewhere || known;
        everywhere = everywhere && known;
      }
      if (!somewhere && !everywhere) return false;
      ++looked_at;
      known_by_all += everywhere ? 1 : 0;
    }
    return 4 * known_by_all >= 3 * looked_at;
  }

  ReplaceablePolicy& policy_;
  const Limits limits_;
  bool closed_ = false;                   // no more tasks are submitted for now
  Step step_ = Step::none;                // the simulation in progress
  bool given_up_ = false;                 // all of its tasks have finished
  std::vector<std::string> sets_to_try_;  // unneeded workers to try after the policy has been chosen
  bool delaying_ = false;                 // see delays_tasks()
  struct {
    Duration work{};  // of the tasks submitted during the wait
    Time began{};     // time of the first of these
  } delay_;
  std::uint64_t submitted_ = 0, next_try_ = 0;
  what_if::ProgramSize described_;  // result of the last describe()
  what_if::ResultCache results_;
  std::size_t tasks_until_recheck_ = 0;  // completions until durations are checked again; 0: they are known
  std::vector<WorkerId> of_each_kind_;
  bool devices_ = false;
  Bytes capacity_ = 0;  // of the main workers' memory nodes
  std::size_t cores_ = 0;
  double processors_ = 1;  // accelerators, if there are any; else cores
  what_if::PredictionProgress progress_;
  SelectionInput selection_;  // of the last simulation
};

/// Parses "quick-check+darts".
what_if::Ablation left_out_of(const PolicyOptions& options) {
  std::vector<std::string_view> known(what_if::all_parts.begin(), what_if::all_parts.end());
  known.insert(known.end(), what_if::candidate_policies().begin(), what_if::candidate_policies().end());
  std::vector<std::string> names;
  for (std::string_view left = options.text("off"); left != "none" && !left.empty();) {
    const std::size_t end = std::min(left.find('+'), left.size());
    const std::string_view name = left.substr(0, end);
    if (std::ranges::find(known, name) == known.end())
      options.refuse("off", fmt::format("has \"{}\"{}; it can have {}", name, did_you_mean(name, known),
                                        fmt::join(known, ", ")));
    names.emplace_back(name);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return what_if::Ablation(std::move(names));
}

}  // namespace

std::unique_ptr<Policy> make_what_if(const PolicyOptions& options) {
  const std::string& first = options.text("first");
  if (name_in(first) == "what-if") options.refuse("first", "cannot be itself");
  what_if::Ablation left_out = left_out_of(options);
  const bool waits = !left_out.has(parts::wait);
  return std::make_unique<WhatIfPolicy>(
      std::make_unique<ReplaceablePolicy>(first == "found" ? "near" : first),
      Limits{.share = waits ? options.number("share", 0, 1) : 0,
             .within = options.number("within", 0, 1),
             .fewest_tasks = static_cast<std::size_t>(options.integer("fewest", 1, 1'000'000)),
             .finds_first = first == "found",
             .left_out = std::move(left_out)});
}

}  // namespace fairlead::schedule
