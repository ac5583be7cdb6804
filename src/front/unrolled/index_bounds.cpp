// Compares the indices of all data with the extents of their collections.
#include "front/unrolled/index_bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::unrolled {

namespace {

class Outside {
 public:
  Outside(const TaskGraph& graph, Findings& findings) : graph_(graph), findings_(findings) {}

  bool is_outside(std::uint32_t collection, std::span<const std::int32_t> at) const {
    if (collection >= graph_.extents.size()) return false;
    const std::vector<std::int64_t>& extents = graph_.extents[collection];
    for (std::size_t i = 0; i < std::min(extents.size(), at.size()); ++i)
      if (at[i] < 0 || (extents[i] >= 0 && at[i] >= extents[i])) return true;
    return false;
  }

  void tell(std::string_view where, const std::string& what, std::uint32_t collection,
            std::span<const std::int32_t> at) {
    if (!findings_.needs_text(Kind::out_of_bounds)) return findings_.count(Kind::out_of_bounds);
    std::vector<std::string> sizes;
    for (const std::int64_t extent : graph_.extents[collection])
      sizes.push_back(extent < 0 ? "?" : std::to_string(extent));
    findings_.add(Kind::out_of_bounds,
                  fmt::format("{}{}{} {}, and {} has {} tiles", where, where.empty() ? "" : ": ", what,
                              label(graph_.collections[collection], at), graph_.collections[collection],
                              fmt::join(sizes, " x ")));
  }

 private:
  const TaskGraph& graph_;
  Findings& findings_;
};

}  // namespace

void check_bounds(const TaskGraph& graph, const Ports& ports, const Edges& edges, Findings& findings) {
  if (graph.extents.empty()) return;
  Outside outside(graph, findings);
  const auto look_at = [&](const EdgeEnd& end, const char* verb) {
    if (end.kind != EdgeEnd::Kind::memory || !outside.is_outside(end.of, graph.indices(end))) return;
    outside.tell(graph.where(end), fmt::format("{} {}", label(graph, end.task, end.flow), verb), end.of,
                 graph.indices(end));
  };
  for (TaskId task = 0; task < graph.runs_at.size(); ++task) {
    const RunsAt& at = graph.runs_at[task];
    if (at.of == none) continue;
    const std::span<const std::int32_t> indices(graph.numbers.data() + at.first_number, at.count);
    if (outside.is_outside(at.of, indices))
      outside.tell(at.place == none ? std::string_view() : graph.source_lines[at.place],
                   fmt::format("{} runs at", label(graph, task)), at.of, indices);
  }
  for (std::uint32_t i = 0; i < graph.inputs.size(); ++i)
    if (edges.inputs.given[ports.of(graph.inputs[i].task, graph.inputs[i].flow)] == i)
      look_at(graph.inputs[i], "takes");
  for (const EdgeEnd& end : graph.outputs) look_at(end, "goes to");
}

}  // namespace fairlead::unrolled
