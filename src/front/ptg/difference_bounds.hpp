// Difference constraints, such as k + 1 <= m: most conditions of an edge follow from the others and from the ranges
// of the producing task, and need no evaluation at run time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "front/ptg/formula.hpp"

namespace fairlead::ptg {

/// A difference-bound matrix: for each pair of variables an upper bound of their difference, closed under implication
/// (Floyd 1962, Warshall 1962).
class DifferenceBounds {
 public:
  /// For variables at `places` places, and the constant 0.
  explicit DifferenceBounds(std::size_t places) : size_(places + 1), most_(size_ * size_, unbounded) {
    for (std::size_t i = 0; i < size_; ++i) most_[i * size_ + i] = 0;
  }

  /// Adds the constraint sum >= 0. Ignored if the sum is not a difference of two variables.
  void add(const Affine& sum);
  /// True if sum >= 0 follows.
  bool implies(const Affine& sum) const;

 private:
  static constexpr std::int64_t unbounded = std::int64_t{1} << 50;
  /// `sum` equals variable `larger` - variable `smaller` + its constant. `is`: whether it has this form.
  struct Pair {
    bool is = false;
    std::size_t larger = 0, smaller = 0;
  };
  Pair pair_of(const Affine& sum) const;
  std::int64_t& most(std::size_t a, std::size_t b) { return most_[a * size_ + b]; }
  std::int64_t most(std::size_t a, std::size_t b) const { return most_[a * size_ + b]; }

  std::size_t size_;
  std::vector<std::int64_t> most_;  // upper bounds of the first variable minus the second
};

}  // namespace fairlead::ptg
