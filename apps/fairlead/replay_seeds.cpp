// See replay_seeds.hpp.
#include "fairlead/replay_seeds.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/subcommand.hpp"
#include "schedule/policies.hpp"
#include "simulate/random/run.hpp"

namespace fairlead::app {

namespace {

struct Seeds {
  std::uint64_t first, last;
};

std::uint64_t number(std::string_view text, const std::string& written) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw ConfigError(fmt::format("--seeds is \"{}\", which is not like 1-20000", written));
  return value;
}

Seeds seeds_in(const std::string& written) {
  const std::size_t dash = std::min(written.find('-'), written.size());
  const std::string_view text = written;
  const Seeds seeds{number(text.substr(0, dash), written),
                    number(dash == text.size() ? text : text.substr(dash + 1), written)};
  if (seeds.last < seeds.first)
    throw ConfigError(fmt::format("--seeds is \"{}\", which ends before it begins", written));
  return seeds;
}

/// Everything else follows from the seed.
void refuse_what_says_nothing(const Config& config) {
  for (const SettingReport& row : config.report()) {
    const std::string_view key = row.setting.key;
    const bool means_something = key == "replay" || key == "seed" || key == "seeds" || key == "scheduler";
    if (row.origin == Origin::command_line && !means_something)
      throw ConfigError(
          fmt::format("--{} has no effect with --replay: all but the policy follows from the seed", key));
  }
}

random_runs::RunPlan plan_of(std::uint64_t seed, const Config& config) {
  random_runs::RunOptions options = random_runs::options_of(seed);
  if (config.has("scheduler")) options.policy = config.text("scheduler");
  return {seed, std::move(options)};
}

int replay_one(std::uint64_t seed, const Config& config) {
  const random_runs::RunPlan plan = plan_of(seed, config);
  fmt::print("seed {}\n{}", seed, plan.text());
  std::fflush(stdout);
  random_runs::RunResult result;
  const auto failed = random_runs::run(plan, result);
  fmt::print("ran: {} tasks, {} were cancelled or failed; {} copies, {} bytes moved, {} evictions; {} ns\n",
             result.tasks_run, result.tasks_cancelled, result.copies, result.bytes_moved, result.evictions,
             result.end_time);
  fmt::print("digest of the commands: {:016x}\n", result.digest);
  if (!failed) {
    fmt::print("all invariants hold\n");
    return success;
  }
  std::fflush(stdout);
  fmt::print(stderr, "fairlead: seed {}: {}\n", seed, *failed);
  return failure;
}

int replay_many(const Seeds& seeds, const Config& config) {
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t failures = 0, evict = 0, several_caches = 0, faults = 0, tasks = 0;
  for (std::uint64_t seed = seeds.first;; ++seed) {
    const random_runs::RunPlan plan = plan_of(seed, config);
    random_runs::RunResult result;
    if (const auto failed = random_runs::run(plan, result)) {
      ++failures;
      fmt::print(stderr, "fairlead: seed {} ({}): {}\n", seed, plan.options.policy, *failed);
    }
    evict += result.evictions != 0;
    several_caches += plan.caches() >= 3;
    faults += plan.faults() != 0;
    tasks += result.tasks_run;
    if (seed == seeds.last) break;
  }
  fmt::print("{} runs, {} tasks: {} evict, {} have three caches, {} have faults; {} fail\n{:.1f} s\n",
             seeds.last - seeds.first + 1, tasks, evict, several_caches, faults, failures,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  return failures == 0 ? success : failure;
}

}  // namespace

int replay_seeds(const Config& config) {
  refuse_what_says_nothing(config);
  if (config.has("scheduler"))
    schedule::make_policy(config.text("scheduler"));  // refused before anything runs
  if (config.has("seeds")) return replay_many(seeds_in(config.text("seeds")), config);
  return replay_one(config.count("seed"), config);
}

}  // namespace fairlead::app
