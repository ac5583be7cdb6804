// Follows flows to the origin of their values, and finds the precedences of overwritten values.
#include "front/unrolled/values.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <tuple>

namespace fairlead::unrolled {

namespace {

constexpr ValueId unknown = UINT32_MAX - 1;

class ValueFinder {
 public:
  ValueFinder(const TaskGraph& graph, const Ports& ports, const Edges& edges, Findings& findings)
      : graph_(graph), ports_(ports), edges_(edges), findings_(findings), places_(graph.tasks.size()) {}

  Values all() {
    out_.ports = ports_.size();
    out_.in.assign(ports_.size(), unknown);
    for (Port port = 0; port < ports_.size(); ++port) follow(port);
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      const EdgeEnd& end = graph_.outputs[i];
      if (end.kind != EdgeEnd::Kind::memory) continue;
      const std::uint32_t to = place(end, static_cast<std::uint32_t>(graph_.inputs.size()) + i);
      const Port port = ports_.of(end.task, end.flow);
      // A value that is only read and returned to its own datum is not a write.
      if (flow(port).access == FlowAccess::read && out_.in[port] == out_.ports + to) continue;
      out_.written.push_back({to, port, i});
    }
    std::ranges::stable_sort(out_.written, {}, &MemoryWrite::place);
    return std::move(out_);
  }

 private:
  const ClassFlow& flow(Port port) const { return graph_.flow(ports_.task(port), ports_.flow(port)); }

  std::uint32_t place(const EdgeEnd& end, std::uint32_t end_index) {
    const std::uint32_t found = places_.add(end.of, graph_.indices(end));
    if (found == out_.place_ends.size()) out_.place_ends.push_back(end_index);
    return found;
  }

  /// Follows flows that only read to the origin of the value, and stores it for all ports on the way.
  void follow(Port port) {
    way_.clear();
    ValueId value = none;
    for (Port at = port;; at = edges_.inputs.from[at]) {
      if (out_.in[at] != unknown) {
        value = out_.in[at];
        break;
      }
      way_.push_back(at);
      out_.in[at] = none;  // ends the loop at a cycle of readers
      const std::uint32_t given = edges_.inputs.given[at];
      if (given == none || flow(at).access == FlowAccess::control) break;
      const EdgeEnd& end = graph_.inputs[given];
      if (end.kind == EdgeEnd::Kind::memory) {
        value = out_.ports + place(end, given);
        break;
      }
      if (end.kind != EdgeEnd::Kind::task || edges_.inputs.from[at] == none) break;
      if (flow(edges_.inputs.from[at]).access != FlowAccess::read) {
        value = edges_.inputs.from[at];
        break;
      }
    }
    for (const Port at : way_) out_.in[at] = value;
    const Port from = edges_.inputs.from[port];
    if (from != none && is_null(from) && flow(port).access != FlowAccess::control)
      no_value(port);
    else if (value == none && from != none && flow(port).access != FlowAccess::control &&
             flow(from).access == FlowAccess::read)
      no_value(port);
  }

  /// True if the flow is explicitly nothing (NULL), even if its access writes.
  bool is_null(Port port) const {
    const std::uint32_t given = edges_.inputs.given[port];
    return given != none && graph_.inputs[given].kind == EdgeEnd::Kind::null;
  }

  void no_value(Port port) {
    const EdgeEnd& end = graph_.inputs[edges_.inputs.given[port]];
    if (!findings_.needs_text(Kind::missing_producer)) return findings_.count(Kind::missing_producer);
    findings_.add(Kind::missing_producer,
                  fmt::format("{}: {} takes {}, which has none itself", graph_.where(end),
                              label(graph_, end.task, end.flow), label(graph_, end)));
  }

  const TaskGraph& graph_;
  const Ports& ports_;
  const Edges& edges_;
  Findings& findings_;
  TupleIndex places_;
  std::vector<Port> way_;
  Values out_;
};

}  // namespace

Values find_values(const TaskGraph& graph, const Ports& ports, const Edges& edges, Findings& findings) {
  return ValueFinder(graph, ports, edges, findings).all();
}

std::vector<Precedence> overwriting_steps(const TaskGraph& graph, const Ports& ports, const Edges& edges,
                                          const Values& values, Findings& findings) {
  struct User {
    ValueId value;
    std::uint32_t part;
    bool writes;
    Port port;
  };
  std::vector<User> users;
  for (Port port = 0; port < ports.size(); ++port) {
    const ValueId value = values.in[port];
    if (value == none || values.is_of_memory(value)) continue;
    const FlowAccess access = graph.flow(ports.task(port), ports.flow(port)).access;
    if (access == FlowAccess::control) continue;
    const std::uint32_t part = graph.inputs[edges.inputs.given[port]].part;
    users.push_back({value, part, access != FlowAccess::read, port});
  }
  // By value and part, writers first. A value taken as another type is a copy, or a triangle of its own.
  const auto key = [](const User& it) { return std::tuple(it.value, it.part, !it.writes); };
  std::ranges::stable_sort(users, {}, key);
  const auto described = [&](Port port) {
    return fmt::format("{} ({})", label(graph, ports.task(port), ports.flow(port)),
                       graph.where(graph.inputs[edges.inputs.given[port]]));
  };
  std::vector<Precedence> out;
  for (std::size_t begin = 0; begin < users.size();) {
    std::size_t writers = begin, end = begin;
    while (end < users.size() && users[end].value == users[begin].value &&
           users[end].part == users[begin].part)
      writers += users[end++].writes ? 1 : 0;
    if (writers - begin > 1) {
      if (findings.needs_text(Kind::two_writers))
        findings.add(
            Kind::two_writers,
            fmt::format("{} is changed by {} and by {}{}",
                        label(graph, ports.task(users[begin].value), ports.flow(users[begin].value)),
                        described(users[begin].port), described(users[begin + 1].port),
                        writers - begin > 2 ? fmt::format(", and {} more", writers - begin - 2) : ""));
      else
        findings.count(Kind::two_writers);
    } else if (writers - begin == 1) {
      const TaskId writer = ports.task(users[begin].port);
      for (std::size_t i = writers; i < end; ++i) {
        if (ports.task(users[i].port) != writer) {
          out.push_back({ports.task(users[i].port), writer, true});
        } else if (findings.needs_text(Kind::reads_own_overwrite)) {
          findings.add(Kind::reads_own_overwrite,
                       fmt::format("{} is also {}", described(users[i].port), described(users[begin].port)));
        } else {
          findings.count(Kind::reads_own_overwrite);
        }
      }
    }
    begin = end;
  }
  return out;
}

}  // namespace fairlead::unrolled
