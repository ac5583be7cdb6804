// fairlead compare: policies compared with the first of them, on a simulated machine. A single size is not
// representative: whether one more tile fits may decide. So neighbouring sizes run as well, and with noise
// several seeds.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "config/given.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/simulate/simulate_on_machine.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"
#include "report/report_file.hpp"
#include "simulate/study/policy_ratios.hpp"
#include "simulate/study/simulation_settings.hpp"

namespace fairlead::app {

namespace {

using namespace fairlead::simulate;

constexpr std::array own = {
    Setting{.key = "neighbours",
            .type = SettingType::count,
            .default_value = "1",
            .maximum = "20",
            .help = "number of sizes below and above n that are run as well, in steps of a tile",
            .advanced = true},
    Setting{.key = "runs",
            .type = SettingType::count,
            .unset_word = "auto",
            .minimum = "1",
            .maximum = "1000",
            .help = "number of runs of each size, with --seed and the seeds after it",
            .unset_meaning = "1; 3 with --noise or --charge-decisions"},
};
constexpr auto options = both(simulation_settings, own);
constexpr std::string_view of_one_run = "needs a single run: use `fairlead simulate`, or --json";
constexpr auto settings = both(
    settings_of_simulations,
    std::array{
        AcceptedSetting{
            .key = "scheduler",
            .help =
                "policies, separated by commas (`fairlead schedulers` lists them and their options), or "
                "plug-ins (FILE.so); the first is the baseline; all: every policy (default\teager,darts)"},
        AcceptedSetting{.key = "json", .help = "write all figures to this file (default\tnone)"},
        AcceptedSetting{.key = "report", .refused = of_one_run},
        AcceptedSetting{.key = "trace", .refused = of_one_run},
        AcceptedSetting{.key = "event-log", .refused = of_one_run}});
constexpr Positional positionals[] = {{.name = "WORKLOAD",
                                       .help = "as for `fairlead simulate`; none: Cholesky on one V100 with "
                                               "2000 MB, in single precision, as in Figure 5 "
                                               "of the DARTS paper",
                                       .required = false}};

/// The defaults: Figure 5 of Gonthier, Marchal, Thibault 2023.
constexpr std::pair<std::string_view, std::string_view> figure_5[] = {
    {"machine", "v100-pcie"}, {"precision", "single"}, {"gpus", "1"}, {"memory", "2000MB"}};

int run(const ParsedCommandLine& given) {
  Config config = given.config;
  const std::string workload = given.positionals.empty() ? "cholesky" : given.positionals[0];
  if (given.positionals.empty())
    for (const auto& [key, value] : figure_5)
      if (!config::is_set(config, key)) config.set(key, value);
  const std::vector<std::string> policies = given_policies(config, "eager,darts");
  if (policies.size() < 2)
    throw ConfigError(fmt::format(
        "--scheduler {} is one policy: give at least two, separated by commas, as in --scheduler {},{}",
        policies[0], policies[0], policies[0] == "darts" ? "eager" : "darts"));
  const std::vector<WorkloadSize> sizes =
      neighbouring_sizes(size_of(config), static_cast<std::int64_t>(config.count("neighbours")));
  const bool varies = config.count("noise") != 0 || config.flag("charge-decisions");
  const std::uint64_t seeds = config.count_or("runs", varies ? 3 : 1);
  for (const char* file : {"json", "csv"})
    if (config.has(file)) report::require_place_for(config.text(file));
  const machine::MachineDescription machine = machine::load_machine(config.text("machine"));

  const PolicyComparison compared =
      compare_policies(workload, sizes, policies, seeds, machine, config, [](const Scenario& scenario) {
        fmt::print("{}: {} tasks, at best {:.3f} s\n", scenario.program().title,
                   scenario.program().tasks.size(), scenario.limits().time.compute);
        std::fflush(stdout);
      });
  if (config.has("csv")) report::write_file(config.text("csv"), compared.csv);
  fmt::print("{}: {}\n", machine.name, machine.summary);
  fmt::print("time and bytes relative to {}: mean, least and most over {} sizes{}\n\n",
             compared.policies[0].scheduler, sizes.size(),
             seeds > 1 ? fmt::format(" with {} seeds each", seeds) : "");
  fmt::print("{}", compared.table());
  if (config.has("json")) write_json(config.text("json"), compared.json());
  int code = success;
  for (const PolicyRatios& policy : compared.policies) {
    if (policy.problem.empty()) continue;
    fmt::print(stderr, "fairlead: {} did not finish: {}\n", policy.scheduler, policy.problem);
    code = failure;
  }
  return code;
}

}  // namespace

const Subcommand compare{
    .name = "compare",
    .summary = "Compares policies on a workload by simulation of a machine that you need not have.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .settings = settings};

}  // namespace fairlead::app
