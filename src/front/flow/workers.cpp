// How many workers a task needs at once: what no memory node has is refused where it is submitted.
#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "front/flow/flow_source.hpp"

namespace fairlead::front {

/// Adds the nodes with too few workers to those that are excluded. Throws UsageError if none is left.
std::uint16_t FlowSource::workers_wanted(const Submission& submission, std::uint32_t& excluded) const {
  const unsigned wanted = submission.workers.count();
  if (submission.workers.or_fewer()) return static_cast<std::uint16_t>(wanted);
  const Topology& topology = core_.topology();
  std::vector<unsigned> cores(topology.nodes.size());
  for (const WorkerSpec& worker : topology.workers)
    cores[index(worker.node)] += worker.kind == WorkerKind::cpu;
  const auto may_run_on = [&](const WorkerSpec& worker) {
    return ((submission.codelet->kinds >> static_cast<unsigned>(worker.kind)) & 1u) != 0 &&
           ((excluded >> index(worker.node)) & 1u) == 0;
  };
  unsigned most = 0;
  for (const WorkerSpec& worker : topology.workers)
    if (may_run_on(worker)) most = std::max(most, cores[index(worker.node)]);
  for (std::size_t i = 0; i < cores.size(); ++i)
    if (cores[i] != 0 && cores[i] < wanted) excluded |= 1u << i;
  if (std::ranges::none_of(topology.workers, may_run_on))
    throw UsageError(
        fmt::format("{} needs {} workers at once, and there {} {} where it can run\n  submitted at {}:{}\n"
                    "  Say at_most({}) or all_workers if fewer will do, or set workers = {}.",
                    text_of(submission), wanted, most == 1 ? "is" : "are", most, submission.file,
                    submission.line, wanted, wanted));
  return static_cast<std::uint16_t>(wanted);
}

}  // namespace fairlead::front
