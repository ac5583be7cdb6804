// Formulas: expressions compiled so that each index is a place in an array of numbers, without lookups. Most are
// affine sums of up to three terms; the others are programs for a stack machine.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "front/ptg/expression_node.hpp"

namespace fairlead::ptg {

/// Assigns indices to places in an array of numbers.
class Places {
 public:
  /// The largest number of places.
  static constexpr std::size_t most = 48;

  /// Assigns the next place. Throws UsageError if there are too many.
  std::uint8_t add(const Expression& index);
  /// The place of an index; the last one if it has several.
  std::optional<std::uint8_t> find(const ExpressionNode* index) const noexcept;
  std::size_t size() const noexcept { return indices_.size(); }
  const Expression& index_at(std::size_t place) const noexcept { return indices_[place]; }

 private:
  std::vector<Expression> indices_;
};

/// An affine form: a constant plus multiples of the numbers at places.
struct Affine {
  std::int64_t constant = 0;
  /// Place and factor, by ascending place; no factor is 0.
  std::vector<std::pair<std::uint8_t, std::int64_t>> terms{};

  void add(std::uint8_t place, std::int64_t factor);
  void add(const Affine& other, std::int64_t factor);
  /// The factor of a place; 0 if it has no term.
  std::int64_t factor_of(std::uint8_t place) const noexcept;
  bool operator==(const Affine&) const = default;

  /// The expression as an affine form; nothing if it is not affine. Throws UsageError naming an index that has no
  /// place.
  static std::optional<Affine> of(const Expression& expression, const Places& places);
  /// `a` - `b` as an affine form.
  static std::optional<Affine> difference(const Expression& a, const Expression& b, const Places& places);
};

/// A compiled expression. Copies share the program.
class Formula {
 public:
  Formula() = default;  ///< the constant 0
  explicit Formula(const Affine& sum);
  /// Compiles the expression. Throws UsageError naming an index that has no place, or for too deep nesting.
  Formula(const Expression& expression, const Places& places);

  [[gnu::always_inline]] std::int64_t operator()(const std::int64_t* numbers) const {
    if (program_ != nullptr) [[unlikely]]
      return run(numbers);
    // Unused terms have factor 0 at place 0. Overflow wraps around, as in apply().
    const auto term = [&](std::size_t i) {
      return static_cast<std::uint64_t>(factors_[i]) * static_cast<std::uint64_t>(numbers[places_[i]]);
    };
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(constant_) + term(0) + term(1) + term(2));
  }
  /// By how much the value grows if the number at this place grows by 1; nothing if that is not constant.
  std::optional<std::int64_t> growth(std::uint8_t place) const noexcept {
    if (program_ != nullptr) return std::nullopt;
    std::int64_t factor = 0;
    for (std::size_t i = 0; i < most_terms; ++i)
      if (places_[i] == place) factor += factors_[i];
    return factor;
  }
  bool constant() const noexcept { return factors_[0] == 0 && program_ == nullptr; }

 private:
  static constexpr std::size_t most_terms = 3, deepest = 64;
  struct Program;
  void compile(const Expression& expression, const Places& places, std::size_t depth, Program& into);
  std::int64_t run(const std::int64_t* numbers) const;

  std::int64_t constant_ = 0;
  std::array<std::int32_t, most_terms> factors_{};
  std::array<std::uint8_t, most_terms> places_{};
  std::shared_ptr<const Program> program_;  // null: an affine sum, given by the members above
};

/// A test of a formula's value. A comparison of two affine sums becomes a test of their difference.
class Condition {
 public:
  enum class Kind : std::uint8_t {
    not_zero,      // an expression used as a condition
    zero,          // equality
    not_negative,  // an order
  };
  Condition(Formula formula, Kind kind) : formula_(std::move(formula)), kind_(kind) {}

  [[gnu::always_inline]] bool operator()(const std::int64_t* numbers) const {
    const std::int64_t value = formula_(numbers);
    switch (kind_) {
      case Kind::not_zero:
        return value != 0;
      case Kind::zero:
        return value == 0;
      default:
        return value >= 0;
    }
  }

 private:
  Formula formula_;
  Kind kind_;
};

/// A comparison of two affine sums, as a test of one.
struct AffineComparison {
  Affine sum;
  Condition::Kind kind;

  /// The condition (negated, if `holds` is false) in this form; nothing if it does not compare two affine sums.
  static std::optional<AffineComparison> of(const Expression& condition, bool holds, const Places& places);
};

/// A conjunction of conditions.
class Conditions {
 public:
  Conditions() = default;
  /// Splits the expression into its conjuncts. Throws as Formula.
  Conditions(const Expression& expression, const Places& places) { add(expression, places); }
  void add(const Expression& expression, const Places& places);
  void add(Condition condition) { all_.push_back(std::move(condition)); }
  [[gnu::always_inline]] bool operator()(const std::int64_t* numbers) const {
    for (const Condition& condition : all_)
      if (!condition(numbers)) return false;
    return true;
  }
  bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<Condition> all_;
};

}  // namespace fairlead::ptg
