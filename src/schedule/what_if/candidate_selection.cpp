// The number of simulations depends on the tasks' estimated durations, not on a clock, so the same run makes the same
// decisions.
#include "schedule/what_if/candidate_selection.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/what_if/unneeded_workers.hpp"

namespace fairlead::schedule::what_if {

namespace {

/// The candidate policies, each with the situation for which it is included. In nearly all cases of
/// scripts/compare-default and of 700 random cases (seed 2), one of them is within a few percent of the best.
constexpr std::array<std::string_view, 8> names = {
    "near",            // most data fit: selects the worker with the earliest completion, near the data
    "blocks",          // data exceed the memories, and updates of a tile can run back to back
    "darts",           // data exceed the memories, and they cannot
    "nearer",          // links are the bottleneck
    "dmdas",           // links are the bottleneck, and tasks that wait for them delay others
    "heft-tmdp-init",  // each datum is updated repeatedly together with its neighbours
    "owner-load",      // exchanged data should stay where they are used
    "program-order",   // one memory, for which the program has ordered its tasks
};

/// The number of the candidate, counted from 1.
std::uint64_t number_of(std::string_view policy) noexcept {
  return static_cast<std::uint64_t>(std::ranges::find(names, policy) - names.begin()) + 1;
}

/// A candidate only if the simulations of all policies fit into the waiting time: it is rarely the best.
constexpr std::string_view spare = "owner-load";

/// Where data exceed the memories of several nodes, this policy transfers the fewest bytes among equally fast ones.
constexpr std::string_view thriftiest = "blocks";

constexpr double simulation_error = 0.02;
constexpr double doubt = 0.25;

struct Found {
  std::string policy;
  SimulationOutcome simulated;
};
Duration time_of(const Found& found) noexcept { return found.simulated.time; }

std::string exclude(const std::string& workers, std::string_view policy) {
  return "without:workers=" + workers + ":policy=" + std::string(policy);
}

/// The required gain covers the error of a simulation, and more if only a part of the work was simulated.
bool clearly_better(Duration a, Duration b, double part) noexcept {
  const double least_gain = simulation_error + doubt * (1 - part);
  return static_cast<double>(a.count()) < static_cast<double>(b.count()) * (1 - least_gain);
}

/// Extrapolates the outcome of a part to all of the work; 0: unknown.
SimulationOutcome of_all(SimulationOutcome part_of_it, double part) noexcept {
  if (!part_of_it.completed()) return {Duration{}};
  const auto longer = [&](Duration time) {
    return Duration(static_cast<std::int64_t>(static_cast<double>(time.count()) / part));
  };
  part_of_it.time = longer(part_of_it.time);
  for (Duration& quarter : part_of_it.quarters) quarter = longer(quarter);
  return part_of_it;
}

/// The part of the work to simulate. Above a half it is all of the work: then the write-back of results is included.
double part_for(double simulated_tasks, std::size_t policies, double tasks) noexcept {
  const double part = simulated_tasks / (static_cast<double>(policies) * tasks);
  return part > 0.5 ? 1 : part;
}

/// The number of tasks that may be simulated, in all simulations together, if the run takes that long.
double allowed(const SelectionInput& input, Duration time) noexcept {
  return input.max_latency_fraction * static_cast<double>(time.count()) /
         static_cast<double>(input.cost_per_task.count());
}

/// The simulations made so far, and the remaining budget. No simulation runs twice.
class SimulationRuns {
 public:
  SimulationRuns(Simulator& stage, const SelectionInput& input) : stage_(stage), input_(input) {}

  /// The number of tasks that may be simulated, in all simulations together.
  double allowed() const noexcept { return what_if::allowed(input_, time_); }
  bool fits_wait_budget(std::size_t more = 0) const noexcept {
    return input_.fits_wait_budget(max_simulations(input_) + more, time_);
  }
  double least_part() const noexcept { return static_cast<double>(input_.min_tasks) / input_.tasks; }
  /// Updates the expected duration of the run, which determines the budget.
  void takes(const SimulationOutcome& outcome, double part) noexcept {
    time_ = std::max(time_, of_all(outcome, part).time);
  }
  SimulationOutcome simulate(const std::string& policy, double part, Duration patience = Duration::max()) {
    std::vector<Found> one = {{policy, {}}};
    simulate(one, part, patience);
    return one.front().simulated;
  }
  /// Simulates and sorts the candidates by their time.
  void simulate(std::vector<Found>&& found, double part, Duration patience) {
    simulate(found, part, patience);
  }
  void simulate(std::vector<Found>& found, double part, Duration patience = Duration::max()) {
    if (part != part_of_known_) known_.clear();
    part_of_known_ = part;
    const auto known = [&](const Found& one) {
      return std::ranges::find(known_, one.policy, &Found::policy);
    };
    std::vector<std::string> policies;
    for (const Found& one : found)
      if (known(one) == known_.end()) policies.push_back(one.policy);
    for (const Found& one : known_)
      if (one.simulated.completed()) patience = std::min(patience, one.simulated.time * 3 / 2);
    const std::vector<SimulationOutcome> outcomes = policies.empty()
                                                        ? std::vector<SimulationOutcome>{}
                                                        : stage_.simulate(policies, work_of(part), patience);
    for (std::size_t i = 0; i < policies.size(); ++i) known_.push_back({policies[i], outcomes[i]});
    for (Found& one : found) one.simulated = known(one)->simulated;
    std::ranges::stable_sort(found, {}, time_of);
  }

 private:
  Duration work_of(double part) const noexcept {
    const auto work = static_cast<double>(input_.work.count());
    return part >= 1 ? input_.work : Duration(static_cast<std::int64_t>(work * part));
  }

  Simulator& stage_;
  const SelectionInput& input_;
  Duration time_ = input_.min_duration;
  std::vector<Found> known_;  // results for part_of_known_
  double part_of_known_ = 0;
};

}  // namespace

std::span<const std::string_view> candidate_policies() noexcept { return names; }

std::size_t max_simulations(const SelectionInput& input) noexcept {
  const auto is_simulated = [&](std::string_view name) { return name != spare && !input.left_out.has(name); };
  return static_cast<std::size_t>(std::ranges::count_if(names, is_simulated)) +
         input.unneeded_workers.size() - input.optional_sets;
}

// A two-digit number to the base of the number of policies plus one: policy, and set of excluded workers.
std::string policy_of(const SelectionInput& input, std::uint64_t finding) {
  constexpr std::uint64_t base = names.size() + 1;
  const std::uint64_t policy = finding % base, left_out = finding / base;
  if (policy == 0 || left_out > input.unneeded_workers.size()) return {};
  const std::string name(names[policy - 1]);
  return left_out == 0 ? name : exclude(input.unneeded_workers[left_out - 1], name);
}

namespace {
constexpr unsigned finding_bits = 8;
static_assert((names.size() + 1) * (max_unneeded_sets + 2) < (1u << finding_bits));
constexpr unsigned quarter_bits = 8;
constexpr double whole = (1u << quarter_bits) - 1;
constexpr std::uint64_t longest = (exceeds_wait_budget >> (finding_bits + 3 * quarter_bits)) - 1;
constexpr Duration unit_of_time = std::chrono::microseconds(16);  // the range is 19 hours
}  // namespace

// Packed: the finding, the quarters as fractions of the total time, and the total time.
std::uint64_t packed(const CandidateOutcome& outcome) noexcept {
  if (outcome.finding == exceeds_wait_budget) return exceeds_wait_budget;
  const std::int64_t all = std::max<std::int64_t>(outcome.simulated.time.count(), 0);
  std::uint64_t word = std::min(static_cast<std::uint64_t>(all / unit_of_time.count()), longest);
  for (const Duration quarter : outcome.simulated.quarters)
    word = word << quarter_bits |
           static_cast<std::uint64_t>(std::clamp(static_cast<double>(quarter.count()) /
                                                     static_cast<double>(std::max<std::int64_t>(1, all)),
                                                 0.0, 1.0) *
                                      whole);
  return word << finding_bits | outcome.finding;
}
CandidateOutcome unpacked(std::uint64_t word) noexcept {
  if (word == exceeds_wait_budget) return {exceeds_wait_budget, {}};
  CandidateOutcome outcome{word & ((1u << finding_bits) - 1), {}};
  word >>= finding_bits;
  std::array<double, 3> parts{};
  for (std::size_t i = parts.size(); i-- > 0; word >>= quarter_bits)
    parts[i] = static_cast<double>(word & ((1u << quarter_bits) - 1)) / whole;
  outcome.simulated.time = static_cast<std::int64_t>(word) * unit_of_time;
  for (std::size_t i = 0; i < parts.size(); ++i)
    outcome.simulated.quarters[i] =
        Duration(static_cast<std::int64_t>(parts[i] * static_cast<double>(outcome.simulated.time.count())));
  return outcome;
}

bool is_worth_simulating(const SelectionInput& input) noexcept {
  return allowed(input, input.min_duration) >= static_cast<double>(input.min_tasks);
}

namespace {
/// These two differ most, and usually one of them is near the best.
constexpr std::array<std::string_view, 2> quick = {"near", "blocks"};
constexpr double quick_check_share = 1.0 / 8;  // of the simulation budget
}  // namespace

bool quick_check_covers_all(const SelectionInput& input) noexcept {
  return part_for(quick_check_share * allowed(input, input.min_duration), quick.size() + 1, input.tasks) == 1;
}

CandidateOutcome quick_check(Simulator& stage, const SelectionInput& input) {
  SimulationRuns runs(stage, input);
  const auto part_now = [&] {
    if (input.exceeds_memories) return 1.0;
    const double part =
        quick_check_share * runs.allowed() / (static_cast<double>(quick.size() + 1) * input.tasks);
    return std::clamp(part, std::min(1.0, runs.least_part()), 1.0);
  };
  double part = part_now();
  runs.takes(runs.simulate(std::string(quick[0]), part), part);
  part = part_now();
  std::vector<Found> found = {{input.active_policy, {}}};
  for (const std::string_view name : quick)
    if (name != input.active_policy && !input.left_out.has(name)) found.push_back({std::string(name), {}});
  runs.simulate(found, part);
  const auto present = std::ranges::find(found, input.active_policy, &Found::policy);
  if (!clearly_better(time_of(found.front()), time_of(*present), part)) return {};
  return {number_of(found.front().policy), {}};
}

namespace {
/// Returns the finding for `best`, or for `best` without one of the first `sets` sets of workers if that is clearly
/// faster; updates `best`.
std::uint64_t best_with_fewer_workers(SimulationRuns& runs, const SelectionInput& input, std::size_t sets,
                                      Found& best, double part) {
  const std::uint64_t policy = number_of(best.policy);
  std::uint64_t finding = policy;
  std::vector<Found> all;
  for (std::size_t i = 0; i < sets; ++i)
    all.push_back({exclude(input.unneeded_workers[i], names[policy - 1]), {}});
  if (input.at_once > 1) runs.simulate(std::vector(all), part, time_of(best));
  for (std::size_t i = 0; i < sets; ++i) {
    Found fewer = all[i];
    fewer.simulated = runs.simulate(fewer.policy, part, time_of(best));
    if (!clearly_better(time_of(fewer), time_of(best), part)) continue;
    finding = policy + (i + 1) * (names.size() + 1);
    best = fewer;
  }
  return finding;
}

/// The policy that transfers the fewest bytes. The links of one memory lead to a disk, and its copies take time of the
/// cores that the simulations do not count: there, the one with the fewest bytes in the simulations of those that are
/// not clearly slower than the best.
std::vector<Found>::iterator least_traffic(std::vector<Found>& found, const SelectionInput& input,
                                           double part) {
  if (!input.one_memory) return std::ranges::find(found, thriftiest, &Found::policy);
  const Duration best = time_of(found.front());
  auto least = found.begin();
  for (auto it = found.begin(); it != found.end(); ++it)
    if (it->simulated.completed() && !clearly_better(best, time_of(*it), part) &&
        it->simulated.bytes_moved < least->simulated.bytes_moved)
      least = it;
  return least;
}

}  // namespace

CandidateOutcome try_fewer_workers(Simulator& stage, const SelectionInput& input) {
  SimulationRuns runs(stage, input);
  const double part = part_for(runs.allowed(), 1 + input.unneeded_workers.size(), input.tasks);
  if (number_of(input.active_policy) > names.size() || part < runs.least_part()) return {};
  Found best{input.active_policy, runs.simulate(input.active_policy, part)};
  if (!best.simulated.completed()) return {};
  const std::uint64_t finding =
      best_with_fewer_workers(runs, input, input.unneeded_workers.size(), best, part);
  return {best.policy == input.active_policy ? 0 : finding, of_all(best.simulated, part)};
}

CandidateOutcome select_policy(Simulator& stage, const SelectionInput& input) {
  SimulationRuns runs(stage, input);
  std::vector<Found> found;
  for (const std::string_view name : names)
    if (!input.left_out.has(name) && (name != spare || name == input.active_policy))
      found.push_back({std::string(name), {}});
  const auto present_first = std::ranges::find(found, input.active_policy, &Found::policy);
  double part = part_for(runs.allowed() / 2, found.size(), input.tasks);
  // The simulated time determines the budget.
  if (present_first != found.end() && (part < 1 || input.max_wait_fraction > 0)) {
    std::iter_swap(found.begin(), present_first);
    const bool looks = input.max_wait_fraction > 0 && !runs.fits_wait_budget();
    const double first = std::max(looks ? pilot_fraction : part, std::min(1.0, runs.least_part()));
    runs.takes(runs.simulate(input.active_policy, first), first);
    part = part_for(runs.allowed() / 2, found.size(), input.tasks);
  }
  if (input.max_wait_fraction > 0 && !runs.fits_wait_budget()) return {exceeds_wait_budget};
  if (input.max_wait_fraction > 0 && runs.fits_wait_budget(1) && !input.left_out.has(spare) &&
      input.active_policy != spare)
    found.push_back({std::string(spare), {}});
  if (found.empty() || part < runs.least_part()) return {};
  runs.simulate(found, part);
  const std::size_t left = 2 + input.unneeded_workers.size() - input.optional_sets;
  if (const double larger = part_for(runs.allowed() / 2, left, input.tasks); larger > part) {
    // Simulate a larger part under the best candidate and the second best, or the active policy as the reference.
    part = larger;
    const std::size_t best = std::min<std::size_t>(2, found.size());
    const auto behind = std::ranges::find(found.begin() + static_cast<std::ptrdiff_t>(best), found.end(),
                                          input.active_policy, &Found::policy);
    if (behind != found.end()) std::iter_swap(found.begin() + 1, behind);
    found.resize(best);
    runs.simulate(found, part);
  }
  Found best = found.front();
  if (!best.simulated.completed()) return {};
  const auto frugal = least_traffic(found, input, part);
  const bool saves = input.exceeds_memories && part >= 1 && !input.left_out.has(parts::fewest_bytes) &&
                     frugal != found.end() && !clearly_better(time_of(best), time_of(*frugal), part);
  if (saves) best = *frugal;
  const bool time_for_all =
      input.fits_wait_budget(max_simulations(input) + input.optional_sets, time_of(best));
  const std::size_t sets = input.unneeded_workers.size() - (time_for_all ? 0 : input.optional_sets);
  const std::uint64_t finding = best_with_fewer_workers(runs, input, sets, best, part);
  const auto present = std::ranges::find(found, input.active_policy, &Found::policy);
  const CandidateOutcome goes_on{
      0, present != found.end() ? of_all(present->simulated, part) : SimulationOutcome{Duration{}}};
  if (best.policy == input.active_policy) return goes_on;
  // While workers wait, a change of policy costs nothing.
  const bool is_running = input.max_wait_fraction == 0;
  if (is_running && present != found.end() && !saves &&
      !clearly_better(time_of(best), time_of(*present), part))
    return goes_on;
  return {finding, of_all(best.simulated, part)};
}

CandidateOutcome confirm(Simulator& stage, const SelectionInput& input, std::uint64_t finding) {
  const std::array policies{policy_of(input, finding), input.active_policy};
  const std::vector<SimulationOutcome> outcomes = stage.simulate(policies, input.work, Duration::max());
  const SimulationOutcome &other = outcomes[0], &present = outcomes[1];
  if (clearly_better(other.time, present.time, 1)) return {finding, of_all(other, 1)};
  return {0, of_all(present, 1)};
}

}  // namespace fairlead::schedule::what_if
