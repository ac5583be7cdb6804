// The random runs of the tests, one or many of them, outside the tests:
//   fairlead-seeds --seed 17                                prints the run and its result
//   fairlead-seeds --seeds 1-20000 [--scheduler blocks]     prints the seeds that fail
// A build with FAIRLEAD_DELIBERATE_MISTAKES also takes --plant MISTAKE.
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "random/mistakes.hpp"
#include "random/run.hpp"
#include "schedule/policies.hpp"

namespace fairlead::random_runs {
namespace {

enum ExitCode : int { success = 0, failure = 1, usage = 2 };

constexpr AcceptedSetting settings[] = {
    {.key = "seed", .help = "the run of this seed, shown (default\t0)"},
    {.key = "scheduler", .help = "the policy (default\tit follows from the seed, like all else)"}};
constexpr Setting options[] = {
    {.key = "seeds",
     .type = SettingType::text,
     .unset_word = "none",
     .value_name = "FIRST-LAST",
     .help = "all these instead of --seed; those that fail are named"},
#ifdef FAIRLEAD_DELIBERATE_MISTAKES
    {.key = "plant",
     .type = SettingType::text,
     .unset_word = "none",
     .value_name = "MISTAKE",
     .help = "memory or engine make this mistake, to see that it is caught"},
#endif
};
constexpr CommandLine command_line{.program = "fairlead-seeds",
                                   .summary = "Repeats random runs that the tests make.",
                                   .positionals = {},
                                   .options = options,
                                   .settings = settings};

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

#ifdef FAIRLEAD_DELIBERATE_MISTAKES
DeliberateMistake mistake_called(const std::string& written) {
  std::vector<std::string_view> names;
  for (const Mistake mistake : mistakes()) {
    names.push_back(name_of(mistake));
    if (written == names.back()) return mistake;
  }
  throw ConfigError(
      fmt::format("--plant: no mistake is called \"{}\"; there are {}", written, fmt::join(names, ", ")));
}
#endif

RunPlan plan_of(std::uint64_t seed, const Config& config) {
  RunOptions asked = options_of(seed);
  if (config.has("scheduler")) asked.policy = config.text("scheduler");
#ifdef FAIRLEAD_DELIBERATE_MISTAKES
  if (config.has("plant")) asked.mistake = mistake_called(config.text("plant"));
#endif
  return {seed, std::move(asked)};
}

int replay_one(std::uint64_t seed, const Config& config) {
  const RunPlan plan = plan_of(seed, config);
  fmt::print("seed {}\n{}", seed, plan.text());
  std::fflush(stdout);
  RunResult result;
  const auto failed = run(plan, result);
  fmt::print("ran: {} tasks, {} were cancelled or failed; {} copies, {} bytes moved, {} evictions; {} ns\n",
             result.tasks_run, result.tasks_cancelled, result.copies, result.bytes_moved, result.evictions,
             result.end_time);
  fmt::print("digest of the commands: {:016x}\n", result.digest);
  if (!failed) {
    fmt::print("all invariants hold\n");
    return success;
  }
  std::fflush(stdout);
  fmt::print(stderr, "fairlead-seeds: seed {}: {}\n", seed, *failed);
  return failure;
}

int replay_many(const Seeds& seeds, const Config& config) {
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t failures = 0, evict = 0, several_caches = 0, faults = 0, tasks = 0, digest = 0;
  for (std::uint64_t seed = seeds.first;; ++seed) {
    const RunPlan plan = plan_of(seed, config);
    RunResult result;
    if (const auto failed = run(plan, result)) {
      ++failures;
      fmt::print(stderr, "fairlead-seeds: seed {} ({}): {}\n", seed, plan.options.policy, *failed);
    }
    evict += result.evictions != 0;
    several_caches += plan.caches() >= 3;
    faults += plan.faults() != 0;
    tasks += result.tasks_run;
    digest = Random::mix(digest ^ result.digest);
    if (seed == seeds.last) break;
  }
  fmt::print("{} runs, {} tasks: {} evict, {} have three caches, {} have faults; {} fail\n",
             seeds.last - seeds.first + 1, tasks, evict, several_caches, faults, failures);
  fmt::print("digest of all their commands: {:016x}\n{:.1f} s\n", digest,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  return failures == 0 ? success : failure;
}

int seeds_main(int argc, char** argv) {
  const ParsedCommandLine parsed = Config::parse(argc, argv, command_line);
  if (parsed.help) {
    fmt::print("{}", help_text(command_line));
    return success;
  }
  const Config& config = parsed.config;
  if (config.has("scheduler"))
    schedule::make_policy(config.text("scheduler"));  // refused before anything runs
  if (config.has("seeds")) return replay_many(seeds_in(config.text("seeds")), config);
  return replay_one(config.count("seed"), config);
}

}  // namespace
}  // namespace fairlead::random_runs

int main(int argc, char** argv) {
  using namespace fairlead;
  const auto complain = [](const Error& error, int code) {
    fmt::print(stderr, "fairlead-seeds: {}\n", error.what());
    return code;
  };
  try {
    return random_runs::seeds_main(argc, argv);
  } catch (const ConfigError& error) {
    return complain(error, random_runs::usage);
  } catch (const Error& error) {
    return complain(error, random_runs::failure);
  }
}
