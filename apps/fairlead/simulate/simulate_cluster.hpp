// `fairlead simulate` with --ranks or --grid: a parameterized graph on several nodes of a machine at once.
#pragma once
#include <fairlead/config.hpp>

#include <array>
#include <string>

#include "fairlead/subcommand.hpp"
#include "simulate/workload.hpp"

namespace fairlead::app {

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
/// Simulates and prints the results under each selected policy. Returns an ExitCode.
int run_on_cluster(const std::string& workload, const simulate::WorkloadSize& size, const Config& config);

}  // namespace fairlead::app
