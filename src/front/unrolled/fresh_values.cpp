// Follows NEW values through the flows that pass them on, and finds changed values without outputs.
#include "front/unrolled/fresh_values.hpp"

#include <fmt/format.h>

#include <vector>

namespace fairlead::unrolled {

namespace {

const ClassFlow& flow_of(const TaskGraph& graph, const Ports& ports, Port port) {
  return graph.flow(ports.task(port), ports.flow(port));
}

/// The flow passes on the value that came in.
bool passes_on(const ClassFlow& flow) { return flow.access == FlowAccess::read || flow.untouched; }

/// Finds where unwritten values originate: the port that starts with NEW, or `none` for all other values.
class Unwritten {
 public:
  Unwritten(const TaskGraph& graph, const Ports& ports, const Edges& edges)
      : graph_(graph), ports_(ports), edges_(edges), comes_in_(ports.size(), unknown) {}

  Port in(Port port) {
    way_.clear();
    Port origin = none;
    for (Port at = port;;) {
      if (comes_in_[at] != unknown) {
        origin = comes_in_[at];
        break;
      }
      comes_in_[at] = none;  // ends the loop at a cycle
      way_.push_back(at);
      const std::uint32_t given = edges_.inputs.given[at];
      if (given == none || flow_of(graph_, ports_, at).access == FlowAccess::control) break;
      if (graph_.inputs[given].kind == EdgeEnd::Kind::fresh) {
        origin = at;
        break;
      }
      const Port from = edges_.inputs.from[at];
      if (from == none || !passes_on(flow_of(graph_, ports_, from))) break;
      at = from;
    }
    for (const Port at : way_) comes_in_[at] = origin;
    return origin;
  }

 private:
  static constexpr Port unknown = none - 1;
  const TaskGraph& graph_;
  const Ports& ports_;
  const Edges& edges_;
  std::vector<Port> comes_in_, way_;
};

}  // namespace

void check_unwritten_values(const TaskGraph& graph, const Ports& ports, const Edges& edges,
                            Findings& findings) {
  Unwritten unwritten(graph, ports, edges);
  const auto tell = [&](std::string_view where, Port port, Port origin, const std::string& what) {
    if (!findings.needs_text(Kind::never_written)) return findings.count(Kind::never_written);
    const EdgeEnd& fresh = graph.inputs[edges.inputs.given[origin]];
    const std::string begins =
        origin == port
            ? "NEW"
            : fmt::format("the NEW of {} ({})", label(graph, ports.task(origin), ports.flow(origin)),
                          graph.where(fresh));
    findings.add(Kind::never_written,
                 fmt::format("{}{}{} {} {}, which no task has written", where, where.empty() ? "" : ": ",
                             label(graph, ports.task(port), ports.flow(port)), what, begins));
  };
  for (Port port = 0; port < ports.size(); ++port) {
    const ClassFlow& flow = flow_of(graph, ports, port);
    if (flow.access != FlowAccess::read || flow.untouched) continue;
    if (const Port origin = unwritten.in(port); origin != none)
      tell(graph.where(graph.inputs[edges.inputs.given[port]]), port, origin, "reads");
  }
  for (const EdgeEnd& end : graph.outputs) {
    if (end.kind != EdgeEnd::Kind::memory) continue;
    const Port port = ports.of(end.task, end.flow);
    if (!passes_on(flow_of(graph, ports, port))) continue;
    if (const Port origin = unwritten.in(port); origin != none)
      tell(graph.where(end), port, origin, fmt::format("leaves in {}", label(graph, end)));
  }
}

void check_lost_results(const TaskGraph& graph, const Ports& ports, const Edges& edges, Findings& findings) {
  if (!graph.warns_of_lost_results) return;
  std::vector<bool> leads_somewhere(ports.size(), false);
  for (const Edge& edge : edges.all) leads_somewhere[edge.from] = true;
  // An output to a task that does not exist has its own warning.
  for (const EdgeEnd& end : graph.outputs) leads_somewhere[ports.of(end.task, end.flow)] = true;
  for (Port port = 0; port < ports.size(); ++port) {
    const ClassFlow& flow = flow_of(graph, ports, port);
    const bool writes = flow.access == FlowAccess::write || flow.access == FlowAccess::read_write;
    if (leads_somewhere[port] || !writes || flow.untouched) continue;
    const std::uint32_t given = edges.inputs.given[port];
    const bool workspace = given == none || graph.inputs[given].kind == EdgeEnd::Kind::fresh ||
                           graph.inputs[given].kind == EdgeEnd::Kind::null;
    if (workspace) continue;
    if (!findings.needs_text(Kind::lost_result)) {
      findings.count(Kind::lost_result);
      continue;
    }
    findings.add(Kind::lost_result, fmt::format("{}: {} is changed, but no output takes it", flow.where,
                                                label(graph, ports.task(port), ports.flow(port))));
  }
}

}  // namespace fairlead::unrolled
