// A random simulated run, and all data that its replay needs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/replay.hpp"
#include "random/run.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {

using random_runs::random_run, random_runs::RunOptions, random_runs::RunResult;

struct LoggedRun {
  std::string policy;
  Topology machine;
  engine::Options options;
  std::vector<std::uint64_t> words;
  std::uint64_t digest = 0, commands = 0;
  bool has_failed = false;  ///< an internal error or the program stopped the engine

  engine::ReplayResult replay() const { return replay(words); }
  engine::ReplayResult replay(const std::vector<std::uint64_t>& changed) const {
    return engine::replay(machine, schedule::make_policy(policy), options, changed);
  }
};

inline LoggedRun logged_run(std::uint64_t seed, RunOptions options) {
  LoggedRun run;
  run.policy = options.policy;
  options.at_end = [&run](const engine::Engine& engine) {
    run.machine = engine.memory().topology();
    run.options = engine.options();
    run.words = engine.journal().log().words();
    run.digest = engine.journal().digest().value();
    run.commands = engine.journal().digest().count();
    run.has_failed = const_cast<engine::Engine&>(engine).fatal() != nullptr;
  };
  RunResult result;
  random_run(seed, options, result);  // other tests check the run itself
  return run;
}

}  // namespace fairlead::tests
