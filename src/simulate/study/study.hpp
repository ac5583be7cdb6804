// A scenario under several policies, each with several seeds: what `fairlead simulate` prints and writes.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/comparison.hpp"
#include "simulate/run_statistics.hpp"
#include "simulate/study/scenario.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::simulate {

struct StudyResult {
  std::vector<PolicyStatistics> policies;
  Json runs = Json::array();    ///< one object for each run
  report::Comparison compared;  ///< the run of each policy with the first seed, for a page
  trace::Snapshot recorded;     ///< of the last run, if it was traced
  bool all_finished = true;

  std::string csv(const Scenario& scenario) const;
};

/// What is called during the runs. Both may be empty.
struct StudyObserver {
  /// After each run, with the statistics of its policy so far.
  std::function<void(const RunOutcome&, const PolicyStatistics&)> on_run;
  std::function<void(const PolicyStatistics&)> on_policy;  ///< after the last run of a policy
};

/// `policies`: names, without "auto". `seeds`: runs of each, with the seed of `options` and those after it.
StudyResult study(const Scenario& scenario, const std::vector<std::string>& policies, std::uint64_t seeds,
                  SimulationOptions options, const StudyObserver& observer);

// ---- the text of the command. `width`: of the column of policies.

/// Program, machine and bounds; several lines.
std::string limits_text(const Scenario& scenario);
/// Why "auto" is the policy that it is, in one line.
std::string automatic_policy_text(const Scenario& scenario);
/// The columns for several seeds, and the line of a policy, without newlines.
std::string spread_heading(std::size_t width);
std::string spread_line(const PolicyStatistics& runs, std::size_t width);
/// All workloads with their options.
std::string workloads_text();

}  // namespace fairlead::simulate
