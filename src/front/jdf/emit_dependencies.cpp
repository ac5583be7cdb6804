// Generates the C++ of flows and their dependencies; see emit_tasks.hpp.
#include <fmt/format.h>
#include <algorithm>

#include "front/jdf/emit.hpp"
#include "front/jdf/emit_tasks.hpp"
#include "front/jdf/types.hpp"

namespace fairlead::jdf {

namespace {

std::string part_text(const ptg::Part& part) {
  if (part.is_all()) return "ptg::Part()";
  return fmt::format("ptg::Part::{}({})", part.kind == ptg::Part::Kind::lower ? "lower" : "upper",
                     part.diagonal ? "" : "false");
}

Reshapes::FlowNumber number_of(const JdfFile& file, const Flow& flow) {
  for (std::uint32_t i = 0; i < file.classes.size(); ++i)
    for (std::uint32_t k = 0; k < file.classes[i].flows.size(); ++k)
      if (&file.classes[i].flows[k] == &flow) return {i, k};
  return {unbound_index, unbound_index};
}

std::string named_part(const TypeReference& type) {
  const Types known = predefined_types();
  const auto found = known.find(type.name);
  return found != known.end() ? part_text(found->second) : "hidden.type_" + cpp_name(type.name);
}

std::string place_of(const JdfFile& file, const TypeReference& type) {
  const Position at = file.source.position(type.where.begin);
  return fmt::format("{}:{}", at.line, at.column);
}

}  // namespace

void EmitTasks::flow(const TaskClass& it, const Flow& flow, EmitText& text) {
  expressions_.begin_function();
  std::vector<std::pair<SourceRange, std::vector<std::string>>> statements;
  for (const Dependency& each : flow.dependencies) dependency(it, flow, each, statements);
  const bool control = flow.access == FlowAccess::control;
  const bool has_input = std::ranges::any_of(
      flow.dependencies, [](const Dependency& dependency) { return dependency.direction == Direction::in; });
  if (!control && !has_input) {
    // A value without an input is created in the datum where it goes.
    const Target* const home = written_home(flow);
    EmitScope scope = plan(it).scope;
    scope.purpose = fmt::format("{}_{}", it.name.text, flow.name.text);
    std::vector<std::string> lines, ranges;
    const std::string from = home != nullptr
                                 ? place(*home, scope, ranges, lines)
                                 : fmt::format("ptg::fresh_like({})", shape_source(it, flow.name.where));
    lines.push_back(fmt::format("flow = std::move(flow).from({});", from));
    statements.insert(statements.begin(), {flow.name.where, lines});
  }
  std::vector<std::string> all;
  for (const auto& [where, lines] : statements) all.insert(all.end(), lines.begin(), lines.end());
  text.line();
  text.line(fmt::format("  ptg::FlowSpecification flow_{}_of_{}() {{", flow.name.text, it.name.text));
  bind_indices(it, all, text);
  text.line(
      fmt::format("    auto flow = ptg::{}({});", control ? "control" : "flow", c_string(flow.name.text)));
  for (const auto& [where, lines] : statements)
    for (const std::string& line : lines) {
      text.from(where);
      text.statement("    " + line);
    }
  text.own();
  text.line("    return flow;");
  text.line("  }");
}

void EmitTasks::dependency(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                           std::vector<std::pair<SourceRange, std::vector<std::string>>>& statements) {
  for (std::size_t i = 0; i < dependency.branches.size(); ++i) {
    const Target& target = dependency.branches[i].target;
    if (target.kind == Target::Kind::null && flow.access == FlowAccess::control) continue;
    if (needs_copy_out(flow, dependency, target)) continue;  // see home()
    statements.emplace_back(target.where, branch(it, flow, dependency, i));
  }
}

/// Collects the components of one branch.
EmitTasks::BranchParts EmitTasks::parts_of(const TaskClass& it, const Flow& flow,
                                           const Dependency& dependency, std::size_t number) {
  BranchParts out;
  EmitScope scope = plan(it).scope;
  const auto hoist = [&](const std::string& line) { out.lines.push_back(line); };
  const Branch& branch = dependency.branches[number];
  scope.purpose = fmt::format("{}_{}", it.name.text, flow.name.text);
  const auto add_indices = [&](const std::vector<Index>& indices) {
    for (const Index& index : indices) {
      const std::string own = expressions_.unique_name((cpp_name(index.name.text) + "_").c_str());
      out.lines.push_back(fmt::format("const ptg::Index {}({});", own, c_string(index.name.text)));
      out.ranges.push_back(range_of(own, index.range, scope, hoist));
      scope.cpp_names[index.slot] = own;
      scope.visible.emplace_back(index.name.text, own);
    }
  };
  add_indices(dependency.indices);
  // The first branch with a true guard is taken. Inputs are tested in order anyway.
  const bool in_order = dependency.direction == Direction::in && flow.access != FlowAccess::control;
  bool weak = false;
  const auto add_condition = [&](ExpressionId guard, bool holds) {
    const CppExpression piece = expressions_.cpp(guard, scope, hoist);
    const bool first = out.condition.empty();
    std::string text = piece.text;
    if (!holds) text = piece.precedence >= 12 ? "!" + text : "!(" + text + ")";
    const bool alone = first && holds;
    if (!alone && holds && piece.precedence < 4) text = "(" + text + ")";
    if (!first && weak) out.condition = "(" + out.condition + ")";
    out.condition += (first ? "" : " && ") + text;
    weak = alone && piece.precedence < 3;
  };
  if (!in_order)
    for (std::size_t i = 0; i < number; ++i) add_condition(dependency.branches[i].guard, false);
  if (branch.guard != no_expression) add_condition(branch.guard, true);
  add_indices(branch.target.indices);
  if (branch.target.kind == Target::Kind::null)
    out.where = "ptg::nothing()";
  else if (branch.target.kind == Target::Kind::fresh)
    out.where = fresh(it, dependency, branch.target.where);
  else
    out.where = place(branch.target, scope, out.ranges, out.lines);
  out.part = part(flow, dependency, branch.target);
  return out;
}

/// The part of the value that the branch names. If the value may be copied to a datum, its type must be defined.
std::string EmitTasks::part(const Flow& flow, const Dependency& dependency, const Target& target) {
  const bool in_data = target.kind == Target::Kind::memory, leaves = dependency.direction == Direction::out;
  if (flow.access == FlowAccess::control || (target.kind != Target::Kind::task && !(in_data && leaves)))
    return {};
  if (const std::optional<TypeReference> copy = copied(flow, dependency, target))
    return fmt::format("fairlead::parsec::{}_as_copy({}, {}, \"{}\")", leaves ? "given" : "taken",
                       named_part(*copy), c_string(cpp_name(copy->name)), place_of(file_, *copy));
  std::optional<TypeReference> type = type_of_dependency(file_, dependency, in_data);
  if (!type && in_data)  // store no more than the value contains
    if (const std::string of = reshapes_.type_of_value(number_of(file_, flow)); !of.empty())
      type = TypeReference{of, target.where};
  if (!type) return {};
  const Types known = predefined_types();
  if (const auto found = known.find(type->name); found != known.end()) return part_text(found->second);
  const std::string own = "hidden.type_" + cpp_name(type->name);
  if (!in_data) return type->name.empty() ? "" : own;  // the whole tile is correct as well
  const bool elsewhere = needs_copy_out(flow, dependency, target);
  if (type->name.empty() && elsewhere)
    diagnostics_.error(
        type->where,
        "the value is copied to this datum, but compile cannot read the part from an expression in C: name "
        "the type, as in [type = lower] or [type = MINE], and give .type_MINE");
  const Position at = file_.source.position(type->where.begin);
  return fmt::format(
      "fairlead::parsec::left_of_type({}, {}, \"{}:{}\"{})", type->name.empty() ? "std::nullopt" : own,
      type->name.empty() ? "nullptr" : c_string(cpp_name(type->name)), at.line, at.column,
      elsewhere ? "" : ", data_of_" + file_.globals[aligned_with(file_, target.index)].name.text);
}

/// The type of the copy that the consumer of an edge gets.
std::optional<TypeReference> EmitTasks::copied(const Flow& flow, const Dependency& dependency,
                                               const Target& target) const {
  if (target.kind != Target::Kind::task || flow.access == FlowAccess::control) return std::nullopt;
  const Reshapes::FlowNumber own = number_of(file_, flow), other{target.index, target.flow_index};
  return dependency.direction == Direction::out ? reshapes_.copy_type_of_edge(own, other)
                                                : reshapes_.copy_type_of_edge(other, own);
}

/// Requires a whole tile for an input from memory that a task modifies: the generated code uses the datum itself, not a
/// copy.
void EmitTasks::require_whole(const Flow& flow, const Dependency& dependency, BranchParts& parts) {
  const std::optional<TypeReference> type = reshapes_.copy_type_of_input(number_of(file_, flow), dependency);
  if (!type) return;
  if (predefined_types().contains(type->name))
    diagnostics_.error(type->where,
                       fmt::format("{} is changed as a copy of this type, which compile cannot take from "
                                   "memory: let a task READ the datum and forward it with the type",
                                   flow.name.text));
  else
    parts.lines.push_back(fmt::format("fairlead::parsec::require_whole({}, {}, \"{}\");", named_part(*type),
                                      c_string(cpp_name(type->name)), place_of(file_, *type)));
}

std::vector<std::string> EmitTasks::open_types() const {
  std::vector<std::string> out;
  const Types known = predefined_types();
  for (const TaskClass& of : file_.classes)
    for (const Flow& flow : of.flows)
      for (const Dependency& dependency : flow.dependencies)
        for (const Property& property : dependency.properties) {
          if (property.name.text != "type" && property.name.text != "type_data" &&
              property.name.text != "type_remote")
            continue;
          const std::optional<TypeReference> type = type_from_property(file_, property);
          if (flow.access == FlowAccess::control || !type || type->name.empty() || known.contains(type->name))
            continue;
          const std::string name = "type_" + cpp_name(type->name);
          if (std::ranges::find(out, name) == out.end()) out.push_back(name);
        }
  return out;
}

std::string EmitTasks::fresh(const TaskClass& it, const Dependency& dependency, SourceRange where) {
  const std::string data = shape_source(it, where);
  if (const Property* type = find(dependency.properties, "type"); type != nullptr)
    diagnostics_.warning(where, fmt::format("NEW has the size of a whole tile of {} here, whatever its type",
                                            data.substr(data.find("of_") + 3)));
  return fmt::format("ptg::fresh_like({})", data);
}

/// The statements for one branch.
std::vector<std::string> EmitTasks::branch(const TaskClass& it, const Flow& flow,
                                           const Dependency& dependency, std::size_t number) {
  BranchParts parts = parts_of(it, flow, dependency, number);
  if (dependency.branches[number].target.kind == Target::Kind::memory) require_whole(flow, dependency, parts);
  const char* const direction = dependency.direction == Direction::in ? "from" : "to";
  const auto statement = [&] {
    std::string out = fmt::format("flow = std::move(flow).{}({}", direction, parts.where);
    for (const std::string& range : parts.ranges) out += ", " + range;
    out += parts.condition.empty() ? ")" : ").when(" + parts.condition + ")";
    return out + (parts.part.empty() ? "" : ".part(" + parts.part + ")") + ";";
  };
  const auto apart = [&](const char* type, const char* name, std::string& piece) {
    const std::string own = expressions_.unique_name(name);
    parts.lines.push_back(fmt::format("const {} {} = {};", type, own, piece));
    piece = own;
  };
  if (parts.part.starts_with("fairlead")) apart("std::optional<ptg::Part>", "part", parts.part);
  const auto too_long = [&] { return statement().size() + 4 > EmitText::most_columns; };
  if (too_long() && parts.condition.size() > 20) apart("ptg::Expression", "condition", parts.condition);
  for (std::string& range : parts.ranges)
    if (too_long()) apart("ptg::Range", "range", range);
  if (too_long()) apart("ptg::Place", "place", parts.where);
  parts.lines.push_back(statement());
  return parts.lines;
}

std::string EmitTasks::place(const Target& target, EmitScope& scope, std::vector<std::string>& ranges,
                             std::vector<std::string>& lines) {
  const auto hoist = [&](const std::string& line) { lines.push_back(line); };
  std::vector<std::string> arguments;
  const TaskClass* other = target.kind == Target::Kind::task ? &file_.classes[target.index] : nullptr;
  for (std::size_t i = 0; i < target.arguments.size(); ++i) {
    const Expression& argument = file_.at(target.arguments[i]);
    if (argument.kind != Expression::Kind::range) {
      arguments.push_back(expressions_.cpp(target.arguments[i], scope, hoist).text);
      continue;
    }
    const std::string name = other != nullptr ? other->parameters[i].text : "i";
    const std::string own = expressions_.unique_name(("to_" + name + "_").c_str());
    lines.push_back(fmt::format("const ptg::Index {}({});", own, c_string(name)));
    ranges.push_back(range_of(own, target.arguments[i], scope, hoist));
    arguments.push_back(own);
  }
  if (other == nullptr)
    return fmt::format("data_of_{}({})", file_.globals[aligned_with(file_, target.index)].name.text,
                       fmt::join(arguments, ", "));
  return fmt::format("tasks_{}[\"{}\"]({})", other->name.text, target.flow.text, fmt::join(arguments, ", "));
}

}  // namespace fairlead::jdf
