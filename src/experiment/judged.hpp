// Compares one policy with the best published one, over all experiments that judge it: a row for each point, and what the
// ratios come to.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// The policies from papers, with which a judged policy is compared.
std::span<const std::string_view> published_policies() noexcept;

/// One Markdown table; empty if no experiment has `judged`.
std::string judged(std::span<const ExperimentOutcome> all);
/// The same as CSV: experiment,x,judged,best,ratio,bound, where `bound` is the best one's time over the least that
/// processors and the critical path allow.
std::string judged_csv(std::span<const ExperimentOutcome> all);

}  // namespace fairlead::experiment
