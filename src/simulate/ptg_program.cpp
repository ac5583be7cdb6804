// See ptg_program.hpp.
#include "simulate/ptg_program.hpp"

#include <fairlead/error.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "front/jdf_graph/origins.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/unrolled_graph.hpp"
#include "front/unrolled/check.hpp"

namespace fairlead::simulate {

namespace {

using unrolled::TaskId;

constexpr std::uint64_t most_written_out = 1'000'000;

/// The order in which a graph unfolds ahead of execution: ready tasks, first in, first out; if there are none, the next
/// task without predecessors.
std::vector<TaskId> unfolding_order(const unrolled::TaskGraph& graph) {
  const unrolled::CheckResult checked = unrolled::check(graph);
  if (checked.findings.errors() != 0)
    throw Error("a parameterized graph of linear algebra cannot run: " + checked.findings.text());
  std::vector<std::vector<TaskId>> after(graph.tasks.size());
  std::vector<std::uint32_t> waits(graph.tasks.size());
  for (const unrolled::Precedence& step : checked.steps) {
    after[step.before].push_back(step.after);
    ++waits[step.after];
  }
  std::deque<TaskId> ready;
  std::vector<TaskId> initial, order;
  for (TaskId task = 0; task < waits.size(); ++task)
    if (waits[task] == 0) initial.push_back(task);
  for (const TaskId begins : initial)
    for (ready.push_back(begins); !ready.empty(); ready.pop_front()) {
      order.push_back(ready.front());
      for (const TaskId next : after[ready.front()])
        if (--waits[next] == 0) ready.push_back(next);
    }
  return order;
}

/// The uses of a task, which identify it: index in the program's data, and access mode.
using Uses = std::vector<std::pair<std::size_t, AccessMode>>;

AccessMode mode_of(unrolled::FlowAccess access) noexcept {
  return access == unrolled::FlowAccess::read    ? AccessMode::read
         : access == unrolled::FlowAccess::write ? AccessMode::write
                                                 : AccessMode::read_write;
}

class Matcher {
 public:
  Matcher(const unrolled::TaskGraph& graph, const Program& flow) : graph_(graph), origins_(graph) {
    for (const std::string& name : graph.collections) {
      const auto found = std::ranges::find(flow.collections, name);
      if (found == flow.collections.end()) throw Error("the flow has no matrix " + name);
      collections_.push_back(static_cast<std::int32_t>(found - flow.collections.begin()));
    }
    for (std::size_t i = 0; i < flow.data.size(); ++i)
      data_[{flow.data[i].collection, flow.data[i].row, flow.data[i].column}] = i;
  }
  Uses uses_of(TaskId task) {
    const unrolled::Class& of = graph_.classes[graph_.tasks[task].of];
    Uses uses;
    for (std::uint16_t i = 0; i < of.flows.size(); ++i) {
      if (of.flows[i].access == unrolled::FlowAccess::control) continue;
      const unrolled::EdgeEnd* const place = origins_.of(task, i).place;
      if (place == nullptr) throw Error(unrolled::label(graph_, task, i) + " is in no datum of the flow's");
      uses.emplace_back(datum_at(*place), mode_of(of.flows[i].access));
    }
    std::ranges::sort(uses);
    return uses;
  }

 private:
  std::size_t datum_at(const unrolled::EdgeEnd& place) const {
    const auto indices = graph_.indices(place);
    const auto found = data_.find({collections_[place.of], indices[0], indices[1]});
    if (found == data_.end()) throw Error("the flow has no " + unrolled::label(graph_, place));
    return found->second;
  }

  const unrolled::TaskGraph& graph_;
  jdf::Origins origins_;
  std::vector<std::int32_t> collections_;                    // by the graph's collection: that of the program
  std::map<std::array<std::int32_t, 3>, std::size_t> data_;  // of the program, by collection, row and column
};

}  // namespace

bool is_in_ptg(std::string_view workload) noexcept {
  return workload == "cholesky" || workload == "lu" || workload == "gemm";
}

unrolled::TaskGraph graph_of(std::string_view workload, const WorkloadSize& size) {
  if (!is_in_ptg(workload))
    throw ConfigError(
        fmt::format("there is no parameterized graph of the workload {}: there are some of "
                    "cholesky, lu and gemm",
                    workload));
  const std::int64_t tiles = (size.n + size.tile - 1) / size.tile;
  if (tiles > 256)
    throw ConfigError(
        fmt::format("{} tiles a side are too many for a parameterized graph that is written out", tiles));
  // The graph depends only on tile numbers, so each tile has one element; no task runs.
  Config config;
  config.set("workers", 1);
  config.set("bind-threads", false);
  Runtime runtime(config);
  const std::size_t elements = static_cast<std::size_t>(tiles * tiles);
  std::vector<std::vector<double>> memory(3, std::vector<double>(elements));
  const auto matrix = [&](const char* name, std::size_t which) {
    return runtime.tiled_in_place(name, memory[which].data(), tiles, tiles, tiles, 1);
  };
  const auto a = matrix("A", 0), b = matrix("B", 1), c = matrix("C", 2);
  const linalg::Kernels none(nullptr);
  ptg::Graph graph(runtime);
  if (workload == "cholesky")
    linalg::cholesky(graph, none, a);
  else if (workload == "lu")
    linalg::lu(graph, none, a);
  else
    linalg::multiply(graph, none, 1.0, a, b, 1.0, c);
  return ptg::unrolled_graph(ptg::make_class_table(graph.definitions()), most_written_out);
}

Program in_order_of(const unrolled::TaskGraph& graph, const Program& flow) {
  std::map<Uses, std::size_t> number_of;  // of the flow's tasks
  std::vector<std::span<const ProgramUse>> used;
  flow.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
    Uses sorted;
    for (const ProgramUse& use : uses) sorted.emplace_back(static_cast<std::size_t>(use.datum), use.mode);
    std::ranges::sort(sorted);
    number_of.emplace(std::move(sorted), used.size());
    used.push_back(uses);
  });
  if (number_of.size() != used.size() || graph.tasks.size() != used.size())
    throw Error(fmt::format("{} tasks of a flow, {} of them different, are not the {} of a graph",
                            used.size(), number_of.size(), graph.tasks.size()));
  Program out = flow;
  out.tasks.clear();
  out.uses.clear();
  Matcher matcher(graph, flow);
  for (const TaskId task : unfolding_order(graph)) {
    const auto found = number_of.find(matcher.uses_of(task));
    if (found == number_of.end())
      throw Error(fmt::format("{} is no task of the flow", unrolled::label(graph, task)));
    ProgramTask same = flow.tasks[found->second];
    const std::string& name = graph.classes[graph.tasks[task].of].name;
    const std::string& kernel = flow.kernels[static_cast<std::size_t>(same.kernel)];
    if (name != kernel && !name.starts_with(kernel + "_"))
      throw Error(fmt::format("{} is a {} in the flow", unrolled::label(graph, task), kernel));
    same.priority = graph.tasks[task].priority;
    out.add(same, used[found->second]);
    number_of.erase(found);
  }
  return out;
}

}  // namespace fairlead::simulate
