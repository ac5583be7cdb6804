// See rank_attempts.hpp.
#include "solver/rank_attempts.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdint>
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

constexpr std::uint32_t ends = 16;  // more than AttemptEnd has

AttemptEnd end_in(double number) noexcept {
  return static_cast<AttemptEnd>(static_cast<std::uint32_t>(number) % ends);
}

/// The fallback of the ranks that have one; of several, the one that needs the least memory.
const DenseOperation* fallback_in(std::span<const double> all) noexcept {
  const DenseOperation* found = nullptr;
  for (const double number : all)
    if (const auto* one = method_numbered(static_cast<std::uint32_t>(number) / ends); one != nullptr)
      if (found == nullptr || one == &incremental_lu_operation) found = one;
  return found;
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
  } catch (const RankError& error) {
    try {
      std::rethrow_if_nested(error);
    } catch (...) {
      return end_of(std::current_exception(), in_lower_precision);  // found by this rank, too
    }
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
    if (const auto* unsuitable = dynamic_cast<const MethodUnsuitable*>(&error); unsuitable != nullptr)
      outcome.fallback = &unsuitable->fallback();
  } catch (...) {
    outcome.why = std::current_exception();
  }
  if (outcome.why == nullptr) return outcome;
  outcome.end = end_of(outcome.why, in_lower_precision);
  return outcome;
}

double AttemptOutcome::number() const noexcept {
  const std::uint32_t method = fallback == nullptr ? 0 : fallback->solve->number;
  return static_cast<double>(static_cast<std::uint32_t>(end) + ends * method);
}

std::optional<SolveOptions> next_attempt(const SolveOptions& options, const AttemptOutcome& own,
                                         std::span<const double> all) {
  using enum AttemptEnd;
  const auto any = [&](AttemptEnd end) {
    return std::ranges::any_of(all, [end](double number) { return end_in(number) == end; });
  };
  if (any(solved) || std::ranges::any_of(all, [](double number) { return end_in(number) >= failed; }))
    return {};
  if (const DenseOperation* const fallback = fallback_in(all); fallback != nullptr) {
    SolveOptions next =
        with_fallback(options, *fallback,
                      own.end == unsuitable ? own.words : without_advice(reason_of_other_rank(own.words)));
    if (options.method == &triangular_operation) next.method_reason.clear();  // the caller gave the method
    return next;
  }
  if (!any(imprecise)) return {};
  SolveOptions in_double = options;
  in_double.factor = FactorPrecision::of_solution;
  return in_double;
}

void rethrow(const AttemptOutcome& own, std::span<const double> all, RemoteErrors how) {
  using enum AttemptEnd;
  try {
    std::rethrow_exception(own.why);
  } catch (const RankError&) {
    if (how == RemoteErrors::as_rank_errors) throw;
    const std::string reason = reason_of_other_rank(own.words);
    AttemptEnd worst = solved;
    for (const double number : all) worst = std::max(worst, end_in(number));
    if (worst == failed_singular) throw linalg::SingularError(reason);
    if (worst == failed_numerically) throw NumericalError(reason);
    if (worst == failed_by_input) throw InputError(reason);
    if (worst == failed_by_usage) throw UsageError(reason);
    if (worst == failed_by_settings) throw ConfigError(reason);
    if (worst == failed_by_memory) throw config::MemoryLimitError(reason);
    throw;
  }
}

}  // namespace fairlead::solver
