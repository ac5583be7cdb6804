// See program.hpp.
#include "front/jdf_graph/runnable_jdf.hpp"

#include <utility>

#include "front/jdf/c_expressions.hpp"

namespace fairlead::jdf {

namespace {

void mark(const JdfFile& file, const Statement& it, const InterpretedBody& body, std::vector<bool>& slots) {
  mark_slots(file, it.value, slots);
  if (it.call == unbound_index) return;
  for (const BodyCall::Argument& argument : body.calls[it.call].arguments)
    mark_slots(file, argument.value, slots);
}

void require(const JdfFile& file, Evaluator& evaluator, ExpressionId id) {
  if (id == no_expression) return;
  const Expression& it = file.at(id);
  if (it.kind == Expression::Kind::name && it.meaning != Binding::local) evaluator.value(id, {});
  for (const ExpressionId part : it.parts) require(file, evaluator, part);
  for (const ExpressionId part : it.arguments) require(file, evaluator, part);
  require(file, evaluator, it.parsed_content);
  for (const Index& variable : it.variables) require(file, evaluator, variable.range);
}

}  // namespace

void require_values(const RunnableJdf& program) {
  Evaluator evaluator(program.file, program.settings);
  for (const InterpretedBody& body : program.bodies) {
    for (const Statement& it : body.statements) require(program.file, evaluator, it.value);
    for (const BodyCall& call : body.calls)
      for (const BodyCall::Argument& argument : call.arguments)
        require(program.file, evaluator, argument.value);
  }
}

Constants constants_of(const RunnableJdf& program) {
  Constants out(program.file);
  const auto find = [&](ExpressionId id) { out.find(program.file, program.settings, id); };
  for (std::size_t i = 0; i < program.bodies.size(); ++i) {
    for (const Definition& it : program.file.classes[i].definitions) find(it.value);
    for (const Statement& it : program.bodies[i].statements) find(it.value);
    for (const BodyCall& call : program.bodies[i].calls)
      for (const BodyCall::Argument& argument : call.arguments) find(argument.value);
  }
  return out;
}

std::optional<ptg::Part> part_of(const RunnableJdf& program, const Dependency& dependency, bool in_data) {
  const std::optional<TypeReference> type = type_of_dependency(program.file, dependency, in_data);
  if (!type) return std::nullopt;
  const auto found = program.types.find(type->name);
  return found == program.types.end() ? std::nullopt : std::optional(found->second);
}

void mark_slots(const JdfFile& file, ExpressionId id, std::vector<bool>& slots) {
  if (id == no_expression) return;
  const Expression& it = file.at(id);
  if (it.kind == Expression::Kind::name && it.meaning == Binding::local) {
    if (it.index >= slots.size()) slots.resize(it.index + 1);
    slots[it.index] = true;
  }
  for (const ExpressionId part : it.parts) mark_slots(file, part, slots);
  for (const ExpressionId part : it.arguments) mark_slots(file, part, slots);
  for (const std::uint32_t slot : it.c_slots) {
    if (slot >= slots.size()) slots.resize(slot + 1);
    slots[slot] = true;
  }
  mark_slots(file, it.parsed_content, slots);
  for (const Index& variable : it.variables) mark_slots(file, variable.range, slots);
}

bool is_info_global(const Global& global) noexcept {
  return global.name.text == "INFO" || global.name.text == "info";
}

RunnableJdf::RunnableJdf(JdfFile&& from, TileTable table, Diagnostics& diagnostics)
    : file(std::move(from)),
      bodies(parse_bodies(file, table, diagnostics)),
      settings(file),
      pointed(file.globals.size()) {
  find_c_expressions(file);  // again, since parse_bodies() has bound the costs that classes state
  for (std::size_t i = 0; i < file.classes.size(); ++i) {
    const TaskClass& of = file.classes[i];
    std::vector<bool>& slots = needed.emplace_back(bodies[i].slots);
    for (const Statement& it : bodies[i].statements) mark(file, it, bodies[i], slots);
    mark_slots(file, bodies[i].flops, slots);
    mark_slots(file, bodies[i].nanoseconds, slots);
    for (std::size_t k = of.definitions.size(); k-- > 0;)
      if (slots[of.definitions[k].slot]) mark_slots(file, of.definitions[k].value, slots);
  }
}

}  // namespace fairlead::jdf
