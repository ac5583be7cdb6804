// The results of several ranks as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "simulate/cluster/cluster_scenario.hpp"
#include "simulate/run_outcome.hpp"

namespace fairlead::simulate {

namespace {

struct RankColumn {
  std::string_view heading, unit;
  std::function<double(const RankResult&)> of;
};

const std::vector<RankColumn>& rank_columns() {
  static const std::vector<RankColumn> all{
      {"tasks", "", [](const RankResult& it) { return static_cast<double>(it.tasks); }},
      {"computing", "s", [](const RankResult& it) { return it.computing_seconds; }},
      {"for network", "s", [](const RankResult& it) { return it.waiting_for_network_seconds; }},
      {"for others", "s", [](const RankResult& it) { return it.waiting_for_others_seconds; }},
      {"in", "GB", [](const RankResult& it) { return static_cast<double>(it.crossed.bytes_in) / 1e9; }},
      {"out", "GB", [](const RankResult& it) { return static_cast<double>(it.crossed.bytes_out) / 1e9; }},
      {"messages", "", [](const RankResult& it) { return static_cast<double>(it.crossed.messages_out); }},
      {"to device", "GB",
       [](const RankResult& it) { return static_cast<double>(it.bytes_to_devices) / 1e9; }},
      {"peak", "GB", [](const RankResult& it) { return static_cast<double>(it.peak_memory) / 1e9; }}};
  return all;
}

Json json_of_rank(const RankResult& rank) {
  Json row = Json::object();
  row.add("tasks", rank.tasks);
  row.add("computing_seconds", rank.computing_seconds);
  row.add("waiting_for_network_seconds", rank.waiting_for_network_seconds);
  row.add("waiting_for_others_seconds", rank.waiting_for_others_seconds);
  row.add("bytes_in", rank.crossed.bytes_in);
  row.add("bytes_out", rank.crossed.bytes_out);
  row.add("messages_in", rank.crossed.messages_in);
  row.add("messages_out", rank.crossed.messages_out);
  row.add("speaking_seconds", seconds(rank.crossed.cpu_time));
  row.add("activates", rank.traffic.activates);
  row.add("requests", rank.traffic.requests);
  row.add("payloads", rank.traffic.payloads);
  row.add("payload_bytes", rank.traffic.payload_bytes);
  row.add("eager_bytes", rank.traffic.eager_bytes);
  row.add("bytes_to_devices", rank.bytes_to_devices);
  row.add("bytes_from_devices", rank.bytes_from_devices);
  row.add("bytes_between_devices", rank.bytes_between_devices);
  row.add("peak_memory_bytes", rank.peak_memory);
  row.add("evictions", rank.evictions);
  return row;
}

}  // namespace

Json ClusterScenario::json(const ClusterResult& result, const ClusterOptions& options) const {
  Json row = Json::object();
  row.add("machine", machine_.name);
  row.add("workload", workload_);
  row.add("n", blueprint_.size().n);
  row.add("tile", blueprint_.size().tile);
  row.add("precision", std::string(name_of(blueprint_.size().precision)));
  row.add("ranks", std::uint64_t{blueprint_.ranks()});
  row.add("grid_rows", std::int64_t{blueprint_.grid().rank_rows});
  row.add("grid_columns", std::int64_t{blueprint_.grid().rank_columns});
  row.add("scheduler", options.policy);
  row.add("seed", options.seed);
  row.add("tasks", result.tasks);
  row.add("seconds", result.seconds);
  row.add("gflops", result.gflops());
  row.add("percent_of_peak", result.percent_of_peak());
  row.add("compute_bound_seconds", result.compute_bound_seconds);
  const net::NetworkTraffic traffic = result.traffic();
  row.add("activates", traffic.activates);
  row.add("requests", traffic.requests);
  row.add("payloads", traffic.payloads);
  row.add("payload_bytes", traffic.payload_bytes);
  row.add("eager_bytes", traffic.eager_bytes);
  row.add("tasks_looked_at", result.tasks_examined);
  row.add("events", result.events);
  row.add("simulation_seconds", result.simulation_seconds);
  row.add("command_digest", fmt::format("{:016x}", result.digest));
  Json ranks = Json::array();
  for (const RankResult& rank : result.ranks) ranks.add(json_of_rank(rank));
  row.add("of_each_rank", std::move(ranks));
  return row;
}

std::string ClusterScenario::title() const {
  return fmt::format("{}, n = {}, tile {}, {}, on {} ranks in a grid of {} x {}\n{}: {}\n", workload_,
                     blueprint_.size().n, blueprint_.size().tile, name_of(blueprint_.size().precision),
                     blueprint_.ranks(), blueprint_.grid().rank_rows, blueprint_.grid().rank_columns,
                     machine_.name, machine_.summary);
}

std::string ClusterScenario::heading(const ClusterResult& first, std::size_t width) {
  return fmt::format(
      "{} tasks, {:.5g} s of computing at best ({:.0f} "
      "GFlop/s)\n\n{:<{}}{:>10}{:>11}{:>8}{:>11}{:>12}{:>12}\n",
      first.tasks, first.compute_bound_seconds, first.gflops_at_best(), "scheduler", width, "seconds",
      "GFlop/s", "% peak", "activates", "payloads", "bytes");
}

std::string ClusterScenario::line(const std::string& policy, const ClusterResult& result, std::size_t width) {
  const net::NetworkTraffic traffic = result.traffic();
  return fmt::format("{:<{}}{:>10.4g}{:>11.0f}{:>8.1f}{:>11}{:>12}{:>12}\n", policy, width, result.seconds,
                     result.gflops(), result.percent_of_peak(), traffic.activates, traffic.payloads,
                     gigabytes(traffic.payload_bytes + traffic.eager_bytes));
}

std::string ClusterScenario::ranks_table(const ClusterResult& result) {
  constexpr std::size_t most = 16;
  std::string heading = fmt::format("\n{:<8}", "rank");
  for (const RankColumn& column : rank_columns())
    heading +=
        fmt::format("{:>15}", column.unit.empty() ? std::string(column.heading)
                                                  : fmt::format("{}, {}", column.heading, column.unit));
  std::string table = heading + "\n";
  const auto line = [&](const std::string& name, const std::function<double(const RankColumn&)>& value) {
    std::string text = fmt::format("{:<8}", name);
    for (const RankColumn& column : rank_columns()) text += fmt::format("{:>15.4g}", value(column));
    table += text + "\n";
  };
  if (result.ranks.size() <= most) {
    for (std::size_t i = 0; i < result.ranks.size(); ++i)
      line(std::to_string(i), [&](const RankColumn& column) { return column.of(result.ranks[i]); });
    return table;
  }
  const auto values = [&](const RankColumn& column) {
    std::vector<double> all;
    for (const RankResult& rank : result.ranks) all.push_back(column.of(rank));
    return all;
  };
  line("least", [&](const RankColumn& column) { return std::ranges::min(values(column)); });
  line("mean", [&](const RankColumn& column) {
    double sum = 0;
    for (const double value : values(column)) sum += value;
    return sum / static_cast<double>(result.ranks.size());
  });
  line("most", [&](const RankColumn& column) { return std::ranges::max(values(column)); });
  return table;
}

}  // namespace fairlead::simulate
