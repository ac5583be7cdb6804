// See initial_tasks.hpp.
#include "front/ptg/initial_tasks.hpp"

#include <algorithm>

namespace fairlead::ptg {

namespace {
/// The innermost of the loops that the expression speaks of; 0 if it speaks of none.
std::size_t level_of(const Expression& expression, const Places& places) {
  const ExpressionNode& node = *expression.node();
  if (node.operation == Operation::index) return places.find(&node).value_or(0);
  std::size_t level = 0;
  for (const Expression& operand : node.operands) level = std::max(level, level_of(operand, places));
  return level;
}
}  // namespace

InitialTasks::InitialTasks(const ClassTable& table) : table_(table), gates_(table.classes.size()) {
  for (std::size_t i = 0; i < table.classes.size(); ++i) {
    const TableClass& of = table.classes[i];
    for (std::size_t k = 0; k < of.definition->flows.size(); ++k) {
      gates_[i].closed |= of.flows[k].surely_from_task;
      const FlowDefinition& flow = of.definition->flows[k];
      if (flow.inputs.empty()) continue;
      const Alternative& first = flow.inputs.front();
      if (first.place.kind != Place::Kind::task || !first.condition || !first.ranges.empty()) continue;
      gates_[i].gates.push_back(
          {Conditions(*first.condition, of.places), level_of(*first.condition, of.places)});
    }
    std::ranges::stable_sort(gates_[i].gates, {}, &Gate::level);
  }
}

}  // namespace fairlead::ptg
