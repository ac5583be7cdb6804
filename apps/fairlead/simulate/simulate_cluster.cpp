// See simulate_cluster.hpp.
#include "fairlead/simulate/simulate_cluster.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "config/value.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/front.hpp"
#include "fairlead/simulate/simulation_settings.hpp"
#include "machine/machine_files.hpp"
#include "simulate/cluster/cluster.hpp"
#include "simulate/cluster/part_of_node.hpp"
#include "simulate/default_policy.hpp"
#include "simulate/run_outcome.hpp"

namespace fairlead::app {

using namespace fairlead::simulate;

namespace {

bool is_on_command_line(const Config& config, std::string_view key) {
  return std::ranges::any_of(config.report(), [&](const SettingReport& row) {
    return row.setting.key == key && row.origin == Origin::command_line;
  });
}

CyclicMap grid_of(const Config& config) {
  if (!config.has("grid")) return Distribution::grid_of(static_cast<std::uint32_t>(config.count("ranks")));
  const std::string& text = config.text("grid");
  const std::optional<CyclicMap> grid = simulate::grid_in(text);
  if (!grid)
    throw ConfigError(fmt::format(
        "--grid is \"{}\", but must be rows and columns of at most 4,096 ranks, as in 6x8", text));
  const auto ranks =
      static_cast<std::uint64_t>(grid->rank_rows) * static_cast<std::uint64_t>(grid->rank_columns);
  if (config.has("ranks") && ranks != config.count("ranks"))
    throw ConfigError(
        fmt::format("--grid {} has {} ranks, but --ranks is {}", text, ranks, config.count("ranks")));
  return *grid;
}

void refuse_what_is_of_one_node(const Config& config) {
  for (const char* key :
       {"data", "priorities", "memory-model", "slow", "misjudged", "csv", "charge-decisions", "runs",
        "window", "fixed-order", "report", "trace", "event-log", "first-run"})
    if (is_on_command_line(config, key))
      throw ConfigError(fmt::format("--{} does not work with several ranks", key));
  if (is_on_command_line(config, "front") && front_in(config) != Front::ptg)
    throw ConfigError("several ranks need a parameterized graph: --front ptg");
}

struct Column {
  std::string_view heading, unit;
  std::function<double(const RankResult&)> of;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
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

/// Few ranks are listed, many are summarized.
void print_ranks(const ClusterResult& result) {
  constexpr std::size_t most = 16;
  std::string heading = fmt::format("\n{:<8}", "rank");
  for (const Column& column : columns())
    heading +=
        fmt::format("{:>15}", column.unit.empty() ? std::string(column.heading)
                                                  : fmt::format("{}, {}", column.heading, column.unit));
  fmt::print("{}\n", heading);
  const auto line = [](const std::string& name, const std::function<double(const Column&)>& value) {
    std::string text = fmt::format("{:<8}", name);
    for (const Column& column : columns()) text += fmt::format("{:>15.4g}", value(column));
    fmt::print("{}\n", text);
  };
  if (result.ranks.size() <= most) {
    for (std::size_t i = 0; i < result.ranks.size(); ++i)
      line(std::to_string(i), [&](const Column& column) { return column.of(result.ranks[i]); });
    return;
  }
  const auto values = [&](const Column& column) {
    std::vector<double> all;
    for (const RankResult& rank : result.ranks) all.push_back(column.of(rank));
    return all;
  };
  line("least", [&](const Column& column) { return std::ranges::min(values(column)); });
  line("mean", [&](const Column& column) {
    double sum = 0;
    for (const double value : values(column)) sum += value;
    return sum / static_cast<double>(result.ranks.size());
  });
  line("most", [&](const Column& column) { return std::ranges::max(values(column)); });
}

Json json(const RankResult& rank) {
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

Json json(const ClusterResult& result, const Blueprint& blueprint, const std::string& machine,
          const std::string& workload, const ClusterOptions& options) {
  Json row = Json::object();
  row.add("machine", machine);
  row.add("workload", workload);
  row.add("n", blueprint.size().n);
  row.add("tile", blueprint.size().tile);
  row.add("precision", std::string(name_of(blueprint.size().precision)));
  row.add("ranks", std::uint64_t{blueprint.ranks()});
  row.add("grid_rows", std::int64_t{blueprint.grid().rank_rows});
  row.add("grid_columns", std::int64_t{blueprint.grid().rank_columns});
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
  for (const RankResult& rank : result.ranks) ranks.add(json(rank));
  row.add("of_each_rank", std::move(ranks));
  return row;
}

}  // namespace

bool is_on_cluster(const Config& config) {
  if (config.has("ranks") || config.has("grid")) return true;
  for (const std::string_view only : {"eager-limit", "broadcast-tree", "ranks-per-node", "receive-into"})
    if (is_on_command_line(config, only))
      throw ConfigError(fmt::format("--{} is for several ranks: give --ranks", only));
  return false;
}

int run_on_cluster(const std::string& workload, const WorkloadSize& size, const Config& config) {
  refuse_what_is_of_one_node(config);
  require_place_for_report(config);
  const CyclicMap grid = grid_of(config);
  const machine::MachineDescription machine =
      part_of_node(machine::load_machine(config.text("machine")), config.count("ranks-per-node"));
  const MachineConfig use = use_of(config, machine);
  ClusterOptions options{.policy = {},
                         .seed = config.count("seed"),
                         .noise_percent = static_cast<unsigned>(config.count("noise")),
                         .pipeline_depth = config.count_or("pipeline-depth", 0)};
  options.advice = advice_in(config.text("advice"));
  options.landing = front::landing_in(config.text("receive-into")).value();
  if (options.landing == front::ReceivePlacement::automatic) options.landing = front::ReceivePlacement::host;
  if (options.landing != front::ReceivePlacement::host && !uses_devices(use, machine))
    throw ConfigError("--receive-into has no effect here: no device is used");
  options.protocol.eager_bytes = config.bytes("eager-limit");
  options.protocol.tree_from = config.count("broadcast-tree");
  std::vector<std::string> policies = policies_in(config.text_or("scheduler", "auto"));
  std::ranges::replace(policies, std::string(automatic), automatic_policy_of_ranks(use, machine));
  const Blueprint blueprint(workload, size, grid);
  fmt::print("{}, n = {}, tile {}, {}, on {} ranks in a grid of {} x {}\n{}: {}\n\n", workload, size.n,
             size.tile, name_of(size.precision), blueprint.ranks(), grid.rank_rows, grid.rank_columns,
             machine.name, machine.summary);
  std::size_t width = 16;
  for (const std::string& policy : policies) width = std::max(width, policy.size() + 1);
  Json rows = Json::array();
  for (const std::string& policy : policies) {
    options.policy = policy;
    const ClusterResult result = simulate::simulate(blueprint, machine, use, options);
    const net::NetworkTraffic traffic = result.traffic();
    if (policy == policies.front())
      fmt::print(
          "{} tasks, {:.5g} s of computing at best ({:.0f} "
          "GFlop/s)\n\n{:<{}}{:>10}{:>11}{:>8}{:>11}{:>12}{:>12}\n",
          result.tasks, result.compute_bound_seconds, result.gflops_at_best(), "scheduler", width, "seconds",
          "GFlop/s", "% peak", "activates", "payloads", "bytes");
    fmt::print("{:<{}}{:>10.4g}{:>11.0f}{:>8.1f}{:>11}{:>12}{:>12}\n", policy, width, result.seconds,
               result.gflops(), result.percent_of_peak(), traffic.activates, traffic.payloads,
               gigabytes(traffic.payload_bytes + traffic.eager_bytes));
    if (policies.size() == 1) print_ranks(result);
    std::fflush(stdout);
    rows.add(json(result, blueprint, machine.name, workload, options));
  }
  if (config.has("json")) write_json(config.text("json"), rows);
  return success;
}

}  // namespace fairlead::app
