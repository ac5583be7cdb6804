// Groups accelerators by the time that they need for a sample of the tasks and the transfers of the data of these.
#include "schedule/what_if/unneeded_workers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace fairlead::schedule::what_if {

namespace {

struct DeviceGroup {
  double nanoseconds = 0;  // of the sample, transfers included
  std::vector<std::size_t> workers;
};

/// The time of a transfer from the nearest other node; 0 if there is none.
Duration transfer_time_to(const View& view, NodeId node, Bytes bytes) {
  Duration least = Duration::max();
  for (const NodeInfo& other : view.nodes())
    if (other.id != node) least = std::min(least, view.transfer_time(bytes, other.id, node));
  return least == Duration::max() ? Duration{} : least;
}

double nanoseconds_of(const View& view, const WorkerInfo& worker, std::span<Task* const> tasks) {
  constexpr std::size_t sample = 64;
  const std::size_t step = std::max<std::size_t>(1, tasks.size() / sample);
  Duration sum{};
  Bytes bytes = 0;
  for (std::size_t i = 0; i < tasks.size(); i += step) {
    if (view.can_run(*tasks[i], worker.id)) sum += view.estimate(*tasks[i], worker.id);
    for (const Access& access : tasks[i]->accesses()) bytes += view.bytes(access.datum);
  }
  return static_cast<double>((sum + transfer_time_to(view, worker.node, bytes)).count());
}

}  // namespace

UnneededWorkers find_unneeded_workers(const View& view, std::span<Task* const> tasks) {
  std::vector<std::size_t> cores;
  std::vector<DeviceGroup> groups;  // groups of accelerators, slowest first
  for (const WorkerInfo& worker : view.workers()) {
    if (worker.kind == WorkerKind::cpu) {
      cores.push_back(index(worker.id));
      continue;
    }
    const double takes = nanoseconds_of(view, worker, tasks);
    constexpr double alike = 1.1;
    const auto same = std::ranges::find_if(groups, [&](const DeviceGroup& sort) {
      return sort.nanoseconds <= takes * alike && takes <= sort.nanoseconds * alike;
    });
    (same != groups.end() ? *same : groups.emplace_back(DeviceGroup{takes, {}}))
        .workers.push_back(index(worker.id));
  }
  std::ranges::stable_sort(groups, std::greater{}, &DeviceGroup::nanoseconds);
  UnneededWorkers found;
  const auto named = [](const std::vector<std::size_t>& workers) {
    return fmt::format("{}", fmt::join(workers, "+"));
  };
  const auto add = [&](const std::vector<std::size_t>& workers) {
    if (found.slower.size() < max_unneeded_sets) found.slower.push_back(named(workers));
  };
  if (!cores.empty() && !groups.empty()) add(cores);
  std::vector<std::size_t> worst;
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    worst.insert(worst.end(), groups[i].workers.begin(), groups[i].workers.end());
    add(worst);
  }
  constexpr std::size_t many = 4;
  if (!groups.empty() && groups.back().workers.size() >= many) {
    // Only whole devices: a device without some of its streams has as much to compute and to transfer.
    const auto& best = groups.back().workers;
    std::vector<NodeId> nodes;
    for (const std::size_t worker : best)
      if (const NodeId node = view.workers()[worker].node; std::ranges::find(nodes, node) == nodes.end())
        nodes.push_back(node);
    const auto half = nodes.begin() + static_cast<std::ptrdiff_t>((nodes.size() + 1) / 2);
    std::ranges::copy_if(best, std::back_inserter(worst), [&](std::size_t worker) {
      return std::find(half, nodes.end(), view.workers()[worker].node) != nodes.end();
    });
    if (nodes.size() > 1) found.redundant.push_back(named(worst));
  }
  return found;
}

}  // namespace fairlead::schedule::what_if
