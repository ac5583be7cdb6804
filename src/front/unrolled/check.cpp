// Runs all checks on an unrolled graph, and describes a dependency cycle.
#include "front/unrolled/check.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "front/unrolled/edges.hpp"
#include "front/unrolled/fresh_values.hpp"
#include "front/unrolled/index_bounds.hpp"
#include "front/unrolled/memory_uses.hpp"
#include "front/unrolled/partial_order.hpp"
#include "front/unrolled/values.hpp"

namespace fairlead::unrolled {

namespace {

constexpr std::size_t most_cycle_tasks_shown = 12;

void report_cycle(const TaskGraph& graph, const PartialOrder& order, Findings& findings) {
  const std::vector<TaskId> cycle = order.cycle();
  std::string text;
  for (std::size_t i = 0; i <= cycle.size(); ++i) {
    if (i > most_cycle_tasks_shown && i < cycle.size()) continue;
    const TaskId task = cycle[i % cycle.size()];
    if (i > 0) {
      const bool overwrites = order.overwrites(cycle[i - 1], task);
      text += i == cycle.size() && cycle.size() > most_cycle_tasks_shown ? " -> ... -> "
              : overwrites ? " -> (reads what is overwritten by) "
                           : " -> ";
    }
    text += label(graph, task);
  }
  findings.add(Kind::cycle, fmt::format("{} ({})", text,
                                        cycle.size() == 1 ? "a task before itself"
                                                          : fmt::format("{} tasks", cycle.size())));
}

}  // namespace

CheckResult check(const TaskGraph& graph, std::size_t most_of_a_kind) {
  CheckResult out{Findings(most_of_a_kind), 0, 0, {}};
  if (graph.tasks.empty()) {
    out.findings.add(Kind::no_task, "all ranges are empty");
    return out;
  }
  const Ports ports(graph);
  const Edges edges = match_edges(graph, ports, out.findings);
  out.edges = edges.all.size();
  check_bounds(graph, ports, edges, out.findings);
  check_unwritten_values(graph, ports, edges, out.findings);
  check_lost_results(graph, ports, edges, out.findings);
  const Values values = find_values(graph, ports, edges, out.findings);
  std::vector<Precedence> all;
  all.reserve(edges.all.size());
  for (const Edge& edge : edges.all) all.push_back({ports.task(edge.from), ports.task(edge.to), false});
  const std::vector<Precedence> overwriting = overwriting_steps(graph, ports, edges, values, out.findings);
  all.insert(all.end(), overwriting.begin(), overwriting.end());
  out.overwriting = overwriting.size();

  PartialOrder order(graph.tasks.size(), all);
  if (order.has_cycle()) {
    report_cycle(graph, order, out.findings);
    return out;
  }
  MemoryUses memory(graph, ports, edges, values, out.findings);
  const std::vector<Precedence> more = memory.overwriting_steps(order);
  out.overwriting += more.size();
  if (!more.empty()) {
    all.insert(all.end(), more.begin(), more.end());
    order = PartialOrder(graph.tasks.size(), all);
    if (order.has_cycle()) {
      report_cycle(graph, order, out.findings);
      return out;
    }
  }
  memory.check_races(order);
  out.steps = std::move(all);
  return out;
}

std::vector<std::pair<TaskId, TaskId>> steps(const TaskGraph& graph) {
  Findings unheard(0);
  const Ports ports(graph);
  std::vector<std::pair<TaskId, TaskId>> out;
  for (const Edge& edge : match_edges(graph, ports, unheard).all)
    out.emplace_back(ports.task(edge.from), ports.task(edge.to));
  return out;
}

}  // namespace fairlead::unrolled
