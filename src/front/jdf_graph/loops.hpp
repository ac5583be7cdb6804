// Enumerates the ranges of a JDF file with the evaluator, where no formula exists.
#pragma once
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <vector>

#include "front/jdf/evaluate.hpp"

namespace fairlead::jdf {

/// Limit for one evaluator: takes a second or two.
inline constexpr std::uint64_t most_steps_of_ranges = 20'000'000;

/// An evaluator that counts the steps of its ranges.
struct RangeEvaluator : Evaluator {
  using Evaluator::Evaluator;
  std::uint64_t steps = 0;
};

/// Calls body(value) for each value of a range, or for a single value, while it returns true. Returns whether all calls
/// did.
template <class F>
bool walk_values(const JdfFile& file, RangeEvaluator& evaluator, ExpressionId id, std::span<Value> slots,
                 F&& body) {
  const Expression& it = file.at(id);
  if (it.kind != Expression::Kind::range) return body(evaluator.integer(id, slots));
  const std::int64_t first = evaluator.integer(it.parts[0], slots),
                     last = evaluator.integer(it.parts[1], slots);
  const std::int64_t by = it.parts[2] == no_expression ? 1 : evaluator.integer(it.parts[2], slots);
  if (by == 0) throw UsageError(file.source.where(it.where) + ": the step of a range must not be 0");
  for (std::int64_t value = first; by > 0 ? value <= last : value >= last; value += by) {
    if (++evaluator.steps > most_steps_of_ranges)
      throw UsageError(fmt::format("{}: the search needs more than {} steps of ranges",
                                   file.source.where(it.where), most_steps_of_ranges));
    if (!body(static_cast<std::int32_t>(value))) return false;
  }
  return true;
}

/// The same for all combinations of local indices; sets their slots.
template <class F>
bool walk_indices(const JdfFile& file, RangeEvaluator& evaluator, const std::vector<Index>& indices,
                  std::size_t from, std::span<Value> slots, F&& body) {
  if (from == indices.size()) return body();
  return walk_values(file, evaluator, indices[from].range, slots, [&](std::int32_t value) {
    slots[indices[from].slot] = Value::of_int(value);
    return walk_indices(file, evaluator, indices, from + 1, slots, body);
  });
}

/// The same for all arguments of a target, where ranges have several values each.
template <class F>
bool walk_arguments(const JdfFile& file, RangeEvaluator& evaluator,
                    const std::vector<ExpressionId>& arguments, std::span<Value> slots,
                    std::vector<std::int32_t>& numbers, F&& body) {
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
