// fairlead replay-log: replays the log of a run on a new engine and checks that the commands are the same.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "engine/replay.hpp"
#include "fairlead/subcommand.hpp"
#include "schedule/policies.hpp"

namespace fairlead::app {

namespace {

/// An unknown policy is not a usage error: the log names it.
std::unique_ptr<Policy> policy_of(const std::string& path, const engine::LogHead& head) {
  try {
    return schedule::make_policy(head.policy);
  } catch (const ConfigError& error) {
    throw InputError(
        fmt::format("\"{}\" is the log of a run under an unknown policy: {}", path, error.what()));
  }
}

engine::ReplayResult replayed(const std::string& path, const engine::LogFile& log) {
  std::unique_ptr<Policy> policy = policy_of(path, log.head);
  try {
    return engine::replay(log.head, std::move(policy), log.words);
  } catch (const InputError& error) {
    throw InputError(fmt::format("\"{}\": {}", path, error.what()));
  }
}

int run(const ParsedCommandLine& given) {
  const std::string& path = given.positionals.front();
  const engine::LogFile log = engine::EventLog::read(path);
  const engine::ReplayResult result = replayed(path, log);
  fmt::print("{}: {} events under {}, {} workers\n", path, result.events, log.head.policy,
             log.head.topology.workers.size());
  if (!result.difference.empty()) {
    std::fflush(stdout);
    throw InputError(
        fmt::format("the commands that follow from \"{}\" differ from those of its run: {}. The log was "
                    "changed, or another version of Fairlead wrote it",
                    path, result.difference));
  }
  if (result.compared != 0)
    fmt::print("the same {} commands follow as in the run; their digest is {:016x}\n", result.commands,
               result.digest);
  else
    fmt::print(
        "{} commands follow; their digest is {:016x}. This log, of an older version, lacks the digest of the "
        "run: compare with the command_digest of its report\n",
        result.commands, result.digest);
  try {
    if (result.fatal) std::rethrow_exception(result.fatal);
  } catch (const std::exception& error) {
    fmt::print("then the engine fails, as in the run: {}\n", error.what());
  }
  return success;
}

constexpr Positional positionals[] = {
    {.name = "FILE", .help = "the log that a run with --event-log FILE wrote"}};

}  // namespace

const Subcommand replay_log{.name = "replay-log",
                            .summary = "Replays the log of a run and checks that the same commands follow.",
                            .positionals = positionals,
                            .options = {},
                            .run = run,
                            .settings = takes_no_settings};

}  // namespace fairlead::app
