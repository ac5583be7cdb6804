// Iteration over nested integer loops with bounds that depend on outer indices: over the tasks of a class, or the
// receivers of a value. An iteration can be interrupted and resumed.
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

/// The bound `dividend` / `divisor`, with a positive divisor. A lower bound is rounded up, an upper bound down.
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

/// One loop: from the largest of `first` to the smallest of `last`, with a step.
struct Loop {
  std::uint8_t place = 0;  ///< the place of its index
  std::vector<Bound> first, last;
  Formula step;
  bool by_one = true;
  bool derived = false;  ///< a single value: that of `first`

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
  /// Restricts the loop to the values for which the sum, in which its index occurs, is not negative.
  void bound(const Affine& not_negative);
  /// The number of iterations.
  std::uint64_t count(const std::int64_t* numbers) const;
  /// Throws UsageError if the step is not positive.
  std::int64_t step_of(const std::int64_t* numbers) const;
};

/// The iteration was stopped because its run was abandoned.
struct WalkStopped : UsageError {
  WalkStopped() : UsageError("the parameterized graph was cancelled") {}
};

/// The state of an iteration: the ends of the open loops. The indices are in the caller's `numbers`. Throws
/// UsageError for indices beyond 32 bits, and for ranges that are empty two billion times in a row.
class Walk {
 public:
  static constexpr std::size_t most_loops = 24;
  /// The largest number of consecutive steps without an iteration.
  static constexpr std::uint64_t most_empty_steps = std::uint64_t{1} << 31;
  [[noreturn]] static void throw_fruitless();

  /// Once *stop is set, a long search without an iteration throws WalkStopped. Null: it cannot be stopped.
  void stop_by(const std::atomic<bool>* stop) noexcept { stop_ = stop; }

  /// Moves to the first iteration; false if there is none. At most most_loops loops.
  bool begin(const std::vector<Loop>& loops, std::int64_t* numbers) { return go(loops, 0, true, numbers); }
  /// Moves to the next iteration; false if this was the last.
  bool next(const std::vector<Loop>& loops, std::int64_t* numbers) {
    if (loops.empty()) return false;
    const std::size_t innermost = loops.size() - 1;
    std::int64_t& number = numbers[loops[innermost].place];
    if (open_[innermost].last - number < open_[innermost].step) return go(loops, innermost, false, numbers);
    number += open_[innermost].step;
    return true;
  }
  /// For a single loop: its end, which the last iteration may not reach exactly, and its step.
  std::pair<std::int64_t, std::int64_t> innermost() const noexcept { return {open_[0].last, open_[0].step}; }
  /// Moves `steps` steps of the innermost loop ahead; if that is beyond its end, to the next value of an enclosing
  /// loop.
  bool skip(const std::vector<Loop>& loops, std::int64_t steps, std::int64_t* numbers) {
    if (loops.empty()) return false;
    const std::size_t innermost = loops.size() - 1;
    std::int64_t& number = numbers[loops[innermost].place];
    if ((open_[innermost].last - number) / open_[innermost].step < steps)
      return innermost != 0 && go(loops, innermost - 1, false, numbers);
    number += steps * open_[innermost].step;
    return true;
  }
  /// The step of the innermost loop; `loops`, their number, is positive.
  std::int64_t step(std::size_t loops) const noexcept { return open_[loops - 1].step; }
  /// Skips the rest of the loops inside loop `level`: moves to the next value of that loop or of one around it.
  bool skip_inner(const std::vector<Loop>& loops, std::size_t level, std::int64_t* numbers) {
    return go(loops, level, false, numbers);
  }

 private:
  /// Enters loop `level`, or advances it; an exhausted loop continues with the one around it.
  bool go(const std::vector<Loop>& loops, std::size_t level, bool entering, std::int64_t* numbers);

  struct Open {
    std::int64_t last, step;
  };
  std::array<Open, most_loops> open_;  // not initialized beyond the number of loops

 protected:
  void look() const {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw WalkStopped();
  }

 private:
  const std::atomic<bool>* stop_ = nullptr;
};

/// For index spaces that may be very large, as only a definition bounds them: checks the stop flag also while
/// iterations are found.
class StoppableWalk : public Walk {
 public:
  explicit StoppableWalk(const std::atomic<bool>* stop = nullptr) { stop_by(stop); }
  bool next(const std::vector<Loop>& loops, std::int64_t* numbers) {
    if (++steps_ % look_every == 0) [[unlikely]]
      look();
    return Walk::next(loops, numbers);
  }
  bool pass(const std::vector<Loop>& loops, std::size_t level, std::int64_t* numbers) {
    if (++steps_ % look_every == 0) [[unlikely]]
      look();
    return Walk::skip_inner(loops, level, numbers);
  }

 private:
  static constexpr std::uint32_t look_every = 4096;
  std::uint32_t steps_ = 0;
};

}  // namespace fairlead::ptg
