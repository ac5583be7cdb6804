// See method_options.hpp.
#include "solver/method_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace fairlead::solver {

namespace {

/// The matrices of the methods that an option requires.
enum class Suited : std::uint8_t { positive_definite, symmetric, symmetric_or_triangular, least_squares };

struct OptionRule {
  MethodOption option;
  std::string_view in_command, in_library;
  Suited suited;
};
constexpr std::array rules{
    OptionRule{MethodOption::kernel, "--kernel", "kernel", Suited::positive_definite},
    OptionRule{MethodOption::refine, "--refine", "refine", Suited::positive_definite},
    OptionRule{MethodOption::tf32, "--tf32", "tf32", Suited::positive_definite},
    OptionRule{MethodOption::lower, "--lower", "Stored::lower", Suited::symmetric_or_triangular},
    OptionRule{MethodOption::upper, "--upper", "Stored::upper", Suited::symmetric_or_triangular},
    OptionRule{MethodOption::mean, "--symmetrize", "Stored::mean", Suited::symmetric},
    OptionRule{MethodOption::rank_tolerance, "--rank-tolerance", "rank_tolerance", Suited::least_squares},
};

// Names of other options that occur in messages of a solve.
constexpr std::array other_names{
    std::pair<std::string_view, std::string_view>{"by --disk-directory", "by the setting disk-directory"},
    std::pair<std::string_view, std::string_view>{"--require-digits", "required_digits"},
    std::pair<std::string_view, std::string_view>{"--no-condition", "condition"},
    std::pair<std::string_view, std::string_view>{"another --blas", "another setting blas"},
    std::pair<std::string_view, std::string_view>{"by --memory", "by the option memory"},
};

const OptionRule& rule_of(MethodOption option) noexcept {
  return *std::ranges::find(rules, option, &OptionRule::option);
}

bool allows(const DenseOperation& method, const OptionRule& rule) noexcept {
  switch (rule.suited) {
    case Suited::positive_definite:
      return method.solve->symmetric && !method.solve->grows;
    case Suited::symmetric:
      return method.solve->symmetric;
    case Suited::symmetric_or_triangular:
      return method.solve->symmetric || method.solve->triangle != linalg::Stored::both;
    case Suited::least_squares:
      break;
  }
  return method.solve->least_squares;
}

/// The methods that the option requires: "a symmetric matrix: --method cholesky or ldlt".
std::string required_by(const OptionRule& rule, Wording wording) {
  std::string names;
  for (const DenseOperation* const method : all_methods()) {
    if (!allows(*method, rule)) continue;
    if (method->solve->triangle != linalg::Stored::both)
      names += ", or a triangular one: " + name_of(*method, wording);
    else if (names.empty())
      names = name_of(*method, wording);
    else
      names += fmt::format(
          " or {}", wording == Wording::command ? std::string(method->key) : name_of(*method, wording));
  }
  return rule.suited == Suited::least_squares ? names : "a symmetric matrix: " + names;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

std::optional<MethodOption> option_of(linalg::Stored stored) noexcept {
  switch (stored) {
    case linalg::Stored::lower:
      return MethodOption::lower;
    case linalg::Stored::upper:
      return MethodOption::upper;
    case linalg::Stored::mean:
      return MethodOption::mean;
    case linalg::Stored::both:
      break;
  }
  return std::nullopt;
}

std::string_view name_of(MethodOption option, Wording wording) noexcept {
  const OptionRule& rule = rule_of(option);
  return wording == Wording::command ? rule.in_command : rule.in_library;
}

std::string name_of(const DenseOperation& method, Wording wording) {
  if (wording == Wording::command) return fmt::format("--method {}", method.key);
  std::string name(method.key);
  std::ranges::replace(name, '-', '_');
  return "Method::" + name;
}

std::optional<std::string> problem_of(const RequestedSolve& requested, Wording wording) {
  const bool by_command = wording == Wording::command;
  for (const MethodOption option : requested.options) {
    const OptionRule& rule = rule_of(option);
    if (requested.method != nullptr && !allows(*requested.method, rule))
      return fmt::format("{} requires {}, not {}", name_of(option, wording), required_by(rule, wording),
                         requested.method->key);
    for (const MethodOption other : requested.options)
      if (rule.suited != Suited::least_squares && rule_of(other).suited == Suited::least_squares)
        return fmt::format("{} requires {}, and {} requires {}: give one", name_of(option, wording),
                           required_by(rule, wording), name_of(other, wording),
                           required_by(rule_of(other), wording));
  }
  if (const auto tolerance = requested.rank_tolerance; tolerance && !(*tolerance >= 0 && *tolerance < 1))
    return fmt::format("{} {}{}: it is relative to the largest singular value, at least 0 and below 1",
                       name_of(MethodOption::rank_tolerance, wording), by_command ? "" : "is ", *tolerance);
  if (const auto digits = requested.required_digits) {
    constexpr int most = std::numeric_limits<double>::digits10;
    if (*digits < 1 || *digits > most)
      return fmt::format("{}{}: 1 to {} are possible",
                         by_command ? "--require-digits " : "required_digits is ", *digits, most);
    if (!requested.condition)
      return by_command ? "--require-digits needs the estimate of the forward error: leave out --no-condition"
                        : "required_digits needs the estimate of the forward error: leave condition on";
  }
  return std::nullopt;
}

std::optional<std::string> complex_problem_of(std::span<const MethodOption> options, Wording wording) {
  for (const MethodOption option : options)
    if (option == MethodOption::kernel || option == MethodOption::tf32)
      return fmt::format(
          "{} is available for real numbers only, and the files hold complex ones: leave it out",
          name_of(option, wording));
  return std::nullopt;
}

std::optional<std::string> digits_problem_of(ElementType solution, std::optional<int> required_digits,
                                             Wording wording) {
  const bool single = is_single(solution);
  const int most = single ? std::numeric_limits<float>::digits10 : std::numeric_limits<double>::digits10;
  if (!required_digits || *required_digits <= most) return std::nullopt;
  return fmt::format("{}{}: the solution is in {} precision, which has {}",
                     wording == Wording::command ? "--require-digits " : "required_digits is ",
                     *required_digits, single ? "single" : "double", most);
}

std::string in_words_of_library(std::string text) {
  // Longer names first: "--method lu" is the beginning of others.
  std::vector<const DenseOperation*> methods(all_methods().begin(), all_methods().end());
  std::ranges::sort(methods, std::greater(), [](const DenseOperation* method) { return method->key.size(); });
  for (const DenseOperation* const method : methods)
    replace_all(text, name_of(*method, Wording::command), name_of(*method, Wording::library));
  for (const OptionRule& rule : rules) replace_all(text, rule.in_command, rule.in_library);
  for (const auto& [from, to] : other_names) replace_all(text, from, to);
  return text;
}

}  // namespace fairlead::solver
