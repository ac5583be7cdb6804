// Lower bounds of the time for any schedule: the total work, and the longest chain of tasks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "simulate/longest_path.hpp"
#include "simulate/machine.hpp"

namespace fairlead::simulate {

namespace {

/// Tasks of one kernel, size and duration.
struct Group {
  double tasks = 0;
  std::vector<double> seconds;  // by kind of worker; infinite if it cannot run them
};

/// The dual of the area bound (a linear program with one variable for each kind of worker). For any prices per second
/// of each kind that sum to one over all workers, the least total cost of the tasks is a lower bound of the time.
double cost(const std::vector<Group>& groups, const std::vector<double>& prices) {
  double sum = 0;
  for (const Group& group : groups) {
    double cheapest = std::numeric_limits<double>::infinity();
    for (std::size_t kind = 0; kind < prices.size(); ++kind)
      cheapest = std::min(cheapest, group.seconds[kind] * prices[kind]);
    sum += group.tasks * cheapest;
  }
  return sum;
}

}  // namespace

double SimulatedMachine::compute_bound(const Work& work) const {
  // The workers of a kind that share a processor have `together` times the throughput of one of them, at most that of
  // all alone. If kinds share a processor, such as cores and devices that run on cores, each counts as if alone, which
  // weakens the bound.
  std::vector<double> workers(kinds_of_workers_.size());
  std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> sharers;  // by kind and processor
  for (std::size_t worker = 0; worker < kind_of_worker_.size(); ++worker) {
    auto& [count, taken] = sharers[{kind_of_worker_[worker], processor_of_worker_[worker]}];
    ++count;
    taken = topology_.workers[worker].cores_used();
  }
  for (const auto& [of, sharer] : sharers)
    workers[of.first] += std::min(sharer.first, processor_throughput_[of.second] / sharer.second);
  std::vector<Group> groups;
  work.for_each([&](const ProgramTask& task, double count) {
    Group& group = groups.emplace_back();
    group.tasks = count;
    for (std::size_t kind = 0; kind < workers.size(); ++kind) {
      const bool can = workers[kind] > 0 && runs_on(task, kind);
      group.seconds.push_back(can ? seconds(duration_on(task, kind))
                                  : std::numeric_limits<double>::infinity());
    }
  });

  // Coordinate ascent: the price share of one kind after the other is optimized; the cost is concave in it. With one or
  // two kinds this yields the optimum, with more a valid, possibly weaker bound.
  std::vector<double> shares(workers.size(), 0);
  for (std::size_t kind = 0; kind < workers.size(); ++kind)
    if (workers[kind] > 0) shares[kind] = 1;
  const auto bound = [&](const std::vector<double>& weights) {
    double all = 0;
    for (const double weight : weights) all += weight;
    std::vector<double> prices;
    for (std::size_t kind = 0; kind < weights.size(); ++kind)
      prices.push_back(workers[kind] > 0 ? weights[kind] / all / workers[kind] : 0);
    for (std::size_t kind = 0; kind < weights.size(); ++kind)
      if (workers[kind] == 0) prices[kind] = 1;  // multiplied by an infinite duration
    return cost(groups, prices);
  };
  double best = bound(shares);
  for (int round = 0; round < 8; ++round)
    for (std::size_t kind = 0; kind < workers.size(); ++kind) {
      if (workers[kind] == 0) continue;
      double low = -12, high = 12;  // of the logarithm
      std::vector<double> tried = shares;
      const auto at = [&](double logarithm) {
        tried[kind] = std::exp(logarithm);
        return bound(tried);
      };
      for (int step = 0; step < 60; ++step) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        (at(a) < at(b) ? low : high) = at(a) < at(b) ? a : b;
      }
      if (at(low) <= best) continue;
      best = at(low);
      shares = tried;
    }
  return best;
}

Duration SimulatedMachine::least_duration(const ProgramTask& task) const {
  Duration least = Duration::max();
  for (std::size_t kind = 0; kind < rates_.size(); ++kind) {
    if (!runs_on(task, kind) || std::ranges::find(kind_of_worker_, kind) == kind_of_worker_.end()) continue;
    least = std::min(least, duration_on(task, kind));
  }
  return least;
}

TimeBounds SimulatedMachine::bounds(const Program& program) const {
  const auto paths =
      longest_paths(program, [this](const ProgramTask& task) { return least_duration(task).count(); });
  const std::int64_t longest = paths.empty() ? 0 : *std::ranges::max_element(paths);
  Work work;
  for (const ProgramTask& task : program.tasks) work.add(task);
  return {.compute = compute_bound(work), .critical_path = seconds(Duration(longest))};
}

}  // namespace fairlead::simulate
