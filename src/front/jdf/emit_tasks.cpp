// See emit_tasks.hpp.
#include "front/jdf/emit_tasks.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf/emit_bodies.hpp"

namespace fairlead::jdf {

EmitTasks::EmitTasks(const File& file, const EmitNames& names, const std::vector<EmitGlobal>& globals,
                     EmitExpressions& expressions, Diagnostics& diagnostics)
    : file_(file), names_(names), globals_(globals), expressions_(expressions), diagnostics_(diagnostics) {
  for (const TaskClass& it : file.classes) plans_.emplace(&it, make_plan(it));
}

const EmitTasks::Plan& EmitTasks::plan(const TaskClass& it) const { return plans_.at(&it); }

EmitTasks::Plan EmitTasks::make_plan(const TaskClass& it) const {
  Plan plan;
  plan.scope.task_class = &it;
  plan.idle = is_idle(file_, it);
  const auto collect = [&](ExpressionId id) { expressions_.collect(id, plan.scope, plan.needed); };
  collect(it.priority);
  for (const Flow& flow : it.flows)
    for (const Dependency& dependency : flow.dependencies) {
      for (const Index& index : dependency.indices) collect(index.range);
      for (const Branch& branch : dependency.branches) {
        collect(branch.guard);
        for (const Index& index : branch.target.indices) collect(index.range);
        for (const ExpressionId argument : branch.target.arguments) collect(argument);
      }
    }
  // What follows from others needs those: they stand above it.
  for (auto definition = it.definitions.rbegin(); definition != it.definitions.rend(); ++definition) {
    if (definition->parameter == nowhere && !plan.needed.contains(definition->slot)) continue;
    plan.needed.insert(definition->slot);
    collect(definition->value);
    for (const Index& index : definition->indices) collect(index.range);
  }
  std::set<std::uint32_t> own;
  for (const Definition& definition : it.definitions) {
    if (!plan.needed.contains(definition.slot)) continue;
    own.insert(definition.slot);
    plan.indices.push_back(&definition);
    if (definition.parameter != nowhere) plan.parameters.push_back(definition.parameter);
    const std::string name = cpp_name(definition.name.text);
    plan.scope.cpp_names.emplace(definition.slot, name);
    plan.scope.visible.emplace_back(definition.name.text, name);
  }
  plan.needed = std::move(own);
  return plan;
}

bool EmitTasks::is_left_out(const Flow& flow) const {
  return flow.access == Access::control && flow.dependencies.empty();
}

std::vector<const Flow*> EmitTasks::data_flows(const TaskClass& it) const {
  std::vector<const Flow*> out;
  for (const Flow& flow : it.flows)
    if (flow.access != Access::control) out.push_back(&flow);
  return out;
}

void EmitTasks::indices(const TaskClass& it, EmitText& text) const {
  if (plan(it).indices.empty()) return;
  text.line();
  text.line(fmt::format("struct IndicesOf{} {{", it.name.text));
  for (const Definition* definition : plan(it).indices)
    text.line(
        fmt::format("  ptg::Index {}{{\"{}\"}};", cpp_name(definition->name.text), definition->name.text));
  text.line("};");
}

// --- codelets ---

/// Who does nothing with a value only hands it on.
std::string EmitTasks::access(const TaskClass& it, const Flow& flow) const {
  const auto is = [&](auto wanted) {
    return std::ranges::any_of(flow.dependencies, [&](const Dependency& dependency) {
      return dependency.direction == Direction::in &&
             std::ranges::any_of(dependency.branches,
                                 [&](const Branch& branch) { return wanted(branch.target.kind); });
    });
  };
  const bool comes_from_somewhere =
      is([](Target::Kind kind) { return kind == Target::Kind::task || kind == Target::Kind::memory; });
  const bool fresh = is([](Target::Kind kind) { return kind == Target::Kind::fresh; });
  if (flow.access == Access::read) return "In";
  if (plan(it).idle && comes_from_somewhere && !fresh) return "In";
  // Of what is there before, a body may leave some as it is.
  return flow.access == Access::write && !comes_from_somewhere ? "Out" : "InOut";
}

void EmitTasks::declare_bodies(const TaskClass& it, EmitText& text) const {
  if (plan(it).idle) return;
  const std::size_t count = emit_bodies_of(file_, it).size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> parameters{fmt::format("const {}_globals* c_globals", names_.function)};
    for (const Name& name : it.parameters) parameters.push_back("int " + cpp_name(name.text));
    for (const Flow* flow : data_flows(it)) parameters.push_back("void* " + cpp_name(flow->name.text));
    text.list(fmt::format("int {}(", EmitBodies::name_of(names_, it, i)), parameters, ");");
  }
}

void EmitTasks::codelet(const TaskClass& it, EmitText& text) const {
  const bool idle = plan(it).idle;
  const std::size_t count = emit_bodies_of(file_, it).size();
  std::vector<std::string> parameters, arguments{"c_globals.get()"};
  for (const Flow* flow : data_flows(it))
    parameters.push_back(
        fmt::format("{}<Datum>{}", access(it, *flow), idle ? "" : " " + cpp_name(flow->name.text)));
  if (!idle)
    for (const Name& name : it.parameters) {
      parameters.push_back("int " + cpp_name(name.text));
      arguments.push_back(cpp_name(name.text));
    }
  for (const Flow* flow : data_flows(it))
    arguments.push_back(fmt::format("Lent({})", cpp_name(flow->name.text)));
  text.line();
  text.document(fmt::format("What the tasks of {} do{}.", it.name.text, idle ? ": nothing" : ""));
  text.line(fmt::format("auto codelet_of_{}({}) {{", it.name.text, idle ? "" : "const Globals& c_globals"));
  text.list(fmt::format("  const auto body = [{}](", idle ? "" : "c_globals"), parameters,
            idle ? ") {};" : ") {");
  if (!idle) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string call = EmitBodies::name_of(names_, it, i) + "(";
      if (i == 0) {
        text.list(fmt::format("    {}int returned = {}", count == 1 ? "const " : "", call), arguments, ");");
        continue;
      }
      const std::string condition = "    if (returned == PARSEC_HOOK_RETURN_NEXT)";
      std::size_t length = condition.size() + call.size() + 14;
      for (const std::string& argument : arguments) length += argument.size() + 2;
      if (length - 2 > EmitText::most_columns) text.line(condition);
      text.list(
          (length - 2 > EmitText::most_columns ? "      returned = " : condition + " returned = ") + call,
          arguments, ");");
    }
    text.line(fmt::format("    fairlead::parsec::done(\"{}\", returned);", it.name.text));
    text.line("  };");
  }
  text.line(fmt::format("  return fairlead::codelet(\"{}\").cpu(body);", it.name.text));
  text.line("}");
}

// --- members ---

void EmitTasks::members(const TaskClass& it, EmitText& text) {
  space(it, text);
  for (const Flow& each : it.flows)
    if (!is_left_out(each)) flow(it, each, text);
  define(it, text);
}

/// Makes the indices known to a function in which they are used.
void EmitTasks::bind_indices(const TaskClass& it, const std::vector<std::string>& lines,
                             EmitText& text) const {
  std::vector<std::string> names;
  bool used = false;
  for (const Definition* definition : plan(it).indices) {
    names.push_back(cpp_name(definition->name.text));
    used |= std::ranges::any_of(lines, [&](const std::string& line) { return mentions(line, names.back()); });
  }
  if (used) text.line(fmt::format("    const auto& [{}] = of_{};", fmt::join(names, ", "), it.name.text));
}

std::string EmitTasks::range_of(const std::string& index, ExpressionId id, const EmitScope& scope,
                                const EmitExpressions::Hoist& hoist) {
  const Expression& it = file_.at(id);
  if (it.kind != Expression::Kind::range) {
    const std::string value = expressions_.cpp(id, scope, hoist).text;
    return fmt::format("{}.in({}, {})", index, value, value);
  }
  const std::string first = expressions_.cpp(it.parts[0], scope, hoist).text,
                    last = expressions_.cpp(it.parts[1], scope, hoist).text;
  if (it.parts[2] == no_expression) return fmt::format("{}.in({}, {})", index, first, last);
  const EmitPiece step = expressions_.cpp(it.parts[2], scope, hoist);
  std::int64_t number = 0;
  if (step.varies || (expressions_.is_literal(it.parts[2], number) && number > 0))
    return fmt::format("{}.in({}, {}, {})", index, first, last, step.text);
  return fmt::format("fairlead::parsec::stepped({}, {}, {}, {})", index, first, last, step.text);
}

/// Of [ i = a .. b .. s ] c * i + d, with c and s known: all its numbers are a range again.
std::string EmitTasks::affine_range(const Definition& it, const EmitScope& scope,
                                    const EmitExpressions::Hoist& hoist) {
  const auto refuse = [&] {
    diagnostics_.error(it.name.where,
                       fmt::format("{} over local indices is no range that C++ can say: compile takes "
                                   "one index, and a sum of it",
                                   it.name.text));
    return std::string("{}");
  };
  std::int64_t factor = 0;
  if (it.indices.size() != 1 || file_.at(it.value).kind == Expression::Kind::range ||
      expressions_.needs_c(it.value) || !factor_of(it.value, it.indices[0].slot, factor) || factor == 0)
    return refuse();
  const Expression& range = file_.at(it.indices[0].range);
  EmitScope inside = scope;
  const auto at = [&](ExpressionId number) {
    inside.cpp_names[it.indices[0].slot] =
        fmt::format("ptg::Expression({})", expressions_.cpp(number, scope, hoist).text);
    return expressions_.cpp(it.value, inside, hoist).text;
  };
  const std::string name = cpp_name(it.name.text);
  if (range.kind != Expression::Kind::range)
    return fmt::format("{}.in({}, {})", name, at(it.indices[0].range), at(it.indices[0].range));
  std::int64_t step = 1;
  if (range.parts[2] != no_expression && !expressions_.is_literal(range.parts[2], step)) return refuse();
  return fmt::format("fairlead::parsec::stepped({}, {}, {}, {})", name, at(range.parts[0]),
                     at(range.parts[1]), factor * step);
}

/// What a sum gains per step of the index; false if it is none.
bool EmitTasks::factor_of(ExpressionId id, std::uint32_t slot, std::int64_t& factor) const {
  const Expression& it = file_.at(id);
  std::set<std::uint32_t> slots;
  expressions_.collect(id, EmitScope{}, slots);
  if (!slots.contains(slot)) {
    factor = 0;
    return true;
  }
  if (it.kind == Expression::Kind::name) {
    factor = 1;
    return true;
  }
  std::int64_t left = 0, right = 0;
  if (it.kind != Expression::Kind::binary) return false;
  if (it.op == Operator::multiply) {
    std::int64_t number = 0;
    if (expressions_.is_literal(it.parts[0], number) && factor_of(it.parts[1], slot, right)) {
      factor = number * right;
      return true;
    }
    if (!expressions_.is_literal(it.parts[1], number) || !factor_of(it.parts[0], slot, left)) return false;
    factor = number * left;
    return true;
  }
  if ((it.op != Operator::add && it.op != Operator::subtract) || !factor_of(it.parts[0], slot, left) ||
      !factor_of(it.parts[1], slot, right))
    return false;
  factor = it.op == Operator::add ? left + right : left - right;
  return true;
}

std::string EmitTasks::range(const Definition& it, const EmitScope& scope,
                             const EmitExpressions::Hoist& hoist) {
  const std::string name = cpp_name(it.name.text);
  const bool is_range = file_.at(it.value).kind == Expression::Kind::range;
  if (it.parameter == nowhere && (is_range || !it.indices.empty())) {
    diagnostics_.error(it.name.where,
                       fmt::format("{} is a range, but no parameter: compile cannot tell the tasks of "
                                   "{} apart",
                                   it.name.text, scope.task_class->name.text));
    return "{}";
  }
  if (!it.indices.empty()) return affine_range(it, scope, hoist);
  if (it.parameter != nowhere) return range_of(name, it.value, scope, hoist);
  return fmt::format("{}.is({})", name, expressions_.cpp(it.value, scope, hoist).text);
}

void EmitTasks::space(const TaskClass& it, EmitText& text) {
  const Plan& of = plan(it);
  expressions_.begin_function();
  std::vector<std::pair<Range, std::string>> lines;
  std::vector<std::string> all, names;
  EmitScope scope = of.scope;
  for (const Definition* definition : of.indices) {
    scope.purpose = fmt::format("{}_{}", it.name.text, definition->name.text);
    const auto add = [&](const std::string& line) {
      lines.emplace_back(definition->name.where, line);
      all.push_back(line);
    };
    const std::string value = range(*definition, scope, add);
    names.push_back("range_of_" + cpp_name(definition->name.text));
    add(fmt::format("const ptg::Range {} = {};", names.back(), value));
  }
  text.line();
  text.line(fmt::format("  ptg::TaskClass space_of_{}() {{", it.name.text));
  bind_indices(it, all, text);
  for (const auto& [where, line] : lines) {
    text.from(where);
    text.statement("    " + line);
  }
  text.from(it.name.where);
  names.insert(names.begin(), c_string(it.name.text));
  text.list("    return graph_.task(", names, ");");
  text.own();
  text.line("  }");
}

// --- flows ---

void EmitTasks::flow(const TaskClass& it, const Flow& flow, EmitText& text) {
  expressions_.begin_function();
  std::vector<std::pair<Range, std::vector<std::string>>> statements;
  for (const Dependency& each : flow.dependencies) dependency(it, flow, each, statements);
  const bool control = flow.access == Access::control;
  const bool has_input = std::ranges::any_of(
      flow.dependencies, [](const Dependency& dependency) { return dependency.direction == Direction::in; });
  if (!control && !has_input) {
    // What is written from the beginning is written where it goes.
    const Target* home = nullptr;
    for (const Dependency& each : flow.dependencies)
      for (const Branch& branch : each.branches)
        if (branch.target.kind == Target::Kind::memory && branch.guard == no_expression)
          home = &branch.target;
    EmitScope scope = plan(it).scope;
    scope.purpose = fmt::format("{}_{}", it.name.text, flow.name.text);
    std::vector<std::string> lines, ranges;
    const std::string from = home != nullptr ? place(it, *home, scope, ranges, lines)
                                             : fmt::format("ptg::fresh_like({})", like(it, flow.name.where));
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
                           std::vector<std::pair<Range, std::vector<std::string>>>& statements) {
  for (std::size_t i = 0; i < dependency.branches.size(); ++i) {
    const Target& target = dependency.branches[i].target;
    if (target.kind == Target::Kind::null && flow.access == Access::control) continue;
    statements.emplace_back(target.where, branch(it, flow, dependency, i, plan(it).scope));
  }
}

/// The statements of one branch.
std::vector<std::string> EmitTasks::branch(const TaskClass& it, const Flow& flow,
                                           const Dependency& dependency, std::size_t number,
                                           EmitScope scope) {
  std::vector<std::string> lines, ranges;
  const auto hoist = [&](const std::string& line) { lines.push_back(line); };
  const Branch& branch = dependency.branches[number];
  scope.purpose = fmt::format("{}_{}", it.name.text, flow.name.text);
  const auto add_indices = [&](const std::vector<Index>& indices) {
    for (const Index& index : indices) {
      const std::string own = expressions_.part((cpp_name(index.name.text) + "_").c_str());
      lines.push_back(fmt::format("const ptg::Index {}({});", own, c_string(index.name.text)));
      ranges.push_back(range_of(own, index.range, scope, hoist));
      scope.cpp_names[index.slot] = own;
      scope.visible.emplace_back(index.name.text, own);
    }
  };
  add_indices(dependency.indices);
  // Of several targets the first whose guard holds counts. Inputs are looked at in order anyway.
  const bool in_order = dependency.direction == Direction::in && flow.access != Access::control;
  std::string condition;
  const auto add_condition = [&](ExpressionId guard, bool holds) {
    const EmitPiece piece = expressions_.cpp(guard, scope, hoist);
    const bool first = condition.empty();
    std::string text = piece.text;
    if (!holds) text = piece.strength >= 12 ? "!" + text : "!(" + text + ")";
    const bool alone = first && holds;
    if (!alone && holds && piece.strength < 4) text = "(" + text + ")";
    if (!first && condition_is_weak_) condition = "(" + condition + ")";
    condition += (first ? "" : " && ") + text;
    condition_is_weak_ = alone && piece.strength < 3;
  };
  if (!in_order)
    for (std::size_t i = 0; i < number; ++i) add_condition(dependency.branches[i].guard, false);
  if (branch.guard != no_expression) add_condition(branch.guard, true);
  add_indices(branch.target.indices);
  std::string where;
  if (branch.target.kind == Target::Kind::null) {
    where = "ptg::nothing()";
  } else if (branch.target.kind == Target::Kind::fresh) {
    where = fmt::format("ptg::fresh_like({})", like(it, branch.target.where));
  } else {
    where = place(it, branch.target, scope, ranges, lines);
  }
  const char* const direction = dependency.direction == Direction::in ? "from" : "to";
  const auto statement = [&] {
    std::string out = fmt::format("flow = std::move(flow).{}({}", direction, where);
    for (const std::string& range : ranges) out += ", " + range;
    return out + ")" + (condition.empty() ? "" : ".when(" + condition + ")") + ";";
  };
  const auto too_long = [&] { return statement().size() + 4 > EmitText::most_columns; };
  const auto apart = [&](const char* type, const char* name, std::string& piece) {
    const std::string own = expressions_.part(name);
    lines.push_back(fmt::format("const {} {} = {};", type, own, piece));
    piece = own;
  };
  if (too_long() && condition.size() > 20) apart("ptg::Expression", "condition", condition);
  for (std::string& range : ranges)
    if (too_long()) apart("ptg::Range", "range", range);
  if (too_long()) apart("ptg::Place", "place", where);
  lines.push_back(statement());
  return lines;
}

std::string EmitTasks::place(const TaskClass& it, const Target& target, EmitScope& scope,
                             std::vector<std::string>& ranges, std::vector<std::string>& lines) {
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
    const std::string own = expressions_.part(("to_" + name + "_").c_str());
    lines.push_back(fmt::format("const ptg::Index {}({});", own, c_string(name)));
    ranges.push_back(range_of(own, target.arguments[i], scope, hoist));
    arguments.push_back(own);
  }
  (void)it;
  if (other == nullptr)
    return fmt::format("data_of_{}({})", file_.globals[target.index].name.text, fmt::join(arguments, ", "));
  std::vector<std::string> ordered;
  for (const std::uint32_t parameter : plan(*other).parameters) ordered.push_back(arguments[parameter]);
  return fmt::format("tasks_{}[\"{}\"]({})", other->name.text, target.flow.text, fmt::join(ordered, ", "));
}

/// What NEW data of a class are like: those beside which it runs.
std::string EmitTasks::like(const TaskClass& it, Range where) {
  if (it.placement.kind == Placement::Kind::datum && it.placement.datum.index != nowhere)
    return "data_of_" + file_.globals[it.placement.datum.index].name.text;
  for (const Flow& flow : it.flows)
    for (const Dependency& dependency : flow.dependencies)
      for (const Branch& branch : dependency.branches)
        if (branch.target.kind == Target::Kind::memory)
          return "data_of_" + file_.globals[branch.target.index].name.text;
  diagnostics_.error(
      where, fmt::format("how large is it? {} runs beside no data: place it (: A(...))", it.name.text));
  return "";
}

void EmitTasks::define(const TaskClass& it, EmitText& text) {
  expressions_.begin_function();
  const Plan& of = plan(it);
  std::vector<std::string> arguments{
      fmt::format("codelet_of_{}({})", it.name.text, of.idle ? "" : "c_globals")};
  for (const Flow* each : data_flows(it))
    arguments.push_back(fmt::format("flow_{}_of_{}()", each->name.text, it.name.text));
  if (!of.idle)
    for (const Name& name : it.parameters) arguments.push_back(cpp_name(name.text));
  for (const Flow& each : it.flows)
    if (each.access == Access::control && !is_left_out(each))
      arguments.push_back(fmt::format("flow_{}_of_{}()", each.name.text, it.name.text));
  std::vector<std::string> lines;
  if (it.priority != no_expression) {
    EmitScope scope = of.scope;
    scope.purpose = it.name.text + "_priority";
    const auto hoist = [&](const std::string& line) { lines.push_back(line); };
    const std::string value = expressions_.cpp(it.priority, scope, hoist).text;
    lines.push_back(fmt::format("tasks_{}.priority({});", it.name.text, value));
  }
  std::vector<std::string> all = lines;
  all.insert(all.end(), arguments.begin(), arguments.end());
  text.line();
  text.line(fmt::format("  void define_{}() {{", it.name.text));
  bind_indices(it, all, text);
  text.from(it.name.where);
  text.list(fmt::format("    tasks_{}.runs(", it.name.text), arguments, ");");
  for (const std::string& line : lines) {
    text.from(file_.at(it.priority).where);
    text.statement("    " + line);
  }
  text.own();
  text.line("  }");
}

}  // namespace fairlead::jdf
