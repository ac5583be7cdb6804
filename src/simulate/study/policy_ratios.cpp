// Runs the policies, and averages the ratios.
#include "simulate/study/policy_ratios.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>

#include "simulate/run_statistics.hpp"

namespace fairlead::simulate {

void Ratios::add(double ratio) {
  logarithms_ += std::log(ratio);
  least_ = std::min(least_, ratio);
  most_ = std::max(most_, ratio);
  ++count_;
}
double Ratios::mean() const { return std::exp(logarithms_ / static_cast<double>(count_)); }
std::string Ratios::text() const { return any() ? fmt::format("{:.3f}", mean()) : "-"; }
std::string Ratios::range() const { return any() ? fmt::format("{:.3f}-{:.3f}", least_, most_) : "-"; }

namespace {

void take(PolicyRatios& ratios, const RunOutcome& outcome, const RunOutcome& first, const Limits& limits) {
  if (!outcome.problem.empty()) {
    if (ratios.problem.empty()) ratios.problem = outcome.problem;
    return;
  }
  ++ratios.finished;
  ratios.gflops += gflops(outcome, limits);
  ratios.percent += percent_of_peak(outcome, limits);
  ratios.loaded += static_cast<double>(bytes_loaded(outcome));
  if (!first.problem.empty()) return;
  ratios.time.add(outcome.result.seconds / first.result.seconds);
  if (bytes_loaded(first) != 0 && bytes_loaded(outcome) != 0)
    ratios.bytes.add(static_cast<double>(bytes_loaded(outcome)) / static_cast<double>(bytes_loaded(first)));
}

Json json_of_policy(const PolicyRatios& it) {
  const auto number = [](const Ratios& ratios, double value) { return ratios.any() ? Json(value) : Json(); };
  Json row = Json::object();
  row.add("scheduler", it.scheduler);
  row.add("time_ratio", number(it.time, it.time.mean()));
  row.add("least_time_ratio", number(it.time, it.time.least()));
  row.add("most_time_ratio", number(it.time, it.time.most()));
  row.add("bytes_ratio", number(it.bytes, it.bytes.mean()));
  row.add("least_bytes_ratio", number(it.bytes, it.bytes.least()));
  row.add("most_bytes_ratio", number(it.bytes, it.bytes.most()));
  row.add("runs", it.runs);
  return row;
}

}  // namespace

std::string PolicyComparison::table() const {
  std::size_t width = 24;  // a path may need more
  for (const PolicyRatios& it : policies) width = std::max(width, it.scheduler.size() + 1);
  std::string text =
      fmt::format("{:<{}}{:>9}{:>8}{:>8}{:>14}{:>13}{:>8}{:>14}\n", "scheduler", width, "GFlop/s", "% peak",
                  "time", "least-most", devices ? "to devices" : "from disk", "bytes", "least-most");
  for (const PolicyRatios& it : policies) {
    if (it.finished == 0)
      text += fmt::format("{:<{}}never finished\n", it.scheduler, width);
    else
      text += fmt::format("{:<{}}{:>9.0f}{:>8.1f}{:>8}{:>14}{:>10.1f} GB{:>8}{:>14}\n", it.scheduler, width,
                          it.mean(it.gflops), it.mean(it.percent), it.time.text(), it.time.range(),
                          it.mean(it.loaded) * 1e-9, it.bytes.text(), it.bytes.range());
  }
  return text;
}

Json PolicyComparison::json() const {
  Json rows = Json::array();
  for (const PolicyRatios& it : policies) rows.add(json_of_policy(it));
  return rows;
}

std::vector<WorkloadSize> neighbouring_sizes(const WorkloadSize& middle, std::int64_t neighbours) {
  std::vector<WorkloadSize> sizes;
  for (std::int64_t step = -neighbours; step <= neighbours; ++step) {
    sizes.push_back(middle);
    sizes.back().n += step * middle.tile;
  }
  if (sizes.front().n < 1)
    throw ConfigError(
        fmt::format("--n {}: too small for --neighbours {} in steps of a tile of {}: use a larger n, a "
                    "smaller --tile, or --neighbours 0",
                    middle.n, neighbours, middle.tile));
  return sizes;
}

PolicyComparison compare_policies(const std::string& workload, const std::vector<WorkloadSize>& sizes,
                                  const std::vector<std::string>& policies, std::uint64_t seeds,
                                  const machine::MachineDescription& machine, const Config& config,
                                  const std::function<void(const Scenario&)>& on_size) {
  PolicyComparison all{.policies = std::vector<PolicyRatios>(policies.size()), .csv = csv_heading()};
  for (const WorkloadSize& size : sizes) {
    const Scenario scenario(workload_program(workload, size, WorkloadFront::flow), machine, config);
    all.devices = scenario.machine().devices() > 0;
    std::vector<PolicyStatistics> runs;
    for (std::size_t i = 0; i < policies.size(); ++i) {
      std::string& name = all.policies[i].scheduler;
      if (name.empty()) name = scenario.policy_name(policies[i]);
      runs.push_back({.scheduler = name});
    }
    on_size(scenario);
    SimulationOptions options = scenario.options();
    const std::uint64_t first_seed = options.seed;
    for (options.seed = first_seed; options.seed - first_seed < seeds; ++options.seed) {
      RunOutcome first;
      for (std::size_t i = 0; i < policies.size(); ++i) {
        const RunOutcome outcome = scenario.run(all.policies[i].scheduler, options);
        if (i == 0) first = outcome;
        take(all.policies[i], outcome, first, scenario.limits());
        runs[i].add(outcome, scenario.limits());
        runs[i].compare(outcome, first);
        all.policies[i].runs.add(scenario.json(outcome));
      }
    }
    for (const PolicyStatistics& of_size : runs) all.csv += csv_line(of_size, machine.name, workload, size);
  }
  return all;
}

}  // namespace fairlead::simulate
