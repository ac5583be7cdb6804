// See emit_tasks.hpp.
#include "front/jdf/emit_tasks.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf/emit_bodies.hpp"

namespace fairlead::jdf {

namespace {

bool gives_to_tasks(const TaskClass& of) {
  return std::ranges::any_of(of.flows, [](const Flow& flow) {
    return std::ranges::any_of(flow.dependencies, [](const Dependency& dependency) {
      return dependency.direction == Direction::out &&
             std::ranges::any_of(dependency.branches, [](const Branch& branch) {
               return branch.target.kind == Target::Kind::task;
             });
    });
  });
}

}  // namespace

EmitTasks::EmitTasks(const JdfFile& file, const EmitNames& names, const std::vector<EmitGlobal>& globals,
                     EmitExpressions& expressions, Diagnostics& diagnostics)
    : file_(file),
      names_(names),
      globals_(globals),
      expressions_(expressions),
      diagnostics_(diagnostics),
      reshapes_(file, [](const std::string& type) { return covers_whole_tile(predefined_types(), type); }) {
  for (const TaskClass& it : file.classes) plans_.emplace(&it, make_plan(it));
}

const EmitTasks::Plan& EmitTasks::plan(const TaskClass& it) const { return plans_.at(&it); }

EmitTasks::Plan EmitTasks::make_plan(const TaskClass& it) const {
  Plan plan;
  plan.scope.task_class = &it;
  plan.idle = is_idle(file_, it);
  if (!it.bodies.empty() && emit_bodies_of(file_, it).empty())
    diagnostics_.error(
        it.bodies[0].where,
        fmt::format("{} has no BODY for CPU cores; those for accelerators and RECURSIVE ones are omitted",
                    it.name.text));
  const auto collect = [&](ExpressionId id) { expressions_.collect(id, plan.scope, plan.needed); };
  collect(it.priority);
  if (is_placed(it))
    for (const ExpressionId argument : it.placement.datum.arguments) collect(argument);
  for (const Flow& flow : it.flows)
    for (const Dependency& dependency : flow.dependencies) {
      for (const Index& index : dependency.indices) collect(index.range);
      for (const Branch& branch : dependency.branches) {
        collect(branch.guard);
        for (const Index& index : branch.target.indices) collect(index.range);
        for (const ExpressionId argument : branch.target.arguments) collect(argument);
      }
    }
  // A derived local needs other locals, which are defined before it: go backwards.
  for (auto definition = it.definitions.rbegin(); definition != it.definitions.rend(); ++definition) {
    if (definition->parameter == unbound_index && !plan.needed.contains(definition->slot)) continue;
    plan.needed.insert(definition->slot);
    collect(definition->value);
    for (const Index& index : definition->indices) collect(index.range);
  }
  std::set<std::uint32_t> own;
  for (const Definition& definition : it.definitions) {
    if (!plan.needed.contains(definition.slot)) continue;
    own.insert(definition.slot);
    plan.indices.push_back(&definition);
    if (definition.parameter != unbound_index) plan.parameters.push_back(definition.parameter);
    const std::string name = cpp_name(definition.name.text);
    plan.scope.cpp_names.emplace(definition.slot, name);
    plan.scope.visible.emplace_back(definition.name.text, name);
  }
  plan.needed = std::move(own);
  return plan;
}

bool EmitTasks::is_left_out(const Flow& flow) const {
  return flow.access == FlowAccess::control && flow.dependencies.empty();
}

std::vector<const Flow*> EmitTasks::data_flows(const TaskClass& it) const {
  std::vector<const Flow*> out;
  for (const Flow& flow : it.flows)
    if (flow.access != FlowAccess::control) out.push_back(&flow);
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

/// The access wrapper of a flow in the codelet: In, Out or InOut. A body that does nothing only reads.
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
  if (flow.access == FlowAccess::read) return "In";
  if (plan(it).idle && comes_from_somewhere && !fresh) return "In";
  // A body may leave some of an existing value unchanged.
  return flow.access == FlowAccess::write && !comes_from_somewhere ? "Out" : "InOut";
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
  const std::vector<CopyOut> elsewhere = copy_outs(it);
  for (std::size_t i = 0; i < elsewhere.size(); ++i) home(elsewhere[i], i + 1, text);
}

/// Binds the indices to local names, if one of the lines uses them.
void EmitTasks::bind_indices(const TaskClass& it, const std::vector<std::string>& lines,
                             EmitText& text) const {
  std::vector<std::string> names;
  bool used = false;
  for (const Definition* definition : plan(it).indices) {
    names.push_back(cpp_name(definition->name.text));
    used |= std::ranges::any_of(lines, [&](const std::string& line) { return mentions(line, names.back()); });
  }
  if (used) text.list("    const auto& [", names, fmt::format("] = of_{};", it.name.text));
}

void EmitTasks::bind_all_indices(const TaskClass& it, EmitText& text) const {
  std::vector<std::string> all;
  for (const Definition* definition : plan(it).indices) all.push_back(cpp_name(definition->name.text));
  bind_indices(it, all, text);
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
  const CppExpression step = expressions_.cpp(it.parts[2], scope, hoist);
  std::int64_t number = 0;
  if (step.depends_on_indices || (expressions_.is_literal(it.parts[2], number) && number > 0))
    return fmt::format("{}.in({}, {}, {})", index, first, last, step.text);
  return fmt::format("fairlead::parsec::stepped({}, {}, {}, {})", index, first, last, step.text);
}

/// For [ i = a .. b .. s ] c * i + d with constant c and s: the values are a range again.
std::string EmitTasks::affine_range(const Definition& it, const EmitScope& scope,
                                    const EmitExpressions::Hoist& hoist) {
  const auto refuse = [&] {
    diagnostics_.error(
        it.name.where,
        fmt::format("{} over local indices cannot be compiled: use one index, or a sum with it",
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

/// The factor of the index in an affine expression; false if the expression is not affine.
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
  if (it.parameter == unbound_index && (is_range || !it.indices.empty())) {
    diagnostics_.error(
        it.name.where,
        fmt::format("{} is a range but not a parameter: compile cannot distinguish the tasks of {}",
                    it.name.text, scope.task_class->name.text));
    return "{}";
  }
  if (!it.indices.empty()) return affine_range(it, scope, hoist);
  if (it.parameter != unbound_index) return range_of(name, it.value, scope, hoist);
  return fmt::format("{}.is({})", name, expressions_.cpp(it.value, scope, hoist).text);
}

/// Adds the lines that define the ranges; returns their names.
std::vector<std::string> EmitTasks::ranges(const TaskClass& it, Statements& lines) {
  std::vector<std::string> names;
  EmitScope scope = plan(it).scope;
  for (const Definition* definition : plan(it).indices) {
    scope.purpose = fmt::format("{}_{}", it.name.text, definition->name.text);
    const auto add = [&](const std::string& line) { lines.emplace_back(definition->name.where, line); };
    const std::string value = range(*definition, scope, add);
    names.push_back("range_of_" + cpp_name(definition->name.text));
    add(fmt::format("const ptg::Range {} = {};", names.back(), value));
  }
  return names;
}

/// Writes the lines that define a task class with its indices, as `tasks`.
void EmitTasks::make_class(const TaskClass& it, const std::string& name, EmitText& text) {
  Statements lines;
  std::vector<std::string> names = ranges(it, lines);
  for (const auto& [where, line] : lines) {
    text.from(where);
    text.statement("    " + line);
  }
  text.from(it.name.where);
  names.insert(names.begin(), c_string(name));
  text.list("    auto tasks = graph_.task(", names, ");");
  if (std::ranges::is_sorted(plan(it).parameters)) return;
  std::vector<std::string> called;
  for (const Name& parameter : it.parameters) called.push_back(cpp_name(parameter.text));
  text.list("    tasks.called({", called, "});");
}

void EmitTasks::space(const TaskClass& it, EmitText& text) {
  expressions_.begin_function();
  text.line();
  text.line(fmt::format("  ptg::TaskClass space_of_{}() {{", it.name.text));
  bind_all_indices(it, text);
  make_class(it, it.name.text, text);
  text.own();
  text.line("    return tasks;");
  text.line("  }");
}

bool EmitTasks::is_placed(const TaskClass& it) {
  return it.placement.kind == Placement::Kind::at_datum && it.placement.datum.index != unbound_index;
}

/// The collection that determines the size of NEW data: the class's placement, otherwise its first access to memory.
std::string EmitTasks::shape_source(const TaskClass& it, SourceRange where) {
  if (it.placement.kind == Placement::Kind::at_datum && it.placement.datum.index != unbound_index)
    return "data_of_" + file_.globals[aligned_with(file_, it.placement.datum.index)].name.text;
  for (const Flow& flow : it.flows)
    for (const Dependency& dependency : flow.dependencies)
      for (const Branch& branch : dependency.branches)
        if (branch.target.kind == Target::Kind::memory)
          return "data_of_" + file_.globals[aligned_with(file_, branch.target.index)].name.text;
  diagnostics_.error(
      where,
      fmt::format("the size of NEW is unknown: {} uses no data in memory and has no placement (: A(...))",
                  it.name.text));
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
    if (each.access == FlowAccess::control && !is_left_out(each))
      arguments.push_back(fmt::format("flow_{}_of_{}()", each.name.text, it.name.text));
  std::vector<std::string> lines;
  if (it.priority != no_expression) {
    EmitScope scope = of.scope;
    scope.purpose = it.name.text + "_priority";
    const auto hoist = [&](const std::string& line) { lines.push_back(line); };
    const std::string value = expressions_.cpp(it.priority, scope, hoist).text;
    lines.push_back(fmt::format("tasks_{}.priority({});", it.name.text, value));
  }
  std::vector<std::string> placement;
  if (is_placed(it)) {
    EmitScope scope = of.scope;
    scope.purpose = it.name.text + "_placement";
    std::vector<std::string> ranges;
    const std::string where = place(it.placement.datum, scope, ranges, placement);
    placement.push_back(fmt::format("fairlead::parsec::runs_at(tasks_{}, {});", it.name.text, where));
  }
  std::vector<std::string> all = lines;
  all.insert(all.end(), placement.begin(), placement.end());
  all.insert(all.end(), arguments.begin(), arguments.end());
  text.line();
  text.line(fmt::format("  void define_{}() {{", it.name.text));
  bind_indices(it, all, text);
  text.from(it.name.where);
  text.list(fmt::format("    tasks_{}.runs(", it.name.text), arguments, ");");
  if (gives_to_tasks(it)) {
    text.own();
    text.line(fmt::format("    tasks_{}.skip_missing_receivers();", it.name.text));
  }
  for (const std::string& line : lines) {
    text.from(file_.at(it.priority).where);
    text.statement("    " + line);
  }
  for (const std::string& line : placement) {
    text.from(it.placement.datum.where);
    text.statement("    " + line);
  }
  const std::size_t elsewhere = copy_outs(it).size();
  if (elsewhere != 0) text.own();
  for (std::size_t i = 0; i < elsewhere; ++i)
    text.line(fmt::format("    define_home{}_of_{}();", i + 1, it.name.text));
  text.own();
  text.line("  }");
}

}  // namespace fairlead::jdf
