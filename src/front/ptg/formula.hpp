// A formula: an expression whose indices are places in an array of numbers, so that evaluating it looks
// nothing up. Most are a place and a constant, or a sum of few; the others are a little program for a stack.
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

/// Indices by their places in an array of numbers.
class Places {
 public:
  /// The number of such places that a formula may use.
  static constexpr std::size_t most = 48;

  /// The next place. Throws UsageError if there are too many.
  std::uint8_t add(const Expression& index);
  std::optional<std::uint8_t> find(const ExpressionNode* index) const noexcept;
  std::size_t size() const noexcept { return indices_.size(); }
  const Expression& index_at(std::size_t place) const noexcept { return indices_[place]; }

 private:
  std::vector<Expression> indices_;
};

/// The sum of a constant and multiples of numbers at their places.
struct Affine {
  std::int64_t constant = 0;
  std::vector<std::pair<std::uint8_t, std::int64_t>> terms{};  ///< by place, ascending; no factor is 0

  void add(std::uint8_t place, std::int64_t factor);
  void add(const Affine& other, std::int64_t factor);
  std::int64_t factor_of(std::uint8_t place) const noexcept;
  bool operator==(const Affine&) const = default;

  /// The expression as such a sum, if it is one. Throws UsageError naming an index that has no place.
  static std::optional<Affine> of(const Expression& expression, const Places& places);
  /// The same of `a` - `b`.
  static std::optional<Affine> difference(const Expression& a, const Expression& b, const Places& places);
};

class Formula {
 public:
  Formula() = default;  ///< 0
  explicit Formula(const Affine& sum);
  /// Throws UsageError naming an index that has no place.
  Formula(const Expression& expression, const Places& places);

  [[gnu::always_inline]] std::int64_t operator()(const std::int64_t* numbers) const {
    if (program_ != nullptr) [[unlikely]]
      return run(numbers);
    // Those that are not there are 0 times the first.
    // What leaves 64 bits wraps round, as in apply().
    const auto term = [&](std::size_t i) {
      return static_cast<std::uint64_t>(factors_[i]) * static_cast<std::uint64_t>(numbers[places_[i]]);
    };
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(constant_) + term(0) + term(1) + term(2));
  }
  /// By how much it grows with the number at a place; nothing if that is not the same everywhere.
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
  std::shared_ptr<const Program> program_;  // null: the sum is all
};

/// Whether a formula's value is of a kind: most conditions compare two sums.
class Condition {
 public:
  enum class Kind : std::uint8_t {
    not_zero,      // as an expression that is a condition
    zero,          // two are equal
    not_negative,  // one is at least the other
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

/// What a comparison of two sums says of one.
struct Comparison {
  Affine sum;
  Condition::Kind kind;

  /// Nothing if the condition is none. `holds`: that it does, or that it does not.
  static std::optional<Comparison> of(const Expression& condition, bool holds, const Places& places);
};

/// All of them hold.
class Conditions {
 public:
  Conditions() = default;
  /// Those that the expression consists of. Throws as Formula.
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
