// A formula: an expression whose indices are places in an array of numbers, so that evaluating it looks
// nothing up. Most are a place and a constant, or a sum of few; the others are a little program for a stack.
#pragma once
#include <array>
#include <cstdint>
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
};

class Formula {
 public:
  Formula() = default;  ///< 0
  explicit Formula(const Affine& sum);
  /// Throws UsageError naming an index that has no place.
  Formula(const Expression& expression, const Places& places);

  std::int64_t operator()(const std::int64_t* numbers) const {
    if (count_ == 1) return constant_ + numbers[terms_[0].place] * terms_[0].factor;
    if (program_.empty()) [[likely]] {
      std::int64_t sum = constant_;
      for (std::size_t i = 0; i < count_; ++i) sum += numbers[terms_[i].place] * terms_[i].factor;
      return sum;
    }
    return run(numbers);
  }
  bool constant() const noexcept { return count_ == 0 && program_.empty(); }

 private:
  static constexpr std::size_t most_terms = 3, deepest = 64;
  struct Term {
    std::int32_t factor;
    std::uint8_t place;
  };
  struct Step {
    enum class Kind : std::uint8_t { push, load, operate, call, jump, jump_if_zero, jump_if_not_zero, truth };
    Kind kind = Kind::push;
    Operation operation = Operation::constant;
    std::uint32_t count = 0;  // of operands; a place; where to jump
    std::int64_t value = 0;
    const ExpressionNode* node = nullptr;
  };
  void compile(const Expression& expression, const Places& places, std::size_t depth);
  std::int64_t run(const std::int64_t* numbers) const;

  std::int64_t constant_ = 0;
  std::array<Term, most_terms> terms_{};
  std::uint8_t count_ = 0;
  std::vector<Step> program_;
  std::vector<Expression> kept_;  // whose functions the program calls
};

}  // namespace fairlead::ptg
