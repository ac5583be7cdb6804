// The attempts of a solve over ranks. A factorization that fails ends the run of all ranks, so after each attempt they
// agree whether to start again, in double precision or by the fallback.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "solver/linear_system.hpp"

namespace fairlead::solver {

/// How an attempt ended on one rank. Ranks exchange the numbers.
enum class AttemptEnd : std::uint8_t {
  solved,
  imprecise,        // in lower precision: double precision may help
  unsuitable,       // the method does not suit the matrix: the fallback may help
  by_another_rank,  // an error of which this rank has only the text
  failed,           // no other attempt helps; the others say of which type the error is
  failed_singular,
  failed_numerically,
  failed_by_input,
  failed_by_usage,
  failed_by_settings,
  failed_by_memory
};

struct AttemptOutcome {
  AttemptEnd end = AttemptEnd::solved;
  std::exception_ptr why{};
  std::string words{};                       ///< of the error
  const DenseOperation* fallback = nullptr;  ///< if the method is unsuitable

  /// The end and the fallback, for the other ranks.
  double number() const noexcept;
};

AttemptOutcome outcome_of(const std::function<void()>& attempt, bool in_lower_precision);

/// The options for the next attempt of all ranks; none: the attempt was the last. `all`: the numbers of all ranks.
std::optional<SolveOptions> next_attempt(const SolveOptions& options, const AttemptOutcome& own,
                                         std::span<const double> all);

/// How a rank throws the error of another one.
enum class RemoteErrors : std::uint8_t {
  as_rank_errors,   // a program that prints the error once
  by_type_of_cause  // a library: a caller on any rank catches the same type
};
[[noreturn]] void rethrow(const AttemptOutcome& own, std::span<const double> all, RemoteErrors how);

/// Returns the result of the last attempt, or throws its error. `gather`: returns the numbers of all ranks; collective.
/// `retries`: called with the text of the error before an attempt in double precision.
template <class Result>
Result solve_in_attempts(SolveOptions options, const std::function<Result(const SolveOptions&)>& attempt,
                         RemoteErrors remote_errors,
                         const std::function<std::vector<double>(double own)>& gather,
                         const std::function<void(const std::string&)>& retries) {
  for (;;) {
    std::optional<Result> solved;
    const bool in_lower_precision = options.factor != FactorPrecision::of_solution;
    const AttemptOutcome own = outcome_of([&] { solved.emplace(attempt(options)); }, in_lower_precision);
    const std::vector<double> all = gather(own.number());
    std::optional<SolveOptions> next = next_attempt(options, own, all);
    if (!next && own.why != nullptr) rethrow(own, all, remote_errors);
    if (!next) return std::move(*solved);
    if (next->method == options.method) retries(own.words);
    options = std::move(*next);
  }
}

}  // namespace fairlead::solver
