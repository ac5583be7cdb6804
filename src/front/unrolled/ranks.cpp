// Compares the rank of each task with the owner ranks of the data that it takes from memory.
#include "front/unrolled/ranks.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "front/unrolled/edges.hpp"

namespace fairlead::unrolled {

namespace {
std::int32_t rank_of(const CyclicMap& grid, std::span<const std::int32_t> indices) {
  return grid.rank(indices.empty() ? 0 : indices[0], indices.size() < 2 ? 0 : indices[1]);
}

/// "SHIFT(0), which runs on rank 0, at descA(0, 0)"; empty if it runs on the owner rank.
std::string who_reads(const TaskGraph& graph, const EdgeEnd& input, const CyclicMap& grid,
                      std::int32_t owner) {
  const RunsAt& at = graph.runs_at[input.task];
  const std::string reader = label(graph, input.task, input.flow);
  if (at.of == none) return reader + ", whose class does not say where its tasks run";
  const std::span<const std::int32_t> indices(graph.numbers.data() + at.first_number, at.count);
  const std::int32_t own = rank_of(grid, indices);
  if (own == owner) return {};
  return fmt::format("{}, which runs on rank {}, at {}", reader, own,
                     label(graph.collections[at.of], indices));
}
}  // namespace

void check_placement(const TaskGraph& graph, const CyclicMap& grid, Findings& findings) {
  const Ports ports(graph);
  std::vector<bool> given(ports.size(), false);
  for (const EdgeEnd& input : graph.inputs) given[ports.of(input.task, input.flow)] = true;
  std::vector<EdgeEnd> from_memory = graph.inputs;
  // A write-only flow without an input starts in the datum that it is stored in.
  for (const EdgeEnd& output : graph.outputs)
    if (graph.flow(output.task, output.flow).access == FlowAccess::write &&
        !given[ports.of(output.task, output.flow)])
      from_memory.push_back(output);
  for (const EdgeEnd& input : from_memory) {
    if (input.kind != EdgeEnd::Kind::memory) continue;
    const std::int32_t owner = rank_of(grid, graph.indices(input));
    const std::string reader = who_reads(graph, input, grid, owner);
    if (reader.empty()) continue;
    const std::string_view where = graph.where(input);
    findings.add(Kind::on_another_rank,
                 fmt::format("{}{}{} is rank {}'s, and is taken as {}: let a task there forward it", where,
                             where.empty() ? "" : ": ", label(graph, input), owner, reader));
  }
}

}  // namespace fairlead::unrolled
