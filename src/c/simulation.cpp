// Makes and runs simulations of the C interface.
#include "c/simulation.hpp"

#include <fmt/format.h>
#include <fairlead/factorization.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include "backend/sim/timeline.hpp"
#include "base/suggest.hpp"
#include "c/call_thread.hpp"
#include "c/callback_policy.hpp"
#include "c/status.hpp"
#include "c/versioned_struct.hpp"
#include "c/workload.hpp"
#include "config/builder.hpp"
#include "config/join_tables.hpp"
#include "machine/machine_files.hpp"
#include "schedule/policies.hpp"
#include "simulate/study/simulation_settings.hpp"

namespace fairlead::c {

namespace {

using namespace fairlead::simulate;

/// In addition to those of all simulations.
constexpr auto own_settings = both(std::array{Setting{.key = "phase",
                                                      .type = SettingType::count,
                                                      .unset_word = "all",
                                                      .minimum = "1",
                                                      .help = "the phase of a recorded flow"},
                                              Setting{.key = "front",
                                                      .type = SettingType::choice,
                                                      .default_value = "flow",
                                                      .choices = "flow|ptg|jdf",
                                                      .help = "front end of a workload"}},
                                   cluster_settings);
constexpr auto settings_of_library = both(settings_of_simulations, settings_of_clusters);
/// What the arguments of a run state, and a file.
constexpr std::string_view not_settings[] = {"seed", "csv"};

/// A message that names options of the command, in the words of the library: without hyphens in front.
std::string without_hyphens(std::string text) {
  for (std::size_t at = text.find("--"); at != text.npos; at = text.find("--", at))
    if ((at == 0 || text[at - 1] == ' ' || text[at - 1] == '(' || text[at - 1] == '`') &&
        at + 2 < text.size() && text[at + 2] >= 'a' && text[at + 2] <= 'z')
      text.erase(at, 2);
    else
      at += 2;
  return text;
}

/// Calls f. Its errors name settings, not options.
template <class F>
auto naming_settings(F&& f) {
  try {
    return f();
  } catch (const ConfigError& error) {
    throw ConfigError(without_hyphens(error.what()));
  }
}

/// The settings as the command reads its options, so that both mean the same.
Config config_of(std::span<const fairlead_setting> given) {
  std::vector<Setting> options;
  const auto add = [&](std::span<const Setting> table) {
    std::ranges::copy_if(table, std::back_inserter(options), [](const Setting& setting) {
      return std::ranges::find(not_settings, setting.key) == std::end(not_settings);
    });
  };
  add(simulation_settings);
  add(own_settings);
  // Also what scenarios read and refuse.
  std::vector<AcceptedSetting> accepted(settings_of_library.begin(), settings_of_library.end());
  std::vector<std::string_view> keys;
  for (const Setting& setting : options) keys.push_back(setting.key);
  for (const AcceptedSetting& setting : accepted)
    if (std::ranges::find(not_settings, setting.key) == std::end(not_settings)) keys.push_back(setting.key);
  config::ConfigSources sources{.arguments = {}, .environment = config::process_environment()};
  for (const fairlead_setting& setting : given) {
    const std::string_view key = required(setting.key, "the key of a setting");
    if (std::ranges::find(keys, key) == keys.end())
      throw ConfigError(fmt::format("a simulation has no setting \"{}\"{}", key, did_you_mean(key, keys)));
    sources.arguments.push_back(
        fmt::format("--{}={}", key, required(setting.value, "the value of a setting")));
  }
  return config::parse(sources, {.program = "simulate", .options = options, .settings = accepted}).config;
}

std::unique_ptr<fairlead_simulation> make_simulation(const fairlead_workload& workload,
                                                     const fairlead_simulation_options& options) {
  const Config config = config_of({options.settings, options.setting_count});
  const machine::MachineDescription machine = options.machine == nullptr
                                                  ? machine::load_machine(config.text("machine"))
                                                  : machine::read_machine(options.machine, "the machine");
  auto simulation = std::make_unique<fairlead_simulation>();
  if (!is_on_cluster(config)) {
    simulation->scenario = std::make_unique<const Scenario>(workload.program(config), machine, config);
  } else {
    if (workload.name.empty())
      throw ConfigError("only named workloads run on several ranks: leave out ranks and grid");
    simulation->scenario =
        std::make_unique<const ClusterScenario>(workload.name, size_of(config), machine, config);
  }
  return simulation;
}

fairlead_simulation_result result_of(const Scenario& scenario, const RunOutcome& outcome) {
  fairlead_simulation_result result{.json = scenario.json(outcome).text(), .order = {}};
  for (const TaskRun& run : outcome.result.order)
    result.order.push_back({.task = run.task,
                            .worker = static_cast<std::uint32_t>(index(run.worker)),
                            .start = seconds(run.start),
                            .end = seconds(run.end)});
  return result;
}

/// Under a policy of the program.
RunOutcome outcome_of_callbacks(const Scenario& scenario, const fairlead_policy& given,
                                SimulationOptions options, std::stop_token stop) {
  const fairlead_policy policy = read_versioned(given, fairlead_policy{}, "policy");
  if (policy.ready == nullptr || policy.pick == nullptr)
    throw UsageError("a policy needs the functions ready and pick");
  PolicyFailure failure;
  options.stop_requested = &failure.stop_requested;
  const std::stop_callback on_stop(std::move(stop), [&] { failure.stop_requested.store(true); });
  try {
    return scenario.run(std::make_unique<CallbackPolicy>(policy, scenario.program().tasks.size(),
                                                         scenario.program().data.size(), failure),
                        policy.name == nullptr ? "program" : policy.name, options);
  } catch (const backend::SimulationStopped&) {
    if (failure.by_callback) throw CallbackError("a function of the policy has failed");
    if (!failure.text.empty()) throw UsageError(failure.text);
    throw;
  }
}

fairlead_simulation_result run_of(const fairlead_simulation& simulation, const fairlead_run_options& given,
                                  const std::stop_token& stop) {
  std::atomic<bool> stop_requested{false};
  const std::stop_callback on_stop(stop, [&] { stop_requested.store(true); });
  const std::string policy = given.scheduler == nullptr ? std::string(automatic) : given.scheduler;
  const std::uint64_t seed = given.seed == 0 ? 1 : given.seed;
  if (const auto* const one = std::get_if<std::unique_ptr<const Scenario>>(&simulation.scenario)) {
    const Scenario& scenario = **one;
    SimulationOptions options = scenario.options();
    options.seed = seed;
    options.keep_order = given.record_order != 0;
    options.stop_requested = &stop_requested;
    return result_of(scenario, given.policy == nullptr
                                   ? scenario.run(scenario.policy_name(policy), options)
                                   : outcome_of_callbacks(scenario, *given.policy, options, stop));
  }
  if (given.policy != nullptr)
    throw UsageError("a policy of the program is for one machine: leave out ranks and grid");
  const ClusterScenario& cluster = *std::get<std::unique_ptr<const ClusterScenario>>(simulation.scenario);
  ClusterOptions options = cluster.options();
  options.policy = cluster.policy_name(policy);
  options.seed = seed;
  options.stop_requested = &stop_requested;
  return {.json = cluster.json(cluster.run(options), options).text(), .order = {}};
}

/// On another thread if the program may cancel the run.
fairlead_simulation_result cancellable_run(const fairlead_simulation& simulation,
                                           const fairlead_run_options& given) {
  if (given.cancelled == nullptr) return run_of(simulation, given, {});
  fairlead_simulation_result result;
  CallThread thread;
  thread.run(
      [&](const std::stop_token& stop) {
        try {
          result = run_of(simulation, given, stop);
        } catch (const backend::SimulationStopped&) {
          throw linalg::CancelledError("the simulation was cancelled");
        }
      },
      [&] { return given.cancelled(given.cancelled_context) != 0; });
  return result;
}

/// Of an element of a list whose names are literals, which end with a zero.
template <class List>
const char* name_in_list(const List& list, std::size_t number) {
  return number < list.size() ? list[number].name.data() : nullptr;
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

const char* fairlead_workload_name(size_t number) { return c::name_in_list(simulate::workloads(), number); }

const char* fairlead_machine_name(size_t number) {
  return c::name_in_list(machine::built_in_machine_files(), number);
}

const char* fairlead_scheduler_name(size_t number) { return c::name_in_list(schedule::policies(), number); }

fairlead_status fairlead_simulation_create(const fairlead_workload* workload,
                                           const fairlead_simulation_options* options,
                                           fairlead_simulation** simulation) {
  return c::status_of([&] {
    c::required(simulation, "simulation");
    const fairlead_workload& of = *c::required(workload, "workload");
    const fairlead_simulation_options none{};
    const fairlead_simulation_options read =
        options == nullptr ? none : c::read_versioned(*options, none, "options");
    if (read.setting_count != 0) c::required(read.settings, "settings");
    *simulation = c::naming_settings([&] { return c::make_simulation(of, read); }).release();
  });
}

fairlead_status fairlead_simulation_run(const fairlead_simulation* simulation,
                                        const fairlead_run_options* options,
                                        fairlead_simulation_result** result) {
  return c::status_of([&] {
    c::required(result, "result");
    const fairlead_simulation& of = *c::required(simulation, "simulation");
    const fairlead_run_options none{};
    const fairlead_run_options read =
        options == nullptr ? none : c::read_versioned(*options, none, "options");
    *result =
        new fairlead_simulation_result(c::naming_settings([&] { return c::cancellable_run(of, read); }));
  });
}

const char* fairlead_simulation_result_json(const fairlead_simulation_result* result) {
  return result == nullptr ? nullptr : result->json.c_str();
}

fairlead_status fairlead_simulation_result_order(const fairlead_simulation_result* result,
                                                 const fairlead_task_run** runs, size_t* count) {
  return c::status_of([&] {
    c::required(result, "result");
    *c::required(runs, "runs") = result->order.data();
    *c::required(count, "count") = result->order.size();
  });
}

void fairlead_simulation_result_free(fairlead_simulation_result* result) { delete result; }

void fairlead_simulation_free(fairlead_simulation* simulation) { delete simulation; }
