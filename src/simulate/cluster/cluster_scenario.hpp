// A parameterized graph on several simulated ranks, with the settings of its runs: `fairlead simulate` with --ranks or
// --grid, and the same in the C interface.
#pragma once
#include <fairlead/config.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "machine/description.hpp"
#include "simulate/cluster/blueprint.hpp"
#include "simulate/cluster/cluster.hpp"
#include "simulate/machine.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

inline constexpr std::array cluster_settings = {
    Setting{.key = "ranks",
            .type = SettingType::count,
            .unset_word = "none",
            .minimum = "1",
            .maximum = "4096",
            .help = "number of ranks on which the workload runs as a parameterized graph, with the machine's "
                    "network between its nodes: cholesky, lu, gemm, stencil or pingpong"},
    Setting{
        .key = "ranks-per-node",
        .type = SettingType::count,
        .default_value = "1",
        .minimum = "1",
        .maximum = "64",
        .help = "number of ranks that share a node: its cores, devices and interfaces are divided among them",
        .advanced = true},
    Setting{.key = "grid",
            .type = SettingType::text,
            .unset_word = "auto",
            .value_name = "ROWSxCOLUMNS",
            .help = "grid of ranks over which tiles are distributed: 6x8",
            .unset_meaning = "the squarest grid with no more rows than columns",
            .advanced = true}};

/// Fairlead's settings that have an effect on several ranks only.
inline constexpr std::array settings_of_clusters = {
    AcceptedSetting{.key = "eager-limit"}, AcceptedSetting{.key = "broadcast-tree"},
    AcceptedSetting{
        .key = "receive-into",
        .help = "where values of other ranks arrive: in the host's memory (also auto), in that of the device "
                "where the data of their task should live, or in that of any device (default\tauto)"}};

/// Whether several ranks are simulated. Throws ConfigError for options of several ranks without them.
bool is_on_cluster(const Config& config);

/// Any number of threads may run it at the same time.
class ClusterScenario {
 public:
  /// Throws ConfigError, also for settings that are for one node only.
  ClusterScenario(const std::string& workload, const WorkloadSize& size,
                  const machine::MachineDescription& node, const Config& config);

  const ClusterOptions& options() const noexcept { return options_; }
  /// The name of the policy where "auto" is written.
  std::string policy_name(const std::string& written) const;
  /// Throws Error if the run does not finish.
  ClusterResult run(const ClusterOptions& options) const {
    return simulate(blueprint_, machine_, use_, options);
  }
  Json json(const ClusterResult& result, const ClusterOptions& options) const;

  // ---- the text of the command. `width`: of the column of policies.

  /// Workload, ranks and machine; two lines.
  std::string title() const;
  static std::string heading(const ClusterResult& first, std::size_t width);
  static std::string line(const std::string& policy, const ClusterResult& result, std::size_t width);
  /// A table: few ranks are listed, many are summarized.
  static std::string ranks_table(const ClusterResult& result);

 private:
  std::string workload_;
  machine::MachineDescription machine_;  ///< of one rank
  MachineConfig use_;
  ClusterOptions options_;
  Blueprint blueprint_;
};

}  // namespace fairlead::simulate
