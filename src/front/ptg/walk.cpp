// Iteration over nested loops.
#include "front/ptg/walk.hpp"

#include <fairlead/error.hpp>

#include <string>

#include "front/ptg/interval.hpp"

namespace fairlead::ptg {

std::int64_t Loop::step_of(const std::int64_t* numbers) const {
  if (by_one) return 1;
  const std::int64_t value = step(numbers);
  if (value <= 0)
    throw UsageError("a range of a parameterized task graph goes in steps of " + std::to_string(value) +
                     "; they must be positive");
  return value;
}

void Loop::bound(const Affine& not_negative) {
  const std::int64_t factor = not_negative.factor_of(place);
  Affine rest;
  rest.add(not_negative, factor > 0 ? -1 : 1);
  rest.add(place, factor > 0 ? factor : -factor);
  (factor > 0 ? first : last).push_back({Formula(rest), factor > 0 ? factor : -factor});
}

std::uint64_t Loop::count(const std::int64_t* numbers) const {
  if (derived) return 1;
  const std::int64_t from = begin(numbers), to = end(numbers);
  if (to < from) return 0;
  const std::uint64_t distance = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  return distance / static_cast<std::uint64_t>(step_of(numbers)) + 1;
}

void Walk::throw_fruitless() {
  throw UsageError("the ranges of a parameterized task graph are empty " + std::to_string(most_empty_steps) +
                   " times in a row: give the outer ranges bounds within which the inner ones are not empty");
}

namespace {
void require_32_bits(std::int64_t first, std::int64_t last) {
  if (first < Interval::least || last > Interval::most)
    throw UsageError("a range of a parameterized task graph goes from " + std::to_string(first) + " to " +
                     std::to_string(last) + ": the numbers of tasks have 32 bits");
}
}  // namespace

bool Walk::go(const std::vector<Loop>& loops, std::size_t level, bool entering, std::int64_t* numbers) {
  constexpr std::uint64_t look_every = 4096;
  for (std::uint64_t steps = 1;; ++steps) {
    if (steps % look_every == 0) [[unlikely]] {
      look();
      if (steps >= most_empty_steps) throw_fruitless();
    }
    if (entering && level == loops.size()) return true;
    const Loop& loop = loops[level];
    std::int64_t& number = numbers[loop.place];
    Open& open = open_[level];
    bool has_one = false;
    if (entering) {
      number = loop.begin(numbers);
      open.last = loop.derived ? number : loop.end(numbers);
      open.step = loop.derived ? 1 : loop.step_of(numbers);
      has_one = number <= open.last;
      if (has_one && !loop.derived) require_32_bits(number, open.last);
    } else if (open.last - number >= open.step) {
      number += open.step;
      has_one = true;
    }
    if (!has_one && level == 0) return false;
    entering = has_one;
    has_one ? ++level : --level;
  }
}

}  // namespace fairlead::ptg
