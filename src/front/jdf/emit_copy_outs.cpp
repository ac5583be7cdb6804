// Outputs to a datum other than the one that contains the value, such as values of NEW: for each, a class of tasks
// copies the value.
#include <fmt/format.h>
#include <algorithm>

#include "front/jdf/emit.hpp"
#include "front/jdf/emit_tasks.hpp"

namespace fairlead::jdf {

/// Adds the collections that may contain a flow's value to `out`; `nowhere` stands for NEW.
void EmitTasks::origins(const Flow& flow, std::set<const Flow*>& seen, std::set<std::uint32_t>& out) const {
  if (!seen.insert(&flow).second) return;
  bool has_input = false;
  for (const Dependency& dependency : flow.dependencies) {
    if (dependency.direction != Direction::in) continue;
    has_input = true;
    for (const Branch& branch : dependency.branches) {
      const Target& target = branch.target;
      if (target.kind == Target::Kind::memory) out.insert(target.index);
      if (target.kind == Target::Kind::fresh) out.insert(unbound_index);
      if (target.kind == Target::Kind::task)
        origins(file_.classes[target.index].flows[target.flow_index], seen, out);
    }
  }
  if (has_input) return;
  const Target* const home = written_home(flow);
  out.insert(home != nullptr ? home->index : unbound_index);
}

/// For a flow without an input: the datum where its value is from the start, if it always goes to memory.
const Target* EmitTasks::written_home(const Flow& flow) const {
  for (const Dependency& dependency : flow.dependencies)
    for (const Branch& branch : dependency.branches)
      if (branch.target.kind == Target::Kind::memory && branch.guard == no_expression) return &branch.target;
  return nullptr;
}

bool EmitTasks::needs_copy_out(const Flow& flow, const Dependency& dependency, const Target& target) const {
  if (dependency.direction != Direction::out || target.kind != Target::Kind::memory) return false;
  std::set<const Flow*> seen;
  std::set<std::uint32_t> found;
  origins(flow, seen, found);
  return !found.empty() && !found.contains(target.index);
}

std::vector<EmitTasks::CopyOut> EmitTasks::copy_outs(const TaskClass& it) const {
  std::vector<CopyOut> out;
  for (const Flow& flow : it.flows)
    for (const Dependency& dependency : flow.dependencies)
      for (std::size_t i = 0; i < dependency.branches.size(); ++i)
        if (needs_copy_out(flow, dependency, dependency.branches[i].target))
          out.push_back({&it, &flow, &dependency, i});
  return out;
}

void EmitTasks::home(const CopyOut& home, std::size_t number, EmitText& text) {
  const TaskClass& it = *home.task_class;
  expressions_.begin_function();
  const BranchParts parts = parts_of(it, *home.flow, *home.dependency, home.branch);
  const SourceRange where = home.dependency->branches[home.branch].target.where;
  if (!parts.ranges.empty())
    diagnostics_.error(where, "a value can be stored in at most one datum other than its own");
  text.line();
  text.document(fmt::format("The value of {} of {} goes home to another datum than it is in.",
                            home.flow->name.text, it.name.text),
                2);
  text.line(fmt::format("  void define_home{}_of_{}() {{", number, it.name.text));
  bind_all_indices(it, text);
  make_class(it, fmt::format("{}_{}_home{}", it.name.text, home.flow->name.text, number), text);
  std::vector<std::string> lines = parts.lines, called;
  for (const Name& name : it.parameters) called.push_back(cpp_name(name.text));
  lines.push_back(fmt::format("const ptg::Place value = tasks_{}[\"{}\"]({});", it.name.text,
                              home.flow->name.text, fmt::join(called, ", ")));
  lines.push_back(fmt::format("const ptg::Place home = {};", parts.where));
  if (!parts.part.empty()) lines.push_back(fmt::format("const ptg::Part part = {};", parts.part));
  const std::string in_part = parts.part.empty() ? "" : ".part(part)";
  if (parts.condition.empty()) {
    lines.push_back(fmt::format("auto from = ptg::flow(\"value\").from(value){};", in_part));
    lines.push_back("auto to = ptg::flow(\"home\").from(home).to(home);");
  } else {
    lines.push_back(fmt::format("const ptg::Expression goes = {};", parts.condition));
    lines.push_back(fmt::format(
        "auto from = ptg::flow(\"value\").from(value).when(goes){}.from(ptg::nothing());", in_part));
    lines.push_back(
        "auto to = ptg::flow(\"home\").from(home).when(goes).from(ptg::nothing()).to(home).when(goes);");
  }
  lines.push_back(
      fmt::format("fairlead::parsec::take_home(tasks, from, to{});", parts.part.empty() ? "" : ", part"));
  lines.push_back("fairlead::parsec::runs_at(tasks, home);");
  for (const std::string& line : lines) {
    text.from(where);
    text.statement("    " + line);
  }
  text.own();
  text.line("  }");
}

}  // namespace fairlead::jdf
