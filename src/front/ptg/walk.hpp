// Nested loops over whole numbers whose bounds depend on the outer ones, walked one step at a time: the tasks
// of a class, and those that a value goes to. A walk can be left and gone on with.
#pragma once
#include <fairlead/error.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "front/ptg/formula.hpp"

namespace fairlead::ptg {

/// `dividend` / `divisor`, which is above 0: rounded up where it is a lower bound, down where it is an upper.
struct Bound {
  Formula dividend;
  std::int64_t divisor = 1;

  std::int64_t rounded_up(const std::int64_t* numbers) const {
    const std::int64_t value = dividend(numbers);
    return divisor == 1 ? value : value / divisor + (value % divisor > 0);
  }
  std::int64_t rounded_down(const std::int64_t* numbers) const {
    const std::int64_t value = dividend(numbers);
    return divisor == 1 ? value : value / divisor - (value % divisor < 0);
  }
};

/// One loop: from the largest of `first` to the smallest of `last`, in steps.
struct Loop {
  std::uint8_t place = 0;  ///< where its number is
  std::vector<Bound> first, last;
  Formula step;
  bool by_one = true;
  bool derived = false;  ///< it has one value, the first

  std::int64_t begin(const std::int64_t* numbers) const {
    std::int64_t value = first.front().rounded_up(numbers);
    for (std::size_t i = 1; i < first.size(); ++i) {
      const std::int64_t other = first[i].rounded_up(numbers);
      if (other > value) value = other;
    }
    return value;
  }
  std::int64_t end(const std::int64_t* numbers) const {
    std::int64_t value = last.front().rounded_down(numbers);
    for (std::size_t i = 1; i < last.size(); ++i) {
      const std::int64_t other = last[i].rounded_down(numbers);
      if (other < value) value = other;
    }
    return value;
  }
  /// It goes only as far as the sum, which speaks of its number, is not negative.
  void bound(const Affine& not_negative);
  /// How many numbers it goes through.
  std::uint64_t count(const std::int64_t* numbers) const;
  /// Throws UsageError if it is not above 0.
  std::int64_t step_of(const std::int64_t* numbers) const;
};

/// A walk was left since the run that needs it was abandoned.
struct WalkStopped : UsageError {
  WalkStopped() : UsageError("the parameterized graph was cancelled") {}
};

/// Where a walk is: the ends of its loops, and in `numbers` the values of their places. Throws UsageError for numbers of more
/// than 32 bits, and for ranges that hold nothing billions of times in a row.
class Walk {
 public:
  static constexpr std::size_t most_loops = 24;
  /// So many steps in a row that lead to nothing.
  static constexpr std::uint64_t most_fruitless = std::uint64_t{1} << 31;
  [[noreturn]] static void throw_fruitless();

  /// A walk that leads to nothing for long throws WalkStopped once that is set. Null: it does not.
  void stop_by(const std::atomic<bool>* stop) noexcept { stop_ = stop; }

  /// The first step. False if there is none. There are at most so many loops.
  bool begin(const std::vector<Loop>& loops, std::int64_t* numbers) { return go(loops, 0, true, numbers); }
  /// The next one. False if that was the last.
  bool next(const std::vector<Loop>& loops, std::int64_t* numbers) {
    if (loops.empty()) return false;
    const std::size_t innermost = loops.size() - 1;
    std::int64_t& number = numbers[loops[innermost].place];
    if (open_[innermost].last - number < open_[innermost].step) return go(loops, innermost, false, numbers);
    number += open_[innermost].step;
    return true;
  }
  /// Of a walk over one loop: its last number, which it may step over, and the step.
  std::pair<std::int64_t, std::int64_t> innermost() const noexcept { return {open_[0].last, open_[0].step}; }
  /// So many steps of the innermost loop further; if that is beyond its end, the first one with another number of a loop
  /// around it.
  bool skip(const std::vector<Loop>& loops, std::int64_t steps, std::int64_t* numbers) {
    if (loops.empty()) return false;
    const std::size_t innermost = loops.size() - 1;
    std::int64_t& number = numbers[loops[innermost].place];
    if ((open_[innermost].last - number) / open_[innermost].step < steps)
      return innermost != 0 && go(loops, innermost - 1, false, numbers);
    number += steps * open_[innermost].step;
    return true;
  }
  /// Of the innermost of so many loops; there is one.
  std::int64_t step(std::size_t loops) const noexcept { return open_[loops - 1].step; }
  /// The next one with another number of loop `level` or of one around it: what is inside is passed by.
  bool pass(const std::vector<Loop>& loops, std::size_t level, std::int64_t* numbers) {
    return go(loops, level, false, numbers);
  }

 private:
  /// Enters loop `level`, or goes on with it; what has no number left is left for what is around it.
  bool go(const std::vector<Loop>& loops, std::size_t level, bool entering, std::int64_t* numbers);

  struct Open {
    std::int64_t last, step;
  };
  std::array<Open, most_loops> open_;  // not initialized: as far as there are loops

 protected:
  void look() const {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw WalkStopped();
  }

 private:
  const std::atomic<bool>* stop_ = nullptr;
};

/// A walk through a space whose size only a definition bounds: also where each step leads to something it can be stopped.
class SpaceWalk : public Walk {
 public:
  explicit SpaceWalk(const std::atomic<bool>* stop = nullptr) { stop_by(stop); }
  bool next(const std::vector<Loop>& loops, std::int64_t* numbers) {
    if (++steps_ % look_every == 0) [[unlikely]]
      look();
    return Walk::next(loops, numbers);
  }
  bool pass(const std::vector<Loop>& loops, std::size_t level, std::int64_t* numbers) {
    if (++steps_ % look_every == 0) [[unlikely]]
      look();
    return Walk::pass(loops, level, numbers);
  }

 private:
  static constexpr std::uint32_t look_every = 4096;
  std::uint32_t steps_ = 0;
};

}  // namespace fairlead::ptg
