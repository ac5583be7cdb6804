// The simulation of a program by `fairlead simulate`, whatever its origin.
#pragma once
#include <fairlead/config.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/subcommand.hpp"
#include "simulate/study/scenario.hpp"
#include "simulate/study/simulation_settings.hpp"

namespace fairlead::app {

inline constexpr Setting runs_setting{.key = "runs",
                                      .type = SettingType::count,
                                      .default_value = "1",
                                      .minimum = "1",
                                      .maximum = "1000",
                                      .help =
                                          "number of runs of each policy, with --seed and the seeds after "
                                          "it; shown are the mean, the least and the most"};

/// Fairlead's settings that have an effect on it.
inline constexpr auto settings_of_simulate = both(
    simulate::settings_of_simulations,
    std::array{
        AcceptedSetting{
            .key = "scheduler",
            .help = "policies, separated by commas (`fairlead schedulers` lists them and their options), or "
                    "plug-ins (FILE.so); all: every policy (default\tauto: as in real runs)"},
        AcceptedSetting{.key = "json", .help = "write all figures to this file (default\tnone)"},
        AcceptedSetting{.key = "report"}, AcceptedSetting{.key = "trace"},
        AcceptedSetting{.key = "trace-memory"}, AcceptedSetting{.key = "event-log"},
        AcceptedSetting{.key = "record-flow",
                        .refused = "is for real runs: --recorded FILE then simulates them"}});

/// The policies of --scheduler, as policies_in(). Warns of former names.
std::vector<std::string> given_policies(const Config& config, std::string_view otherwise);

/// Simulates under each selected policy and prints the results. Returns an ExitCode.
int run_on_machine(simulate::SimulatedProgram what, const Config& config);

}  // namespace fairlead::app
