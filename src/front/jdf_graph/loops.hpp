// Ranges of a JDF file, walked with the evaluator: where a formula does not do.
#pragma once
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <vector>

#include "front/jdf/evaluate.hpp"

namespace fairlead::jdf {

/// Of one evaluator's walks: a second or two.
inline constexpr std::uint64_t most_steps_of_ranges = 20'000'000;

/// Counts them.
struct RangeEvaluator : Evaluator {
  using Evaluator::Evaluator;
  std::uint64_t steps = 0;
};

/// Calls body(value) for each number of a range, or for one value. It goes on while that returns true; whether all did.
template <class F>
bool walk_values(const File& file, RangeEvaluator& evaluator, ExpressionId id, std::span<Value> slots,
                 F&& body) {
  const Expression& it = file.at(id);
  if (it.kind != Expression::Kind::range) return body(evaluator.integer(id, slots));
  const std::int64_t first = evaluator.integer(it.parts[0], slots),
                     last = evaluator.integer(it.parts[1], slots);
  const std::int64_t by = it.parts[2] == no_expression ? 1 : evaluator.integer(it.parts[2], slots);
  if (by == 0) throw UsageError(file.source.where(it.where) + ": a step of 0 never ends");
  for (std::int64_t value = first; by > 0 ? value <= last : value >= last; value += by) {
    if (++evaluator.steps > most_steps_of_ranges)
      throw UsageError(fmt::format("{}: this is searched for longer than {} steps of ranges",
                                   file.source.where(it.where), most_steps_of_ranges));
    if (!body(static_cast<std::int32_t>(value))) return false;
  }
  return true;
}

/// The same for all values of indices, whose slots are set.
template <class F>
bool walk_indices(const File& file, RangeEvaluator& evaluator, const std::vector<Index>& indices,
                  std::size_t from, std::span<Value> slots, F&& body) {
  if (from == indices.size()) return body();
  return walk_values(file, evaluator, indices[from].range, slots, [&](std::int32_t value) {
    slots[indices[from].slot] = Value::of_int(value);
    return walk_indices(file, evaluator, indices, from + 1, slots, body);
  });
}

/// All arguments of a target: of ranges each number.
template <class F>
bool walk_arguments(const File& file, RangeEvaluator& evaluator, const std::vector<ExpressionId>& arguments,
                    std::span<Value> slots, std::vector<std::int32_t>& numbers, F&& body) {
  const std::size_t at = numbers.size();
  if (at == arguments.size()) return body();
  return walk_values(file, evaluator, arguments[at], slots, [&](std::int32_t value) {
    numbers.resize(at);
    numbers.push_back(value);
    const bool more = walk_arguments(file, evaluator, arguments, slots, numbers, body);
    numbers.resize(at);
    return more;
  });
}

}  // namespace fairlead::jdf
