// Feeds an event log (fairlead ... --event-log FILE) to a fresh engine and prints what that commands, as
// JSON: the digest must be the "command_digest" of the run that wrote the log. With --change N, the Nth task
// that finished has failed instead, which must give other commands.
//
//   replay_log FILE [--change N]
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "engine/log/log_records.hpp"
#include "engine/replay.hpp"
#include "schedule/policies.hpp"

namespace {

using namespace fairlead;

/// Makes the change; false if so many tasks did not finish.
bool change(std::vector<std::uint64_t>& words, std::uint64_t nth) {
  auto records = tests::records_of(words);
  for (tests::LogRecord& record : records) {
    if (!record.is(EventKind::task_finished) || nth-- != 0) continue;
    record.words[0] += (static_cast<std::uint64_t>(EventKind::task_failed) -
                        static_cast<std::uint64_t>(EventKind::task_finished))
                       << 8;
    words = tests::words_of(records);
    return true;
  }
  return false;
}

int run(const std::string& path, std::optional<std::uint64_t> changed) {
  engine::LogFile log = engine::EventLog::read(path);
  if (changed && !change(log.words, *changed)) throw ConfigError("so many tasks did not finish");
  try {
    const engine::ReplayResult result =
        engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
    fmt::print(R"({{"digest": "{:016x}", "commands": {}, "events": {}, "policy": "{}"}})"
               "\n",
               result.digest, result.commands, result.events, log.head.policy);
  } catch (const InputError& error) {
    // With another event, the engine did not command what the log goes on about.
    if (!changed) throw;
    fmt::print(R"({{"refused": "{}"}})"
               "\n",
               error.what());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<std::uint64_t> changed;
  if (argc == 4 && std::strcmp(argv[2], "--change") == 0) {
    changed = std::strtoull(argv[3], nullptr, 10);
  } else if (argc != 2) {
    fmt::print(stderr, "replay_log FILE [--change N]\n");
    return 2;
  }
  try {
    return run(argv[1], changed);
  } catch (const Error& error) {
    fmt::print(stderr, "replay_log: {}\n", error.what());
    return 1;
  }
}
