// Converts a class table to an unrolled graph.
#include "front/ptg/unrolled_graph.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "front/ptg/edge_ends.hpp"

namespace fairlead::ptg {

namespace {

class GraphUnroller {
 public:
  GraphUnroller(const ClassTable& table, std::uint64_t most) : table_(table), most_(most) {}

  unrolled::TaskGraph write() {
    for (const auto& collection : table_.collections) graph_.collections.push_back(collection->name);
    for (const TableClass& of : table_.classes) add_class(of);
    for (class_ = 0; class_ < table_.classes.size(); ++class_) {
      const TableClass& of = table_.classes[class_];
      StoppableWalk walk(table_.stop);
      for (bool more = walk.begin(of.loops, numbers_.data()); more;
           more = walk.next(of.loops, numbers_.data()))
        add_task(of);
    }
    return std::move(graph_);
  }

 private:
  void add_class(const TableClass& of) {
    unrolled::Class& it = graph_.classes.emplace_back();
    it.name = of.name;
    it.where = fmt::format("{}:{}", of.definition->file, of.definition->line);
    for (std::size_t i = 0; i < of.parameters.size(); ++i)
      it.parameters.push_back(of.places.index_at(of.parameters[of.display_index(i)]).text());
    for (const TableFlow& flow : of.flows) {
      const auto access = flow.control                     ? unrolled::FlowAccess::control
                          : flow.mode == AccessMode::read  ? unrolled::FlowAccess::read
                          : flow.mode == AccessMode::write ? unrolled::FlowAccess::write
                                                           : unrolled::FlowAccess::read_write;
      it.flows.push_back({flow.name.empty() ? "its end" : flow.name, access, it.where});
    }
    graph_.source_lines.push_back(it.where);  // by class
  }

  void add_task(const TableClass& of) {
    if (graph_.tasks.size() >= most_)
      throw UsageError(fmt::format(
          "a parameterized graph of more than {} tasks is not unrolled: check one of a smaller size", most_));
    task_ = static_cast<unrolled::TaskId>(graph_.tasks.size());
    graph_.tasks.push_back({static_cast<std::uint32_t>(class_), add_numbers(of),
                            static_cast<std::int32_t>(of.priority(numbers_.data()))});
    for (std::size_t i = 0; i < of.flows.size(); ++i) {
      const TableFlow& flow = of.flows[i];
      flow_ = static_cast<std::uint16_t>(i);
      if (!flow.control) {
        if (const Input* const input = input_of(flow, numbers_.data())) add_input(*input);
      } else {
        for (const Input& input : flow.inputs)
          if (!input.condition || (*input.condition)(numbers_.data())) add_inputs(input);
      }
      for (const ClassEdge& edge : flow.edges) add_outputs(edge);
      for (const StoredOutput& leaving : flow.stored_outputs) add_leavings(leaving);
    }
  }

  std::uint32_t add_numbers(const TableClass& of) {
    const auto first = static_cast<std::uint32_t>(graph_.numbers.size());
    for (std::size_t i = 0; i < of.parameters.size(); ++i)
      graph_.numbers.push_back(static_cast<std::int32_t>(numbers_[of.parameters[of.display_index(i)]]));
    return first;
  }
  unrolled::EdgeEnd end_of(unrolled::EdgeEnd::Kind kind, std::uint32_t of,
                           const std::vector<Formula>& indices) {
    unrolled::EdgeEnd end{
        .task = task_, .flow = flow_, .kind = kind, .of = of, .place = static_cast<std::uint32_t>(class_)};
    end.count = static_cast<std::uint16_t>(indices.size());
    end.first_number = static_cast<std::uint32_t>(graph_.numbers.size());
    const TableClass* const task = kind == unrolled::EdgeEnd::Kind::task ? &table_.classes[of] : nullptr;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Formula& index = indices[task != nullptr ? task->display_index(i) : i];
      graph_.numbers.push_back(static_cast<std::int32_t>(index(numbers_.data())));
    }
    return end;
  }
  std::uint16_t flow_number(std::uint32_t of, std::uint16_t flow) const {
    // A control that names no flow refers to the unnamed flow, which is the last.
    return std::min(flow, static_cast<std::uint16_t>(table_.classes[of].flows.size() - 1));
  }

  void add_input(const Input& input) {
    using Kind = unrolled::EdgeEnd::Kind;
    switch (input.kind) {
      case Place::Kind::nothing:
        graph_.inputs.push_back(end_of(Kind::null, unrolled::none, {}));
        return;
      case Place::Kind::fresh:
        graph_.inputs.push_back(end_of(Kind::fresh, unrolled::none, {}));
        return;
      case Place::Kind::memory:
      case Place::Kind::home:
        graph_.inputs.push_back(end_of(Kind::memory, input.memory.collection, input.memory.indices));
        return;
      case Place::Kind::task:
        graph_.inputs.push_back(end_of(Kind::task, input.from_class, input.indices));
        graph_.inputs.back().of_flow = flow_number(input.from_class, input.from_flow);
    }
  }
  void add_inputs(const Input& input) {
    StoppableWalk walk(table_.stop);
    for (bool more = walk.begin(input.ranges, numbers_.data()); more;
         more = walk.next(input.ranges, numbers_.data()))
      if (input.each(numbers_.data())) add_input(input);
  }
  void add_outputs(const ClassEdge& edge) {
    if (!edge.before(numbers_.data())) return;
    StoppableWalk walk(table_.stop);
    for (bool more = walk.begin(edge.loops, numbers_.data()); more;
         more = walk.next(edge.loops, numbers_.data())) {
      if (!edge.holds(numbers_.data()) || is_skipped(table_, edge, numbers_.data())) continue;
      graph_.outputs.push_back(end_of(unrolled::EdgeEnd::Kind::task, edge.to_class, edge.indices));
      graph_.outputs.back().of_flow = edge.to_flow;
    }
  }
  void add_leavings(const StoredOutput& leaving) {
    if (!leaving.condition(numbers_.data())) return;
    StoppableWalk walk(table_.stop);
    for (bool more = walk.begin(leaving.ranges, numbers_.data()); more;
         more = walk.next(leaving.ranges, numbers_.data()))
      if (leaving.each(numbers_.data()))
        graph_.outputs.push_back(
            end_of(unrolled::EdgeEnd::Kind::memory, leaving.memory.collection, leaving.memory.indices));
  }

  const ClassTable& table_;
  const std::uint64_t most_;
  unrolled::TaskGraph graph_;
  std::size_t class_ = 0;
  unrolled::TaskId task_ = 0;
  std::uint16_t flow_ = 0;
  Numbers numbers_{};
};

}  // namespace

unrolled::TaskGraph unrolled_graph(const ClassTable& table, std::uint64_t most) {
  return GraphUnroller(table, most).write();
}

}  // namespace fairlead::ptg
