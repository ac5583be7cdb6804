// Reads the settings of several ranks.
#include "simulate/cluster/cluster_scenario.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include "config/given.hpp"
#include "simulate/cluster/part_of_node.hpp"
#include "simulate/default_policy.hpp"
#include "simulate/study/simulation_settings.hpp"

namespace fairlead::simulate {

namespace {

CyclicMap grid_of(const Config& config) {
  if (!config.has("grid")) return Distribution::grid_of(static_cast<std::uint32_t>(config.count("ranks")));
  const std::string& text = config.text("grid");
  const std::optional<CyclicMap> grid = grid_in(text);
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

void refuse_settings_of_one_node(const Config& config) {
  for (const char* key :
       {"data", "priorities", "memory-model", "slow", "misjudged", "csv", "charge-decisions", "runs",
        "window", "fixed-order", "report", "trace", "event-log", "first-run"})
    if (config::is_on_command_line(config, key))
      throw ConfigError(fmt::format("--{} does not work with several ranks", key));
  if (config::is_on_command_line(config, "front") && config.text("front") != "ptg")
    throw ConfigError("several ranks need a parameterized graph: --front ptg");
}

ClusterOptions cluster_options(const Config& config, bool devices) {
  ClusterOptions options{.policy = {},
                         .seed = config.count("seed"),
                         .noise_percent = static_cast<unsigned>(config.count("noise")),
                         .pipeline_depth = config.count_or("pipeline-depth", 0)};
  options.advice = advice_in(config.text("advice"));
  options.landing = front::landing_in(config.text("receive-into")).value();
  if (options.landing == front::ReceivePlacement::automatic) options.landing = front::ReceivePlacement::host;
  if (options.landing != front::ReceivePlacement::host && !devices)
    throw ConfigError("--receive-into has no effect here: no device is used");
  options.protocol.eager_bytes = config.bytes("eager-limit");
  options.protocol.tree_from = config.count("broadcast-tree");
  return options;
}

}  // namespace

bool is_on_cluster(const Config& config) {
  if (config.has("ranks") || config.has("grid")) return true;
  for (const std::string_view only : {"eager-limit", "broadcast-tree", "ranks-per-node", "receive-into"})
    if (config::is_on_command_line(config, only))
      throw ConfigError(fmt::format("--{} is for several ranks: give --ranks", only));
  return false;
}

ClusterScenario::ClusterScenario(const std::string& workload, const WorkloadSize& size,
                                 const machine::MachineDescription& node, const Config& config)
    : workload_((refuse_settings_of_one_node(config), workload)),
      machine_(part_of_node(node, config.count("ranks-per-node"))),
      use_(use_of(config, machine_)),
      options_(cluster_options(config, uses_devices(use_, machine_))),
      blueprint_(workload, size, grid_of(config)) {}

std::string ClusterScenario::policy_name(const std::string& written) const {
  return written == automatic ? automatic_policy_of_ranks(use_, machine_) : written;
}

}  // namespace fairlead::simulate
