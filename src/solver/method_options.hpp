// The table of the options that only some methods allow. The command and the library share it: they check the same
// rules, and their messages differ only in the words for options and methods.
#pragma once
#include <fairlead/element_type.hpp>
#include <fairlead/stored.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "solver/dense_problem.hpp"

namespace fairlead::solver {

/// Whose words a message uses: "--method qr" or "Method::qr".
enum class Wording : std::uint8_t { command, library };

/// The options in the table.
enum class MethodOption : std::uint8_t {
  kernel,
  refine,
  tf32,
  lower,
  upper,
  mean,
  rank_tolerance,
};

/// What a caller requests of a solve, as far as its parts can exclude each other.
struct RequestedSolve {
  const DenseOperation* method = nullptr;  ///< null: chosen for the matrix
  std::span<const MethodOption> options{};
  std::optional<double> rank_tolerance{};
  std::optional<int> required_digits{};
  bool condition = true;  ///< estimate condition and forward error
};

/// That by which the caller states which triangles count; none for both.
std::optional<MethodOption> option_of(linalg::Stored stored) noexcept;
/// "--refine"; "refine".
std::string_view name_of(MethodOption option, Wording wording) noexcept;
/// "--method lu-incremental"; "Method::lu_incremental".
std::string name_of(const DenseOperation& method, Wording wording);

/// Why the request is invalid: options that the method does not allow, options that exclude each other, values out of
/// range. Nothing: it is valid.
std::optional<std::string> problem_of(const RequestedSolve& requested, Wording wording);
/// Why the options do not allow a complex matrix or right-hand side; nothing: they do.
std::optional<std::string> complex_problem_of(std::span<const MethodOption> options, Wording wording);
/// Why no solution of that type has as many digits; nothing: it may.
std::optional<std::string> digits_problem_of(ElementType solution, std::optional<int> required_digits,
                                             Wording wording);

/// A message of the steps of a solve, which is in the command's words, in those of the library.
std::string in_words_of_library(std::string text);

}  // namespace fairlead::solver
