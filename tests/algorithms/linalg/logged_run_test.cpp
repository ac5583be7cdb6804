// Real runs with an event log: at every capacity and number of workers the factor equals that of a run in core bit for bit,
// and a replay of the log gives the same commands.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "algorithms/linalg/tile_digest.hpp"
#include "algorithms/linalg/world.hpp"
#include "engine/log/log_records.hpp"
#include "engine/replay.hpp"
#include "schedule/policies.hpp"

namespace fairlead::linalg::testing {
namespace {

constexpr std::int64_t n = 1024;
constexpr std::int32_t tile = 64;
constexpr Bytes tile_bytes = tile * tile * sizeof(double), all_tiles = 16 * 17 / 2;

class LoggedRuns : public ::testing::Test {
 protected:
  ~LoggedRuns() override { std::filesystem::remove(path_); }

  struct Outcome {
    std::uint64_t factor = 0;
    Runtime::Digest commands;
    Bytes bytes_read = 0;
    std::uint64_t generated = 0;
  };
  /// Writes its log to the file.
  Outcome run(Setting setting, Bytes tiles, bool on_first_touch = false) {
    setting.memory = tiles * tile_bytes + 4096;
    Config config = config_of(setting);
    config.set("event-log", path_);
    Runtime runtime(config);
    const std::shared_ptr<const MatrixSource<double>> source = std::make_shared<GeneratedSpd<double>>(n, 17);
    const auto a = on_first_touch
                       ? runtime.tiled<double>("A", n, n, tile, generated_from(source), Tiles::lower)
                       : runtime.tiled<double>("A", n, n, tile, Tiles::lower);
    Flow flow(runtime);
    if (!on_first_touch) fill<double>(flow, source, a, Tiles::lower);
    flow.wait();
    runtime.flush();
    runtime.drop_clean();
    cholesky(flow, kernels(), a);
    wait_for_results(flow);
    Outcome outcome;
    outcome.bytes_read = runtime.disk_traffic().read;
    TileDigest<double> digest(Tiles::lower);
    digest.submit(flow, a);
    flow.wait();
    runtime.flush();
    outcome.factor = digest.value();
    outcome.generated = runtime.statistics().generated.copies;
    outcome.commands = runtime.command_digest();
    return outcome;
  }
  static engine::ReplayResult replay(const engine::LogFile& log) {
    return engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
  }

  std::string path_ =
      (std::filesystem::temp_directory_path() / ("fairlead-" + std::to_string(getpid()) + ".log")).string();
};

TEST_F(LoggedRuns, EqualTheRunInCoreAndReplayToTheSameCommands) {
  const Outcome in_core = run({}, all_tiles + 1);
  const char* const policies[] = {"lws", "darts", "eager", "blocks", "darts-defer", "dmdas", "ap"};
  std::size_t turn = 0, reading = 0;
  for (const std::size_t workers : {1, 2, 4})
    for (const Bytes tiles : {3, 4, 5, 6, 8, 12, 20, 34, 50, 68, 100, 136}) {
      SCOPED_TRACE(std::to_string(workers) + " workers, memory of " + std::to_string(tiles) + " tiles, " +
                   policies[turn % 5]);
      const Outcome outcome = run({.workers = workers, .scheduler = policies[turn++ % 5]}, tiles);
      EXPECT_EQ(outcome.factor, in_core.factor);
      reading += outcome.bytes_read > all_tiles * tile_bytes;
      const engine::ReplayResult again = replay(engine::EventLog::read(path_));
      EXPECT_EQ(again.digest, outcome.commands.value);
      EXPECT_EQ(again.commands, outcome.commands.commands);
    }
  EXPECT_GE(reading, 30u);  // ten of twelve capacities read more than each tile once
}

// The matrix is generated when the factorization first reads it, each tile once: the bits are equal.
TEST_F(LoggedRuns, GiveTheSameBitsIfTheMatrixIsGeneratedOnFirstUse) {
  const Outcome in_core = run({}, all_tiles + 1);
  for (const char* policy : {"lws", "darts", "blocks"})
    for (const Bytes tiles : {3, 12, 50, 136}) {
      SCOPED_TRACE(std::string(policy) + ", memory of " + std::to_string(tiles) + " tiles");
      const Outcome outcome = run({.workers = 2, .scheduler = policy}, tiles, true);
      EXPECT_EQ(outcome.factor, in_core.factor);
      EXPECT_EQ(outcome.generated, all_tiles);
      const engine::ReplayResult again = replay(engine::EventLog::read(path_));
      EXPECT_EQ(again.digest, outcome.commands.value);
    }
}

// Tasks or copies that fail instead of finishing, in the first half of the run: nothing depends on the last events.
TEST_F(LoggedRuns, GiveOtherCommandsIfAnEventDiffers) {
  const Outcome outcome = run({.scheduler = "darts"}, 20);
  const engine::LogFile log = engine::EventLog::read(path_);
  const auto become = [](tests::LogRecord& record, EventKind kind) {
    record.words[0] = (record.words[0] & ~std::uint64_t{0xff00}) | (static_cast<std::uint64_t>(kind) << 8);
  };
  std::size_t changes = 0;
  const auto records = tests::records_of(log.words);
  for (std::size_t i = 0; i < records.size() / 2; i += 1 + records.size() / 150) {
    auto changed = records;
    auto at = i;
    while (at < changed.size() && !changed[at].is(EventKind::task_finished) &&
           !changed[at].is(EventKind::copy_finished))
      ++at;
    if (at == changed.size()) break;
    if (changed[at].is(EventKind::task_finished)) {
      become(changed[at], EventKind::task_failed);
    } else {
      become(changed[at], EventKind::copy_failed);
      changed[at].words.push_back(EIO);
    }
    ++changes;
    engine::LogFile other{log.head, tests::words_of(changed)};
    std::uint64_t digest = 0;
    try {
      digest = replay(other).digest;
    } catch (const InputError&) {
      continue;  // the engine's commands differ from those of the log
    }
    EXPECT_NE(digest, outcome.commands.value) << "record " << at;
  }
  EXPECT_GE(changes, 50u);
}

}  // namespace
}  // namespace fairlead::linalg::testing
