// Accelerators are sorted by how long they take for a sample of the tasks and for the way of what these use.
#include "schedule/rehearsed/dispensable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace fairlead::schedule::rehearsed {

namespace {

struct Sort {
  double nanoseconds = 0;  // of the sample, and of the ways there
  std::vector<std::size_t> workers;
};

/// From the nearest other node: 0 if there is none.
Duration way_to(const View& view, NodeId node, Bytes bytes) {
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
  return static_cast<double>((sum + way_to(view, worker.node, bytes)).count());
}

}  // namespace

Dispensable dispensable(const View& view, std::span<Task* const> tasks) {
  std::vector<std::size_t> cores;
  std::vector<Sort> sorts;  // of accelerators, the worst first
  for (const WorkerInfo& worker : view.workers()) {
    if (worker.kind == WorkerKind::cpu) {
      cores.push_back(index(worker.id));
      continue;
    }
    const double takes = nanoseconds_of(view, worker, tasks);
    constexpr double alike = 1.1;
    const auto same = std::ranges::find_if(sorts, [&](const Sort& sort) {
      return sort.nanoseconds <= takes * alike && takes <= sort.nanoseconds * alike;
    });
    (same != sorts.end() ? *same : sorts.emplace_back(Sort{takes, {}})).workers.push_back(index(worker.id));
  }
  std::ranges::stable_sort(sorts, std::greater{}, &Sort::nanoseconds);
  Dispensable found;
  const auto named = [](const std::vector<std::size_t>& workers) {
    return fmt::format("{}", fmt::join(workers, "+"));
  };
  const auto add = [&](const std::vector<std::size_t>& workers) {
    if (found.worse.size() < most_dispensable) found.worse.push_back(named(workers));
  };
  if (!cores.empty() && !sorts.empty()) add(cores);
  std::vector<std::size_t> worst;
  for (std::size_t i = 0; i + 1 < sorts.size(); ++i) {
    worst.insert(worst.end(), sorts[i].workers.begin(), sorts[i].workers.end());
    add(worst);
  }
  constexpr std::size_t many = 4;
  if (!sorts.empty() && sorts.back().workers.size() >= many) {
    // Whole devices: without some of its streams one has as much to compute and to bring.
    const auto& best = sorts.back().workers;
    std::vector<NodeId> nodes;
    for (const std::size_t worker : best)
      if (const NodeId node = view.workers()[worker].node; std::ranges::find(nodes, node) == nodes.end())
        nodes.push_back(node);
    const auto half = nodes.begin() + static_cast<std::ptrdiff_t>((nodes.size() + 1) / 2);
    std::ranges::copy_if(best, std::back_inserter(worst), [&](std::size_t worker) {
      return std::find(half, nodes.end(), view.workers()[worker].node) != nodes.end();
    });
    if (nodes.size() > 1) found.surplus.push_back(named(worst));
  }
  return found;
}

}  // namespace fairlead::schedule::rehearsed
