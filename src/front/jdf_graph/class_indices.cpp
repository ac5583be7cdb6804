// See class_indices.hpp.
#include "front/jdf_graph/class_indices.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf_graph/loops.hpp"
#include "front/ptg/expression_node.hpp"
#include "front/ptg/interval.hpp"

namespace fairlead::jdf {

namespace {

/// Longer derived values become indices of their own; shorter ones are substituted where they are used.
constexpr std::size_t short_enough = 12;
constexpr std::size_t most_indices = 20;
/// Task numbers are products of the extents of their indices, so that wide ranges are searched for tighter bounds.
constexpr std::int64_t wide = std::int64_t{1} << 33;

constexpr double most_names = 1e15;

constexpr std::size_t most_steps = 100'000'000;

}  // namespace

ClassIndices IndexBuilder::of(const TaskClass& of) {
  ClassIndices out;
  out.slots.resize(of.slots);
  for (std::size_t i = 0; i < of.definitions.size(); ++i) {
    const Definition& it = of.definitions[i];
    const bool is_range = program_->file.at(it.value).kind == Expression::Kind::range;
    if (it.parameter == unbound_index) {
      if (is_range || !it.indices.empty())
        throw InputError(fmt::format("{}: {} has several values but is not a parameter of {}",
                                     program_->file.source.where(it.name.where), it.name.text, of.name.text));
      derive(it, out.slots);
      if (!out.slots[it.slot] || size_of(*out.slots[it.slot], short_enough) < short_enough ||
          out.ranges.size() >= most_indices)
        continue;
      const ptg::Index index(it.name.text);
      out.ranges.push_back(index.is(*out.slots[it.slot]));
      out.slots[it.slot] = index;
      continue;
    }
    const ptg::Index index(it.name.text);
    if (it.indices.empty()) {
      const Expressions::Bounds bounds = expressions_.bounds(it.value, out.slots);
      out.ranges.push_back(index.in(bounds.first, bounds.last, bounds.step));
    } else {
      constexpr std::int64_t any = INT32_MAX;
      out.ranges.push_back(index.in(-any, any));  // bound() replaces it
    }
    out.parameters.push_back(it.parameter);
    if (!it.indices.empty()) {
      const ptg::Index there("is_there");
      out.ranges.push_back(there.in(0, member(of, i, out.slots, index) - 1));
      out.parameters.push_back(unbound_index);
    }
    out.slots[it.slot] = index;
  }
  bound(of, out.ranges);
  return out;
}

/// A local that needs C is an error only where it is used.
void IndexBuilder::derive(const Definition& it, Environment& slots) {
  try {
    slots[it.slot] = expressions_.of(it.value, slots);
  } catch (const EvaluationError& error) {
    if (error.kind() != EvaluationError::Kind::needs_c) throw;
    slots[it.slot] = std::nullopt;
  }
}

/// Enumerates the values of indices with unknown or wide bounds, and tightens the bounds to them.
void IndexBuilder::bound(const TaskClass& of, std::vector<ptg::Range>& ranges) {
  ptg::Places places;
  for (const ptg::Range& range : ranges) places.add(range.index);
  const std::vector<ptg::Interval> intervals = ptg::intervals_of(ranges, places);
  const auto is_wide = [&](std::size_t i) {
    return !ranges[i].derived && (intervals[i].first < -wide || intervals[i].last > wide ||
                                  intervals[i].last - intervals[i].first >= INT32_MAX);
  };
  // Task numbers must fit: limit the product of the extents of all indices.
  bool any = false;
  double names = 1;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    any |= is_wide(i);
    if (!ranges[i].derived && intervals[i].last > intervals[i].first)
      names *= static_cast<double>(intervals[i].last - intervals[i].first) + 1;
  }
  const bool all = names > most_names;
  any |= all;
  if (!any) return;
  struct Found {
    std::int64_t least = INT64_MAX, most = INT64_MIN;
  };
  std::vector<Found> found(of.definitions.size());
  RangeEvaluator evaluator(program_->file, program_->settings);
  std::vector<Value> slots(of.slots);
  std::size_t steps = 0;
  const auto step = [&] {
    if (++steps > most_steps)
      throw InputError(
          fmt::format("{}: {} has too many tasks: the bounds of its indices are not known from their "
                      "expressions",
                      program_->file.source.where(of.name.where), of.name.text));
    constexpr std::size_t look_every = 65536;
    if (steps % look_every == 0 && look_) look_();
    evaluator.steps = 0;  // counted here
  };
  const auto walk = [&](const auto& again, std::size_t at) -> bool {
    step();
    if (at == of.definitions.size()) return true;
    const Definition& it = of.definitions[at];
    if (it.parameter == unbound_index) {
      try {
        slots[it.slot] = Value::of_int(evaluator.integer(it.value, slots));
      } catch (const EvaluationError& error) {
        if (error.kind() != EvaluationError::Kind::needs_c) throw;
        slots[it.slot] = Value::unknown();
      }
      return again(again, at + 1);
    }
    return walk_indices(program_->file, evaluator, it.indices, 0, slots, [&] {
      return walk_values(program_->file, evaluator, it.value, slots, [&](std::int32_t value) {
        found[at].least = std::min<std::int64_t>(found[at].least, value);
        found[at].most = std::max<std::int64_t>(found[at].most, value);
        step();
        slots[it.slot] = Value::of_int(value);
        return again(again, at + 1);
      });
    });
  };
  walk(walk, 0);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].derived || !(all || is_wide(i))) continue;
    const auto definition = std::ranges::find(of.definitions, ranges[i].index.text(),
                                              [](const Definition& d) { return d.name.text; });
    if (definition == of.definitions.end()) continue;
    const Found& it = found[static_cast<std::size_t>(definition - of.definitions.begin())];
    const std::int64_t least = it.least > it.most ? 0 : it.least, most = it.least > it.most ? -1 : it.most;
    // `first` is a value of the index, so that this changes it only where the range is empty.
    ranges[i].first = max(ranges[i].first, least);
    ranges[i].last = min(ranges[i].last, most);
  }
}

/// Nonzero if the definition has this value for one of its local indices.
ptg::Expression IndexBuilder::member(const TaskClass& of, std::size_t definition, const Environment& slots,
                                     const ptg::Expression& value) const {
  std::vector<std::uint32_t> used;
  std::vector<ptg::Expression> arguments;
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i]) {
      used.push_back(i);
      arguments.push_back(*slots[i]);
    }
  arguments.push_back(value);
  return ptg::computed(
             of.name.text + " has",
             [program = program_, &it = of.definitions[definition], count = of.slots,
              used](std::span<const std::int64_t> given) -> std::int64_t {
               std::vector<Value> values(count);
               for (std::size_t i = 0; i < used.size(); ++i) values[used[i]] = Value::of(given[i]);
               const std::int64_t wanted = given.back();
               try {
                 RangeEvaluator evaluator(program->file, program->settings);
                 return !walk_indices(program->file, evaluator, it.indices, 0, values, [&] {
                   return walk_values(program->file, evaluator, it.value, values,
                                      [&](std::int32_t there) { return there != wanted; });
                 });
               } catch (const EvaluationError& error) {
                 throw UsageError(error.what());
               }
             },
             std::move(arguments)) != 0;
}

ptg::Expression IndexBuilder::exists(const TaskClass& of, std::span<const ptg::Expression> parameters) {
  Environment slots(of.slots);
  std::optional<ptg::Expression> all;
  const auto add = [&](const ptg::Expression& condition) { all = all ? *all && condition : condition; };
  for (std::size_t i = 0; i < of.definitions.size(); ++i) {
    const Definition& it = of.definitions[i];
    if (it.parameter == unbound_index) {
      derive(it, slots);
      continue;
    }
    const ptg::Expression& value = parameters[it.parameter];
    if (it.indices.empty()) {
      const Expressions::Bounds bounds = expressions_.bounds(it.value, slots);
      if (bounds.single) {
        add(value == bounds.first);
      } else {
        add(value >= bounds.first);
        add(value <= bounds.last);
        const ptg::ExpressionNode& step = *bounds.step.node();
        if (step.operation != ptg::Operation::constant || step.value != 1)
          add((value - bounds.first) % bounds.step == 0);
      }
    } else {
      add(member(of, i, slots, value));
    }
    slots[it.slot] = value;
  }
  return all ? *all : ptg::Expression(1);
}

}  // namespace fairlead::jdf
