// The simulation of a program by `fairlead simulate`, whatever its origin.
#pragma once
#include <fairlead/config.hpp>

#include <array>
#include <string>

#include "fairlead/simulate/simulation_settings.hpp"
#include "fairlead/subcommand.hpp"
#include "simulate/program.hpp"
#include "simulate/workload.hpp"

namespace fairlead::app {

/// The simulated program and its origin.
struct Simulated {
  std::string name;  ///< of the workload, or the file
  simulate::Program program;
  const simulate::Workload* workload = nullptr;  ///< null: of a file
  simulate::WorkloadSize size{};
};

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
    settings_of_simulations,
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

/// Simulates under each selected policy and prints the results. Returns an ExitCode.
int run_on_machine(const Simulated& what, const Config& config);

}  // namespace fairlead::app
