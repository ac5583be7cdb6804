// Selects the best policy for the remaining tasks by what-if simulation: all candidates simulate the same part of the
// work, and the two best simulate a larger part.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead::schedule::what_if {

// The parts of the default policy; each can be disabled to measure its contribution.
namespace parts {
// Workers wait during the simulations, if these are short.
inline constexpr std::string_view
    wait = "wait",
    quick_check = "quick-check",  // otherwise a quick check first: two candidates, little work
    // A result found during the run is checked by a second simulation from the current state.
    confirm = "confirm",
    // The best policy is also tried without some workers.
    fewer_workers = "fewer-workers",
    fewest_bytes =
        "fewest-bytes",  // among equally fast policies, select the one that transfers the fewest bytes
    repeat = "repeat";   // if the run takes longer than simulated, simulate again
}  // namespace parts

inline constexpr std::array all_parts{parts::wait,          parts::quick_check,  parts::confirm,
                                      parts::fewer_workers, parts::fewest_bytes, parts::repeat};

/// The disabled parts and candidates of the default policy.
class Ablation {
 public:
  Ablation() = default;
  explicit Ablation(std::vector<std::string> names) : names_(std::move(names)) {}
  /// `name`: a part of the default policy, or a candidate.
  bool has(std::string_view name) const noexcept { return std::ranges::find(names_, name) != names_.end(); }
  void add(std::string_view name) { names_.emplace_back(name); }

 private:
  std::vector<std::string> names_;
};

/// The input of a decision: the tasks, the budget of simulations, and facts about the machine.
struct SelectionInput {
  std::string active_policy;        ///< the active policy, which stays unless another one is clearly better
  double tasks = 0;                 ///< number of tasks to simulate
  Duration work{};                  ///< sum of their durations, each on its fastest worker
  Duration min_duration{};          ///< lower bound of their time on all workers together
  double max_latency_fraction = 0;  ///< fraction of the tasks' time after which the result must be available
  Duration cost_per_task{};  ///< per simulated task and policy, at this number of simultaneous simulations
  double at_once = 1;
  std::size_t min_tasks = 0;         ///< least number of tasks per policy for a meaningful result
  bool one_memory = false;           ///< one memory node, with a disk
  bool exceeds_memories = false;     ///< the data exceed the memories of the main workers, all together
  bool transfer_bound = false;       ///< transferring each datum once takes longer than the computation
  bool transfers_are_cheap = false;  ///< several transfers of each datum do not: see try_start()
  std::vector<std::string> unneeded_workers;  ///< sets of workers without which the run may finish sooner
  std::size_t optional_sets = 0;  ///< number of the last sets, tried only within max_wait_fraction
  double max_wait_fraction =
      0;  ///< fraction of the tasks' time for which all workers may wait for the result
  Ablation left_out;

  /// True if this number of simulations of all tasks fits into the waiting time, for this duration of the
  /// run.
  bool fits_wait_budget(std::size_t simulations, Duration time) const noexcept {
    return static_cast<double>(simulations) * tasks * static_cast<double>(cost_per_task.count()) <=
           max_wait_fraction * static_cast<double>(time.count());
  }
};
/// The candidate policies.
std::span<const std::string_view> candidate_policies() noexcept;
/// The maximum number of simulations, without the optional ones.
std::size_t max_simulations(const SelectionInput& input) noexcept;
/// The policy that a finding selects; empty if the active policy stays or the finding is invalid.
std::string policy_of(const SelectionInput& input, std::uint64_t finding);
/// True if the budget allows enough simulated tasks for a result.
bool is_worth_simulating(const SelectionInput& input) noexcept;

/// The part of the work that is simulated first to estimate the total time, if all workers wait and the simulations may
/// take too long.
inline constexpr double pilot_fraction = 1.0 / 8;
/// A finding: the simulations would exceed the waiting time, so there is no result.
inline constexpr std::uint64_t exceeds_wait_budget = ~std::uint64_t{0};

/// A result: the finding and the predicted time. It fits into the event's 64-bit word, since a replay of the run has
/// only that.
struct CandidateOutcome {
  std::uint64_t finding = 0;  ///< for policy_of(), with the same input; 0: the active policy stays
  /// All of the work under the selected policy, extrapolated if necessary; 0: unknown.
  SimulationOutcome simulated{Duration{}};
};
std::uint64_t packed(const CandidateOutcome& outcome) noexcept;
CandidateOutcome unpacked(std::uint64_t word) noexcept;

/// The quick check of a few candidates: whether to change the policy before the full simulations. It simulates all of
/// the work if data exceed the memories.
CandidateOutcome quick_check(Simulator& stage, const SelectionInput& input);
/// True if the budget allows the quick check to simulate all of the work.
bool quick_check_covers_all(const SelectionInput& input) noexcept;
/// Simulates the candidates and returns the best one; the finding is exceeds_wait_budget if that would
/// exceed the waiting time.
CandidateOutcome select_policy(Simulator& stage, const SelectionInput& input);
/// Tests the active policy with fewer workers.
CandidateOutcome try_fewer_workers(Simulator& stage, const SelectionInput& input);
/// Tests an earlier finding on the remaining tasks and the current locations of data. Returns the finding, or 0.
CandidateOutcome confirm(Simulator& stage, const SelectionInput& input, std::uint64_t finding);

}  // namespace fairlead::schedule::what_if
