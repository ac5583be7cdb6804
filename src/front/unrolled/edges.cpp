// Matches the ends of edges, by sorting and merging what producers and consumers state.
#include "front/unrolled/edges.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace fairlead::unrolled {

namespace {

/// An edge as stated by one of its ends.
struct StatedEdge {
  std::uint64_t ports;  // the producer's port in the upper 32 bits, the consumer's in the lower
  std::uint32_t end;    // index in TaskGraph::inputs or TaskGraph::outputs
};

class Matcher {
 public:
  Matcher(const TaskGraph& graph, const Ports& ports, Findings& findings)
      : graph_(graph), ports_(ports), findings_(findings), index_(graph.tasks.size()) {
    out_.inputs.given.assign(ports.size(), none);
    out_.inputs.from.assign(ports.size(), none);
  }

  Edges all() {
    tasks();
    inputs();
    outputs();
    never_given();
    compare();
    return std::move(out_);
  }

 private:
  bool is_control(TaskId task, std::uint16_t flow) const {
    return graph_.flow(task, flow).access == FlowAccess::control;
  }

  void tasks() {
    for (TaskId task = 0; task < graph_.tasks.size(); ++task) {
      const std::uint32_t found = index_.add(graph_.tasks[task].of, graph_.parameters(task));
      task_of_.resize(std::max<std::size_t>(task_of_.size(), found + 1), task);
      if (task_of_[found] != task)
        findings_.add(Kind::duplicate_task, findings_.needs_text(Kind::duplicate_task)
                                                ? fmt::format("{} ({})", label(graph_, task),
                                                              graph_.classes[graph_.tasks[task].of].where)
                                                : std::string());
    }
  }

  TaskId task_at(const EdgeEnd& end) const {
    const std::uint32_t found = index_.find(end.of, graph_.indices(end));
    return found == none ? none : task_of_[found];
  }

  void inputs() {
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      const EdgeEnd& end = graph_.inputs[i];
      const Port port = ports_.of(end.task, end.flow);
      if (!is_control(end.task, end.flow)) {
        if (out_.inputs.given[port] != none) {
          overlap(graph_.inputs[out_.inputs.given[port]], end);
          continue;
        }
        out_.inputs.given[port] = i;
      } else if (out_.inputs.given[port] == none) {
        out_.inputs.given[port] = i;
      }
      if (end.kind != EdgeEnd::Kind::task) continue;
      const TaskId other = task_at(end);
      if (other == none) {
        if (findings_.needs_text(Kind::missing_producer))
          findings_.add(Kind::missing_producer,
                        fmt::format("{}: {} takes {}, but there is no {}", graph_.where(end),
                                    label(graph_, end.task, end.flow), label(graph_, end),
                                    label(graph_.classes[end.of].name, graph_.indices(end))));
        else
          findings_.count(Kind::missing_producer);
        continue;
      }
      const Port from = ports_.of(other, end.of_flow);
      if (out_.inputs.from[port] == none) out_.inputs.from[port] = from;
      taken_.push_back({std::uint64_t{from} << 32U | port, i});
    }
  }

  /// The first input that holds applies, as at run time.
  void overlap(const EdgeEnd& first, const EdgeEnd& second) {
    if (!findings_.needs_text(Kind::shadowed_input)) return findings_.count(Kind::shadowed_input);
    findings_.add(Kind::shadowed_input,
                  fmt::format("{}: {} would take {}, but takes {} ({})", graph_.where(second),
                              label(graph_, second.task, second.flow), label(graph_, second),
                              label(graph_, first), graph_.where(first)));
  }

  void outputs() {
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      const EdgeEnd& end = graph_.outputs[i];
      if (end.kind != EdgeEnd::Kind::task) continue;
      const TaskId other = task_at(end);
      if (other != none) {
        sent_.push_back(
            {std::uint64_t{ports_.of(end.task, end.flow)} << 32U | ports_.of(other, end.of_flow), i});
        continue;
      }
      if (findings_.needs_text(Kind::dead_end))
        findings_.add(Kind::dead_end,
                      fmt::format("{}: {} goes to {}, but there is no {}: it goes nowhere", graph_.where(end),
                                  label(graph_, end.task, end.flow), label(graph_, end),
                                  label(graph_.classes[end.of].name, graph_.indices(end))));
      else
        findings_.count(Kind::dead_end);
    }
  }

  void never_given() {
    for (Port port = 0; port < ports_.size(); ++port) {
      if (out_.inputs.given[port] != none) continue;
      const TaskId task = ports_.task(port);
      const ClassFlow& flow = graph_.flow(task, ports_.flow(port));
      if (flow.access != FlowAccess::read && flow.access != FlowAccess::read_write) continue;
      if (!findings_.needs_text(Kind::no_input)) {
        findings_.count(Kind::no_input);
        continue;
      }
      findings_.add(Kind::no_input, fmt::format("{}: {} has no input: none of its guards holds", flow.where,
                                                label(graph_, task, ports_.flow(port))));
    }
  }

  /// Keeps each edge once, and optionally reports repetitions.
  void drop_doubles(std::vector<StatedEdge>& listed, const std::vector<EdgeEnd>& ends, bool report) {
    std::ranges::stable_sort(listed, {}, &StatedEdge::ports);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (kept > 0 && listed[kept - 1].ports == listed[i].ports) {
        if (!report) continue;
        const EdgeEnd &first = ends[listed[kept - 1].end], &second = ends[listed[i].end];
        if (findings_.needs_text(Kind::duplicate_output))
          findings_.add(Kind::duplicate_output,
                        fmt::format("{}: {} goes to {} a second time (the first: {})", graph_.where(second),
                                    label(graph_, second.task, second.flow), label(graph_, second),
                                    graph_.where(first)));
        else
          findings_.count(Kind::duplicate_output);
        continue;
      }
      listed[kept++] = listed[i];
    }
    listed.resize(kept);
  }

  void compare() {
    drop_doubles(taken_, graph_.inputs, false);
    drop_doubles(sent_, graph_.outputs, true);
    std::size_t t = 0, s = 0;
    while (t < taken_.size() || s < sent_.size()) {
      const bool only_taken = s == sent_.size() || (t < taken_.size() && taken_[t].ports < sent_[s].ports);
      const bool only_sent = !only_taken && (t == taken_.size() || sent_[s].ports < taken_[t].ports);
      const std::uint64_t ports = only_sent ? sent_[s].ports : taken_[t].ports;
      out_.all.push_back({static_cast<Port>(ports >> 32U), static_cast<Port>(ports)});
      if (only_taken) not_sent(graph_.inputs[taken_[t].end], out_.all.back());
      if (only_sent) not_taken(graph_.outputs[sent_[s].end], out_.all.back());
      if (!only_sent) ++t;
      if (!only_taken) ++s;
    }
  }

  /// The consumer states the edge, the producer does not.
  void not_sent(const EdgeEnd& taken, Edge edge) {
    if (!findings_.needs_text(Kind::one_sided)) return findings_.count(Kind::one_sided);
    const TaskId producer = ports_.task(edge.from);
    findings_.add(Kind::one_sided,
                  fmt::format("{}: {} takes {}, which does not send it there: see the outputs of {} ({})",
                              graph_.where(taken), label(graph_, taken.task, taken.flow),
                              label(graph_, taken), graph_.flow(producer, ports_.flow(edge.from)).name,
                              graph_.flow(producer, ports_.flow(edge.from)).where));
  }

  /// The producer states the edge, the consumer does not.
  void not_taken(const EdgeEnd& sent, Edge edge) {
    if (!findings_.needs_text(Kind::one_sided)) return findings_.count(Kind::one_sided);
    const std::uint32_t given = out_.inputs.given[edge.to];
    const TaskId consumer = ports_.task(edge.to);
    const ClassFlow& flow = graph_.flow(consumer, ports_.flow(edge.to));
    const std::string instead =
        given == none ? fmt::format("which takes nothing there ({})", flow.where)
                      : fmt::format("which takes {} instead ({})", label(graph_, graph_.inputs[given]),
                                    graph_.where(graph_.inputs[given]));
    findings_.add(Kind::one_sided,
                  fmt::format("{}: {} goes to {}, {}", graph_.where(sent),
                              label(graph_, sent.task, sent.flow), label(graph_, sent), instead));
  }

  const TaskGraph& graph_;
  const Ports& ports_;
  Findings& findings_;
  TupleIndex index_;
  std::vector<TaskId> task_of_;  // by the numbers of index_
  std::vector<StatedEdge> taken_, sent_;
  Edges out_;
};

}  // namespace

Ports::Ports(const TaskGraph& graph) {
  std::size_t count = 0;
  for (const Task& task : graph.tasks) count += graph.classes[task.of].flows.size();
  tasks_.reserve(count);
  first_.reserve(graph.tasks.size() + 1);
  for (TaskId task = 0; task < graph.tasks.size(); ++task) {
    first_.push_back(static_cast<Port>(tasks_.size()));
    tasks_.insert(tasks_.end(), graph.classes[graph.tasks[task].of].flows.size(), task);
  }
  first_.push_back(static_cast<Port>(tasks_.size()));
}

Edges match_edges(const TaskGraph& graph, const Ports& ports, Findings& findings) {
  return Matcher(graph, ports, findings).all();
}

}  // namespace fairlead::unrolled
