// fairlead info: prints the machine as Fairlead detects it; with --config, also all settings and their
// origins.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/subcommand.hpp"
#include "solver/report/machine_report.hpp"

namespace fairlead::app {

namespace {

void print_settings(const Config& config) {
  std::size_t widest = 0;
  for (const SettingReport& row : config.report()) widest = std::max(widest, row.value.size());
  fmt::print("\n{:<18}{:<{}}from\n", "setting", "value", widest + 2);
  for (const SettingReport& row : config.report()) {
    const std::string from = row.where.empty() ? std::string(name_of(row.origin))
                                               : fmt::format("{}: {}", name_of(row.origin), row.where);
    fmt::print("{:<18}{:<{}}{}\n", row.setting.key, row.value, widest + 2, from);
  }
}

int run(const ParsedCommandLine& given) {
  const Config& config = given.config;
  solver::MpiReport mpi = solver::mpi_report();
  if (mpi.rank != 0) return success;  // the first rank prints
  const solver::MachineReport report = solver::machine_report(config, kernel_environment(), std::move(mpi));
  fmt::print("{}", solver::text(report, config));
  if (given.list_config) print_settings(config);
  if (config.has("json")) write_json(config.text("json"), solver::json(report, config));
  return success;
}

}  // namespace

const Subcommand info{
    .name = "info",
    .summary = "Shows the machine: cores, memory, disk, kernels, devices; with --config, every setting.",
    .positionals = {},
    .options = {},
    .run = run,
    .config_lists = true};

}  // namespace fairlead::app
