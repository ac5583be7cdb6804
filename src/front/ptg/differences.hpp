// What follows from inequalities between two numbers each, as k + 1 <= m: of the conditions of an edge most follow
// from the others, and from the ranges of the task that it comes from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "front/ptg/formula.hpp"

namespace fairlead::ptg {

/// For each pair of numbers how much larger one can be than the other at most: all that the known inequalities say
/// together (Floyd 1962, Warshall 1962).
class Differences {
 public:
  /// Between numbers at so many places, and 0.
  explicit Differences(std::size_t places) : size_(places + 1), most_(size_ * size_, unbounded) {
    for (std::size_t i = 0; i < size_; ++i) most_[i * size_ + i] = 0;
  }

  /// The sum is not negative. Nothing is learned from one that is no difference of two numbers.
  void know(const Affine& sum);
  /// The sum is surely not negative.
  bool implies(const Affine& sum) const;

 private:
  static constexpr std::int64_t unbounded = std::int64_t{1} << 50;
  /// `sum` is number `larger` - number `smaller` + its constant.
  struct Pair {
    bool is = false;
    std::size_t larger = 0, smaller = 0;
  };
  Pair pair_of(const Affine& sum) const;
  std::int64_t& most(std::size_t a, std::size_t b) { return most_[a * size_ + b]; }
  std::int64_t most(std::size_t a, std::size_t b) const { return most_[a * size_ + b]; }

  std::size_t size_;
  std::vector<std::int64_t> most_;  // of the first minus the second
};

}  // namespace fairlead::ptg
