// Durations kept for later runs: what is kept, that errors with the file do not fail a run, and that the event log
// contains the durations that a run started with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/fairlead.hpp>

#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/replay.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "model/codelets.hpp"
#include "schedule/policies.hpp"
#include "temporary_directory.hpp"

namespace fairlead {

using model::Basis;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

class KeptRuns : public testing::Test {
 protected:
  KeptRuns() {
    config.set("workers", 1);
    config.set("memory", "2MiB");
    config.set("disk-directory", directory.path().string());
    config.set("cache-directory", (directory / "cache").string());
  }

  /// Runs twenty tasks of a codelet on one number; returns the standard error output.
  std::string run() {
    testing::internal::CaptureStderr();
    {
      Runtime runtime(config);
      double x = 0;
      const auto handle = runtime.value("x", x);
      const auto add = codelet("add").cpu([](InOut<double> number, double by) { *number += by; });
      Flow flow(runtime);
      for (int i = 0; i < 20; ++i) flow.submit(add(handle, 1.0));
      flow.wait();
      EXPECT_EQ(x, 20);
    }
    return testing::internal::GetCapturedStderr();
  }
  /// The only machine file.
  std::filesystem::path machine_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(directory / "cache"))
      if (entry.path().extension() == ".txt") return entry.path();
    return {};
  }
  static model::Estimate estimate_of_add(Runtime& runtime) {
    const engine::Engine& engine = front::core_of(runtime).engine();
    return front::core_of(runtime).engine().locked([&](memory::Memory&) {
      return engine.durations().estimate(tests::named("add"), model::Processor(WorkerKind::cpu),
                                         tests::data_of({sizeof(double)}));
    });
  }

  const tests::TemporaryDirectory directory;
  Config config;
};

}  // namespace

TEST_F(KeptRuns, StartWithTheDurationsOfTheLastRun) {
  EXPECT_EQ(run(), "");
  Runtime runtime(config);
  EXPECT_EQ(estimate_of_add(runtime).basis, Basis::history);
}

TEST_F(KeptRuns, KeepNothingIfDisabled) {
  config.set("keep-durations", false);
  EXPECT_EQ(run(), "");
  EXPECT_FALSE(std::filesystem::exists(directory / "cache"));
}

TEST_F(KeptRuns, StartWithNothingIfDisabled) {
  run();
  config.set("keep-durations", false);
  Runtime runtime(config);
  EXPECT_EQ(estimate_of_add(runtime).basis, Basis::nothing);
}

TEST_F(KeptRuns, NeedNoCacheDirectory) {
  config.set("cache-directory", "none");
  EXPECT_EQ(run(), "");
}

TEST_F(KeptRuns, DoNotFailIfTheCacheDirectoryIsNotWritable) {
  std::ofstream(directory / "cache") << "a file";
  const std::string said = run();
  EXPECT_THAT(
      said,
      StartsWith("fairlead: how long tasks took is not kept for later runs: cannot make the directory"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1);
}

TEST_F(KeptRuns, ReportAndReplaceAnInvalidFile) {
  run();
  std::ofstream(machine_file()) << "nonsense";
  EXPECT_THAT(run(),
              HasSubstr("is not a file of Fairlead: it is not used; what this run learns takes its place\n"));
  EXPECT_EQ(run(), "");
}

// The same decisions need the same estimates: the log contains those that its run started with.
TEST_F(KeptRuns, CanBeReplayedFromTheirLogAlone) {
  config.set("scheduler", "darts");
  config.set("event-log", (directory / "run.log").string());
  Runtime::Digest commands{};
  for (int round = 0; round < 3; ++round) {
    Runtime runtime(config);
    auto tiles = runtime.tiled<double>("A", 1024, 1024, 128);  // four times the memory
    const auto fill = codelet("fill").cpu([](Out<Tile<double>> t) { t(0, 0) = 1; });
    const auto add = codelet("add")
                         .cpu([](In<Tile<double>> from, InOut<Tile<double>> to) { to(0, 0) += from(0, 0); })
                         .flops([](auto& from, auto&) { return 1.0 * from.rows() * from.columns(); });
    Flow flow(runtime);
    for (int i = 0; i < 64; ++i) flow.submit(fill(tiles(i / 8, i % 8)));
    for (int i = 0; i < 200; ++i)
      if (i % 64 != i * 7 % 64) flow.submit(add(tiles(i % 64 / 8, i % 8), tiles(i * 7 % 64 / 8, i * 7 % 8)));
    flow.wait();
    runtime.flush();
    commands = runtime.command_digest();
  }
  const engine::LogFile log = engine::EventLog::read((directory / "run.log").string());
  EXPECT_EQ(log.head.durations.size(), 2u);
  const auto replayed = engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
  EXPECT_EQ(replayed.digest, commands.value);
}

namespace {

/// The longest of the ready tasks first, as far as the model knows.
class LongestFirst final : public Policy {
 public:
  void ready(Task& task, WorkerId) override { ready_.push_back(&task); }
  void cancelled(Task& task) override { std::erase(ready_, &task); }
  Task* pick(WorkerId worker, bool) override {
    const auto longest = std::ranges::max_element(
        ready_, {}, [&](const Task* task) { return view().estimate(*task, worker).count(); });
    if (longest == ready_.end()) return nullptr;
    Task* task = *longest;
    ready_.erase(longest);
    return task;
  }
  Task* take_any(WorkerId worker) override { return pick(worker, true); }

 private:
  std::vector<Task*> ready_;
};

}  // namespace

// With a policy that decides by estimates alone: without the initial estimates it decides differently.
TEST_F(KeptRuns, CannotBeReplayedWithoutTheirInitialDurations) {
  config.set("event-log", (directory / "run.log").string());
  Runtime::Digest commands{};
  for (int round = 0; round < 2; ++round) {
    Runtime runtime(config);
    front::core_of(runtime).replace_policy(std::make_unique<LongestFirst>(), "longest");
    std::vector<double> values(40);
    const auto busy = [](InOut<double> x, int turns) {
      for (int i = 0; i < turns; ++i) *x += 1e-9 * *x;
    };
    const auto quick = codelet("quick").cpu(busy), slow = codelet("slow").cpu(busy);
    Flow flow(runtime);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto handle = runtime.value("x", values[i]);
      flow.submit(i % 2 == 0 ? quick(handle, 1'000) : slow(handle, 100'000));
    }
    flow.wait();
    commands = runtime.command_digest();
  }
  const engine::LogFile log = engine::EventLog::read((directory / "run.log").string());
  EXPECT_EQ(engine::replay(log.head, std::make_unique<LongestFirst>(), log.words).digest, commands.value);
  engine::LogHead without = log.head;
  without.durations.clear();
  bool same = false;
  try {
    same = engine::replay(without, std::make_unique<LongestFirst>(), log.words).digest == commands.value;
  } catch (const InputError&) {  // the log contains a task that was not launched
  }
  EXPECT_FALSE(same);
}

// ---- formulas

namespace {

struct OneTile {
  explicit OneTile(const Config& config) : runtime(config), tiles(runtime.tiled<double>("A", 64, 32, 64)) {}
  Runtime runtime;
  TiledMatrix<double> tiles;
};

model::KeptDurations learned(Runtime& runtime) {
  return front::core_of(runtime).engine().locked(
      [&](memory::Memory&) { return front::core_of(runtime).engine().durations().learned(); });
}

}  // namespace

TEST_F(KeptRuns, CountTheOperationsOfTheCodeletsFormula) {
  OneTile one(config);
  const auto fill =
      codelet("fill").cpu([](Out<Tile<double>> t, int) { t(0, 0) = 1; }).flops([](auto& tile, int times) {
        return 2.0 * tile.rows() * tile.columns() * times;
      });
  Flow flow(one.runtime);
  for (int i = 0; i < 10; ++i) flow.submit(fill(one.tiles(0, 0), 3));
  flow.wait();
  one.runtime.flush();
  const auto lines = learned(one.runtime);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].unit, WorkUnit::flops);
  EXPECT_EQ(lines[0].size, 2u * 64 * 32 * 3);
}

TEST_F(KeptRuns, DistinguishTasksOnTheSameDataByTheirOperations) {
  OneTile one(config);
  const auto fill =
      codelet("fill").cpu([](Out<Tile<double>> t, int) { t(0, 0) = 1; }).flops([](auto&, int times) {
        return times;
      });
  Flow flow(one.runtime);
  for (int i = 0; i < 30; ++i) flow.submit(fill(one.tiles(0, 0), 1 + i % 2));
  flow.wait();
  one.runtime.flush();
  EXPECT_EQ(learned(one.runtime).size(), 2u);
}

TEST_F(KeptRuns, AcceptADurationInAnyUnitOfTime) {
  OneTile one(config);
  const auto fill = codelet("fill").cpu([](Out<Tile<double>> t) { t(0, 0) = 1; }).duration([](auto& tile) {
    return std::chrono::microseconds(tile.rows());
  });
  Flow flow(one.runtime);
  for (int i = 0; i < 10; ++i) flow.submit(fill(one.tiles(0, 0)));
  flow.wait();
  one.runtime.flush();
  const auto lines = learned(one.runtime);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].unit, WorkUnit::nanoseconds);
  EXPECT_EQ(lines[0].size, 64'000u);
}

TEST_F(KeptRuns, LeaveTheOriginalCodeletUnchanged) {
  const auto plain = codelet("fill").cpu([](Out<Tile<double>> t) { t(0, 0) = 1; });
  const auto counted = plain.flops([](auto&) -> double { throw std::runtime_error("not this one"); });
  OneTile one(config);
  Flow flow(one.runtime);
  EXPECT_NO_THROW(flow.submit(plain(one.tiles(0, 0))));
  EXPECT_THROW(flow.submit(counted(one.tiles(0, 0))), std::runtime_error);
  flow.wait();
}

TEST_F(KeptRuns, RejectAFormulaWithAnInvalidResult) {
  OneTile one(config);
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto fill =
        codelet("fill").cpu([](Out<Tile<double>> t) { t(0, 0) = 1; }).flops([=](auto&) { return wrong; });
    EXPECT_THAT([&] { fill(one.tiles(0, 0)); },
                testing::ThrowsMessage<UsageError>(
                    StartsWith("the formula of the codelet fill says that a task has ")));
  }
}

}  // namespace fairlead
