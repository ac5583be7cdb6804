// Derives the conditions under which tasks of a class certainly wait.
#include "front/ptg/initial_tasks.hpp"

#include <algorithm>

namespace fairlead::ptg {

namespace {
/// The innermost loop with an index that occurs in the expression; 0 if none does.
std::size_t level_of(const Expression& expression, const Places& places) {
  const ExpressionNode& node = *expression.node();
  if (node.operation == Operation::index) return places.find(&node).value_or(0);
  std::size_t level = 0;
  for (const Expression& operand : node.operands) level = std::max(level, level_of(operand, places));
  return level;
}

/// Restricts the loop of the last index in the sum to values for which the sum is not negative.
void bound(std::vector<Loop>& loops, const Affine& not_negative) {
  const auto is_last = [&](const Loop& loop) {
    return not_negative.factor_of(loop.place) != 0 &&
           std::ranges::none_of(not_negative.terms,
                                [&](const auto& term) { return term.first > loop.place; });
  };
  const auto loop = std::ranges::find_if(loops, is_last);
  if (loop == loops.end() || loop->derived) return;
  // A larger lower bound is possible only with step 1: otherwise the loop would start between its steps.
  if (loop->by_one || not_negative.factor_of(loop->place) < 0) loop->bound(not_negative);
}

/// Restricts the loops to values for which the condition is `wanted`.
void bound(std::vector<Loop>& loops, const Expression& condition, bool wanted, const Places& places) {
  const ExpressionNode& node = *condition.node();
  if (node.operation == (wanted ? Operation::both : Operation::either)) {
    bound(loops, node.operands[0], wanted, places);
    return bound(loops, node.operands[1], wanted, places);
  }
  const std::optional<AffineComparison> compared = AffineComparison::of(condition, wanted, places);
  if (!compared || compared->kind == Condition::Kind::not_zero) return;
  bound(loops, compared->sum);
  if (compared->kind != Condition::Kind::zero) return;
  Affine negative;
  negative.add(compared->sum, -1);
  bound(loops, negative);
}

/// True if the flow's value comes from a task whenever its first alternative does not hold.
bool others_are_tasks(const FlowDefinition& flow) {
  return !flow.control && flow.inputs.size() > 1 && !flow.inputs.back().condition &&
         std::all_of(flow.inputs.begin() + 1, flow.inputs.end(),
                     [](const Alternative& input) { return input.place.kind == Place::Kind::task; });
}
}  // namespace

InitialTasks::InitialTasks(const ClassTable& table)
    : table_(table), gates_(table.classes.size()), walk_(table.stop) {
  for (std::size_t i = 0; i < table.classes.size(); ++i) {
    const TableClass& of = table.classes[i];
    gates_[i].loops = of.loops;
    for (std::size_t k = 0; k < of.definition->flows.size(); ++k) {
      gates_[i].closed |= of.flows[k].surely_from_task;
      const FlowDefinition& flow = of.definition->flows[k];
      if (flow.inputs.empty()) continue;
      const Alternative& first = flow.inputs.front();
      if (!first.condition || !first.ranges.empty()) continue;
      const bool from_task = first.place.kind == Place::Kind::task;
      if (!from_task && !others_are_tasks(flow)) continue;
      bound(gates_[i].loops, *first.condition, !from_task, of.places);
      const Expression closed = from_task ? *first.condition : !*first.condition;
      gates_[i].gates.push_back({Conditions(closed, of.places), level_of(*first.condition, of.places)});
    }
    std::ranges::stable_sort(gates_[i].gates, {}, &Gate::level);
  }
}

std::uint64_t InitialTasks::restrict_to(const RankPlacement& placement) {
  own_ = std::make_unique<OwnTasks>(table_, placement);
  return own_->count();
}

}  // namespace fairlead::ptg
