// Checks of stated edges against the receiver's inputs, and the error texts.
#include "front/ptg/edge_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace fairlead::ptg {

namespace {

/// Searches for values of a control's ranges for which it names the producer. A range is solved, not iterated, if one
/// of the indices determines it.
class ControlSearch {
 public:
  ControlSearch(const Input& input, const Giver& giver, Numbers& numbers)
      : input_(input), giver_(giver), numbers_(numbers.data()) {}
  bool found() { return at(0); }

 private:
  static constexpr std::size_t most_steps = 4096;

  bool names_giver() const {
    for (std::size_t i = 0; i < input_.indices.size(); ++i)
      if (input_.indices[i](numbers_) != giver_.parameters[i]) return false;
    return input_.each(numbers_);
  }
  /// An index of the producer that grows with this range and depends on no later one.
  const Formula* solving(std::size_t level, std::size_t& which) const {
    for (which = 0; which < input_.indices.size(); ++which) {
      const Formula& index = input_.indices[which];
      if (index.growth(input_.ranges[level].place).value_or(0) == 0) continue;
      bool alone = true;
      for (std::size_t later = level + 1; later < input_.ranges.size(); ++later)
        alone &= index.growth(input_.ranges[later].place) == 0;
      if (alone) return &index;
    }
    return nullptr;
  }
  bool at(std::size_t level) {
    if (level == input_.ranges.size()) return names_giver();
    const Loop& loop = input_.ranges[level];
    std::int64_t& number = numbers_[loop.place];
    const std::int64_t first = loop.begin(numbers_);
    if (loop.derived) {
      number = first;
      return at(level + 1);
    }
    const std::int64_t last = loop.end(numbers_), step = loop.step_of(numbers_);
    std::size_t which = 0;
    if (const Formula* const index = solving(level, which); index != nullptr) {
      number = 0;
      const std::int64_t growth = *index->growth(loop.place);
      const std::int64_t rest = giver_.parameters[which] - (*index)(numbers_);
      if (rest % growth != 0) return false;
      number = rest / growth;
      return number >= first && number <= last && (number - first) % step == 0 && at(level + 1);
    }
    for (number = first; number <= last; number += step) {
      const std::int64_t here = number;
      if (++steps_ > most_steps || at(level + 1)) return true;
      number = here;
    }
    return false;
  }

  const Input& input_;
  const Giver& giver_;
  std::int64_t* const numbers_;
  std::size_t steps_ = 0;
};

bool same_task(const Input& input, const std::int64_t* numbers, const Giver& giver) {
  for (std::size_t i = 0; i < input.indices.size(); ++i)
    if (input.indices[i](numbers) != giver.parameters[i]) return false;
  return true;
}

bool is_of(const Input& input, const Giver& giver) {
  return input.kind == Place::Kind::task && input.from_class == giver.task_class &&
         input.from_flow == giver.flow;
}

/// Describes the actual input of the flow: "takes data(3) from memory instead".
std::string instead(const ClassTable& table, const TableFlow& flow, const std::int64_t* numbers) {
  if (flow.control) return "does not wait for it";
  const Input* const input = input_of(flow, numbers);
  if (input == nullptr) return "takes nothing there";
  switch (input->kind) {
    case Place::Kind::task: {
      const TableClass& from = table.classes[input->from_class];
      std::array<std::int64_t, Walk::most_loops> parameters{};
      for (std::size_t i = 0; i < input->indices.size(); ++i) parameters[i] = input->indices[i](numbers);
      return fmt::format("takes the flow \"{}\" of {} instead", from.flows[input->from_flow].name,
                         task_name(from, parameters.data()));
    }
    case Place::Kind::memory:
    case Place::Kind::home: {
      std::vector<std::int64_t> at;
      for (const Formula& index : input->memory.indices) at.push_back(index(numbers));
      return fmt::format("takes {}({}) from memory instead",
                         table.collections[input->memory.collection]->name, fmt::join(at, ", "));
    }
    case Place::Kind::fresh:
      return "takes a fresh datum instead";
    default:
      return "takes nothing there";
  }
}

std::string called(const TableClass& of, const std::int32_t* parameters) { return of.text(parameters); }

/// "file:line:column: the flow "x" of first(3) goes to the flow "a" of second(4)".
std::string edge_text(const ClassTable& table, const Giver& giver, const ClassEdge& edge,
                      const std::int64_t* parameters) {
  const TableClass &from = table.classes[giver.task_class], &to = table.classes[edge.to_class];
  const TableFlow &out = from.flows[giver.flow], &in = to.flows[edge.to_flow];
  const auto kind = [](const TableFlow& flow) { return flow.control ? "control" : "flow"; };
  return fmt::format("{}: the {} \"{}\" of {} goes to the {} \"{}\" of {}", where_stated(edge, from),
                     kind(out), out.name, called(from, giver.parameters), kind(in), in.name,
                     task_name(to, parameters));
}

/// Splits the condition into its conjuncts.
void add_parts(const Expression& condition, std::vector<Expression>& parts) {
  const ExpressionNode& node = *condition.node();
  if (node.operation != Operation::both) return parts.push_back(condition);
  for (const Expression& operand : node.operands) add_parts(operand, parts);
}

bool is_negation(const Expression& of, const Expression& a) {
  const ExpressionNode& node = *of.node();
  return node.operation == Operation::equal && node.operands[0].node() == a.node() &&
         node.operands[1].node()->operation == Operation::constant && node.operands[1].node()->value == 0;
}

/// True if a conjunct of one condition is the negation of one of the other, as in the two branches of a guard.
bool exclude_each_other(const ClassEdge& a, const ClassEdge& b) {
  if (a.definition == nullptr || b.definition == nullptr || !a.definition->condition ||
      !b.definition->condition)
    return false;
  std::vector<Expression> of_a, of_b;
  add_parts(*a.definition->condition, of_a);
  add_parts(*b.definition->condition, of_b);
  return std::ranges::any_of(of_a, [&](const Expression& one) {
    return std::ranges::any_of(
        of_b, [&](const Expression& other) { return is_negation(one, other) || is_negation(other, one); });
  });
}

/// True if the iterations of the edge name different tasks: each range has an index that grows with it, and with no
/// later range.
bool names_each_once(const ClassEdge& edge) {
  for (std::size_t level = 0; level < edge.loops.size(); ++level) {
    if (edge.loops[level].derived) continue;
    const bool grows = std::ranges::any_of(edge.indices, [&](const Formula& index) {
      if (index.growth(edge.loops[level].place).value_or(0) == 0) return false;
      for (std::size_t later = level + 1; later < edge.loops.size(); ++later)
        if (index.growth(edge.loops[later].place) != 0) return false;
      return true;
    });
    if (!grows) return false;
  }
  return true;
}

}  // namespace

std::string task_name(const TableClass& of, const std::int64_t* parameters) {
  std::array<std::int32_t, Walk::most_loops> values{};
  std::copy_n(parameters, of.parameters.size(), values.begin());
  return of.text(values.data());
}

bool has_task(const TableClass& of, const std::int64_t* parameters, std::int64_t* numbers) {
  for (std::size_t i = 0; i < of.parameters.size(); ++i) numbers[of.parameters[i]] = parameters[i];
  for (const Loop& loop : of.loops) {
    std::int64_t& number = numbers[loop.place];
    if (loop.derived) {
      number = loop.first.front().dividend(numbers);
      continue;
    }
    const std::int64_t begin = loop.begin(numbers);
    if (number < begin || number > loop.end(numbers)) return false;
    if (!loop.by_one && (number - begin) % loop.step_of(numbers) != 0) return false;
  }
  return true;
}

bool takes_from(const TableClass& taker, const TableFlow& flow, const std::int64_t* numbers,
                const Giver& giver) {
  if (!flow.control) {
    const Input* const input = input_of(flow, numbers);
    return input != nullptr && is_of(*input, giver) && same_task(*input, numbers, giver);
  }
  for (const Input& input : flow.inputs) {
    if (!is_of(input, giver) || (input.condition && !(*input.condition)(numbers))) continue;
    if (input.ranges.empty()) {
      if (same_task(input, numbers, giver)) return true;
      continue;
    }
    Numbers extended;
    std::copy_n(numbers, taker.places.size(), extended.data());
    if (ControlSearch(input, giver, extended).found()) return true;
  }
  return false;
}

bool is_skipped(const ClassTable& table, const ClassEdge& edge, const std::int64_t* numbers) {
  if (!edge.may_be_missing) return false;
  const TableClass& to = table.classes[edge.to_class];
  std::array<std::int64_t, Walk::most_loops> parameters;
  edge.find_parameters(numbers, parameters.data());
  Numbers of_task;
  return !to.key_of(parameters.data()) || !has_task(to, parameters.data(), of_task.data());
}

std::string where_stated(const ClassEdge& edge, const TableClass& giver) {
  return edge.definition == nullptr ? text_of(*giver.definition)
                                    : source_line_of(*edge.definition, *giver.definition);
}

std::string wrong_end(const ClassTable& table, const Giver& giver, const ClassEdge& edge,
                      const std::int64_t* parameters) {
  const TableClass& to = table.classes[edge.to_class];
  const TableFlow& flow = to.flows[edge.to_flow];
  Numbers numbers{};
  if (!to.key_of(parameters) || !has_task(to, parameters, numbers.data()))
    return edge.may_be_missing ? std::string()
                               : edge_text(table, giver, edge, parameters) + ", and there is no such task";
  if (takes_from(to, flow, numbers.data(), giver)) return {};
  const Alternative* const definition = flow.inputs.empty() ? nullptr : flow.inputs.front().definition;
  return fmt::format(
      "{}, which {} ({})", edge_text(table, giver, edge, parameters), instead(table, flow, numbers.data()),
      definition == nullptr ? text_of(*to.definition) : source_line_of(*definition, *to.definition));
}

std::string stated_twice(const ClassTable& table, const Giver& giver, const ClassEdge& edge,
                         const std::int64_t* parameters) {
  return edge_text(table, giver, edge, parameters) + " a second time";
}

void find_repeats(TableClass& of) {
  for (TableFlow& flow : of.flows)
    for (std::size_t i = 0; i < flow.edges.size(); ++i) {
      const ClassEdge& edge = flow.edges[i];
      if (edge.definition == nullptr) continue;
      flow.may_repeat |= !names_each_once(edge);
      for (std::size_t k = 0; k < i; ++k)
        flow.may_repeat |= flow.edges[k].to_class == edge.to_class && flow.edges[k].to_flow == edge.to_flow &&
                           !exclude_each_other(flow.edges[k], edge);
    }
}

}  // namespace fairlead::ptg
