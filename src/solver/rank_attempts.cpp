// See rank_attempts.hpp.
#include "solver/rank_attempts.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <string_view>

#include "algorithms/linalg/singular_error.hpp"
#include "config/memory_limit_error.hpp"
#include "solver/choose_method.hpp"
#include "solver/solve_steps.hpp"

namespace fairlead::solver {

namespace {

/// The reason in the error of another rank: "... was aborted: rank 2: the matrix is not ...".
std::string reason_of_other_rank(std::string_view words) {
  if (const auto rank = words.find(": rank "); rank != words.npos)
    if (const auto reason = words.find(": ", rank + 1); reason != words.npos) words.remove_prefix(reason + 2);
  return std::string(words);
}

AttemptEnd end_of(const std::exception_ptr& why, bool in_lower_precision) {
  using enum AttemptEnd;
  try {
    std::rethrow_exception(why);
  } catch (const MethodUnsuitable&) {
    return unsuitable;
  } catch (const NoPrecisionHelps&) {
    return failed_numerically;
  } catch (const NumericalError& error) {
    if (in_lower_precision) return imprecise;
    return dynamic_cast<const linalg::SingularError*>(&error) != nullptr ? failed_singular
                                                                         : failed_numerically;
  } catch (const RankError&) {
    return by_another_rank;
  } catch (const UsageError&) {
    return failed_by_usage;
  } catch (const config::MemoryLimitError&) {
    return failed_by_memory;
  } catch (const ConfigError&) {
    return failed_by_settings;
  } catch (const InputError&) {
    return failed_by_input;
  } catch (...) {
    return failed;
  }
}

}  // namespace

AttemptOutcome outcome_of(const std::function<void()>& attempt, bool in_lower_precision) {
  AttemptOutcome outcome;
  try {
    attempt();
  } catch (const std::exception& error) {
    outcome.why = std::current_exception();
    outcome.words = error.what();
  } catch (...) {
    outcome.why = std::current_exception();
  }
  if (outcome.why != nullptr) outcome.end = end_of(outcome.why, in_lower_precision);
  return outcome;
}

std::optional<SolveOptions> next_attempt(const SolveOptions& options, const AttemptOutcome& own,
                                         std::span<const double> all) {
  using enum AttemptEnd;
  const auto any = [&](AttemptEnd end) { return std::ranges::count(all, static_cast<double>(end)) != 0; };
  if (any(solved) || std::ranges::any_of(all, [](double end) { return end >= static_cast<double>(failed); }))
    return {};
  if (any(unsuitable)) {
    const std::string reason =
        own.end == unsuitable ? own.words : without_advice(reason_of_other_rank(own.words));
    return with_fallback(options, *options.fallback, reason);
  }
  if (!any(imprecise)) return {};
  SolveOptions in_double = options;
  in_double.factor = FactorPrecision::of_solution;
  return in_double;
}

void rethrow(const AttemptOutcome& own, std::span<const double> all) {
  using enum AttemptEnd;
  if (own.end == by_another_rank) {
    const std::string reason = reason_of_other_rank(own.words);
    const double worst = std::ranges::max(all);
    if (worst == static_cast<double>(failed_singular)) throw linalg::SingularError(reason);
    if (worst == static_cast<double>(failed_numerically)) throw NumericalError(reason);
    if (worst == static_cast<double>(failed_by_input)) throw InputError(reason);
    if (worst == static_cast<double>(failed_by_usage)) throw UsageError(reason);
    if (worst == static_cast<double>(failed_by_settings)) throw ConfigError(reason);
    if (worst == static_cast<double>(failed_by_memory)) throw config::MemoryLimitError(reason);
  }
  std::rethrow_exception(own.why);
}

}  // namespace fairlead::solver
