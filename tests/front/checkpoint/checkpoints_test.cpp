// Programs that end at drawn moments and are resumed until they are complete, compared with a plain computation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "front/checkpoint/checkpointer.hpp"
#include "front/runtime/runtime_access.hpp"
#include "sanitized.hpp"
#include "temporary_directory.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;
using tests::sanitized;
using Number = std::uint64_t;
using Cell = Vector<Number>;

/// The program ends here.
struct Killed {};

constexpr std::int64_t cells = 24, length = 2048;  // of 16 KiB

/// Which cells a task reads and changes.
struct PlannedTask {
  std::size_t from, to;
  Number factor;
};

std::vector<PlannedTask> planned_tasks(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<PlannedTask> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = random.below(cells);
    tasks.push_back({from, (from + 1 + random.below(cells - 1)) % cells, random.below(1'000'000)});
  }
  return tasks;
}

std::vector<Number> plain_result(const std::vector<PlannedTask>& tasks) {
  std::vector<Number> values(cells);
  for (std::size_t i = 0; i < cells; ++i) values[i] = i;
  for (const PlannedTask& task : tasks)
    values[task.to] = values[task.to] * task.factor + values[task.from] + 1;
  return values;
}

Config config_in(const tests::TemporaryDirectory& directory, const char* memory, std::size_t workers) {
  Config config;
  config.set("memory", memory);
  config.set("workers", workers);
  config.set("checkpoint", (directory / "checkpoint").string());
  config.set("checkpoint-period", "0.0005s");
  config.set("bind-threads", false);
  return config;
}

struct ProgramRun {
  std::uint64_t finished_before = 0;
  std::optional<std::vector<Number>> result;  ///< none: it was ended
  bool was_stopped = false;                   ///< with a CheckpointStop
};

/// `ends_at`: the number of the task before which the program ends; `stops`: by a request instead.
ProgramRun run_program(const Config& config, const std::vector<PlannedTask>& tasks, std::size_t ends_at,
                       bool stops = false, const char* version = "1") {
  ProgramRun run;
  try {
    Runtime runtime(config);
    std::vector<Handle<Cell>> data;
    for (std::int64_t i = 0; i < cells; ++i)
      data.push_back(runtime.vector<Number>("cell " + std::to_string(i), length));
    const auto fill = codelet("fill").cpu([](Out<Cell> cell, Number value) {
      for (std::int64_t i = 0; i < cell.size(); ++i) cell(i) = value;
    });
    const auto mix = codelet("mix").cpu([](InOut<Cell> to, In<Cell> from, Number factor) {
      for (std::int64_t i = 0; i < to.size(); ++i) to(i) = to(i) * factor + from(i) + 1;
    });
    Flow flow(runtime);
    for (std::size_t i = 0; i < cells; ++i) flow.submit(fill(data[i], Number{i}));
    flow.wait();
    run.finished_before = flow.use_checkpoints({{"program", "mix"}, {"version", version}});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i == ends_at && stops) {
        EXPECT_TRUE(runtime.stop_after_checkpoint());
      } else if (i == ends_at) {
        flow.cancel();
        throw Killed();
      }
      flow.submit(mix(data[tasks[i].to], data[tasks[i].from], tasks[i].factor));
    }
    flow.wait();
    std::vector<Number> values;
    for (const auto& cell : data) {
      const auto hold = flow.acquire(read(cell));
      const In<Cell> held = hold.get<0>();
      for (std::int64_t i = 0; i < length; ++i)
        if (held(i) != held(0)) ADD_FAILURE() << "the elements of a cell differ";
      values.push_back(held(0));
    }
    runtime.remove_checkpoint();
    run.result = std::move(values);
  } catch (const Killed&) {
  } catch (const CheckpointStop&) {
    run.was_stopped = true;
  }
  return run;
}

class Checkpoints : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(, Checkpoints,
                         testing::Combine(testing::Values("256KiB", "4MiB"), testing::Values(1, 2, 3)),
                         [](const auto& given) {
                           return std::string(std::get<0>(given.param)) +
                                  std::to_string(std::get<1>(given.param));
                         });

TEST_P(Checkpoints, AreResumedUntilTheProgramIsComplete) {
  const auto [memory, workers] = GetParam();
  std::uint64_t resumed = 0, stopped = 0;
  // On a busy machine, workers may have run nothing before a program ends.
  const auto is_enough = [&](std::uint64_t seed) {
    return seed > (sanitized ? 3 : 5) && ((resumed > 0 && stopped > 0) || seed > 200);
  };
  for (std::uint64_t seed = 1; !is_enough(seed); ++seed) {
    const tests::TemporaryDirectory directory;
    const Config config = config_in(directory, memory, workers);
    const auto tasks = planned_tasks(seed, 1500);
    Random random(seed);
    ProgramRun run;
    for (int attempt = 0; attempt < 5 && !run.result; ++attempt) {
      const std::size_t ends_at =
          attempt == 4 ? tasks.size() : 300 * static_cast<std::size_t>(attempt) + random.below(400);
      run = run_program(config, tasks, ends_at, random.once_in(2));
      resumed += run.finished_before != 0;
      stopped += run.was_stopped;
    }
    ASSERT_TRUE(run.result.has_value());
    EXPECT_EQ(*run.result, plain_result(tasks)) << "seed " << seed;
    EXPECT_FALSE(std::filesystem::exists(directory / "checkpoint"));
  }
  EXPECT_GT(resumed, 0u);
  EXPECT_GT(stopped, 0u);
}

/// A directory with a checkpoint that has some tasks, but not all.
void make_one(const Config& config, const std::vector<PlannedTask>& tasks) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (!run_program(config, tasks, tasks.size() - 1, true).was_stopped) continue;
    const auto index = front::CheckpointDirectory::peek(config.text("checkpoint"));
    if (index && index->finished() > 0) return;
  }
  FAIL() << "the program was not stopped after some tasks";
}

TEST(CheckpointFiles, OfAnotherProgramAreRefused) {
  const tests::TemporaryDirectory directory;
  const Config config = config_in(directory, "256KiB", 2);
  const auto tasks = planned_tasks(1, 500);
  make_one(config, tasks);
  const auto message_of = [&](const std::vector<PlannedTask>& of, const char* version) -> std::string {
    try {
      run_program(config, of, of.size(), false, version);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of(tasks, "2"), HasSubstr("its version is 1, and that of this run is 2"));
  auto others = tasks;
  std::swap(others[3].from, others[3].to);
  EXPECT_THAT(message_of(others, "1"), HasSubstr("of another program"));
  EXPECT_THAT(message_of(planned_tasks(1, 20), "1"), HasSubstr("it has"));
  const auto complete = run_program(config, tasks, tasks.size());  // it was not changed
  EXPECT_GT(complete.finished_before, 0u);
  EXPECT_EQ(*complete.result, plain_result(tasks));
}

TEST(CheckpointFiles, ThatAreDamagedAreRefused) {
  const tests::TemporaryDirectory directory;
  const Config config = config_in(directory, "256KiB", 2);
  const auto tasks = planned_tasks(2, 500);
  make_one(config, tasks);
  std::filesystem::path data;
  for (const auto& entry : std::filesystem::directory_iterator(directory / "checkpoint"))
    if (entry.path().filename().string().starts_with("data-")) data = entry.path();
  const auto index = front::CheckpointDirectory::peek(directory / "checkpoint");
  ASSERT_TRUE(index.has_value());
  ASSERT_FALSE(index->data.empty());
  Random random(1);
  int refused = 0;
  for (int round = 0; round < 10; ++round) {
    const front::SavedDatum& saved = index->data[random.below(index->data.size())];
    const auto at = static_cast<std::streamoff>(saved.offset + random.below(saved.bytes));
    const auto flip = [&] {
      std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(at);
      const int byte = file.get();
      file.seekp(at);
      file.put(static_cast<char>(byte ^ 1));
    };
    flip();
    try {
      run_program(config, tasks, tasks.size());
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged"));
      ++refused;
    }
    flip();
  }
  EXPECT_EQ(refused, 10);
  std::filesystem::resize_file(directory / "checkpoint" / "index", 100);
  EXPECT_THROW(run_program(config, tasks, tasks.size()), InputError);
}

TEST(CheckpointFiles, AreUsedByOneRunAtATime) {
  const tests::TemporaryDirectory directory;
  const Config config = config_in(directory, "256KiB", 1);
  const Runtime first(config);
  EXPECT_THROW(Runtime{config}, UsageError);
}

TEST(CheckpointFiles, AreNotMadeAmongOtherFiles) {
  const tests::TemporaryDirectory directory;
  directory.write("checkpoint/letter.txt", "important");
  EXPECT_THROW(Runtime{config_in(directory, "256KiB", 1)}, InputError);
  EXPECT_TRUE(std::filesystem::exists(directory / "checkpoint/letter.txt"));
}

TEST(CheckpointFiles, ThatCannotBeWrittenAreAWarning) {
  const tests::TemporaryDirectory directory;
  const auto tasks = planned_tasks(3, 300);
  Config config = config_in(directory, "256KiB", 2);
  config.set("checkpoint-period", "1h");
  std::filesystem::create_directories(directory / "checkpoint");
  const auto index = directory / "checkpoint" / "index";
  Runtime runtime(config);
  std::filesystem::create_directory(index);  // nothing can be renamed to it
  std::vector<Handle<Cell>> data;
  for (std::int64_t i = 0; i < cells; ++i)
    data.push_back(runtime.vector<Number>("cell " + std::to_string(i), length));
  const auto fill = codelet("fill").cpu([](Out<Cell> cell, Number value) { cell(0) = value; });
  const auto mix = codelet("mix").cpu(
      [](InOut<Cell> to, In<Cell> from, Number factor) { to(0) = to(0) * factor + from(0) + 1; });
  front::Checkpointer& checkpointer = *front::checkpointer_of(runtime);
  Flow flow(runtime);
  flow.use_checkpoints({{"program", "mix"}});
  for (std::size_t i = 0; i < cells; ++i) flow.submit(fill(data[i], Number{i}));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (i == 100) {
      testing::internal::CaptureStderr();
      checkpointer.make_checkpoint();
      EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no checkpoint was made"));
      std::filesystem::remove(index);
    }
    if (i == 200) {
      checkpointer.make_checkpoint();
      EXPECT_TRUE(std::filesystem::is_regular_file(index));
      const auto made = front::CheckpointDirectory::peek(directory / "checkpoint");
      ASSERT_TRUE(made.has_value());
      EXPECT_EQ(made->submitted, 200 + cells);
    }
    flow.submit(mix(data[tasks[i].to], data[tasks[i].from], tasks[i].factor));
  }
  flow.wait();
  const auto expected = plain_result(tasks);
  for (std::size_t i = 0; i < cells; ++i) EXPECT_EQ(flow.acquire(read(data[i])).get<0>()(0), expected[i]);
}

// A task of another flow would not be part of the checkpoint, and its values would.
TEST(CheckpointedFlow, MakesNoCheckpointIfAnotherFlowHasTasks) {
  const tests::TemporaryDirectory directory;
  Config config = config_in(directory, "256KiB", 2);
  config.set("checkpoint-period", "1h");
  Runtime runtime(config);
  const auto cell = runtime.vector<Number>("cell", 10);
  const auto fill = codelet("fill").cpu([](Out<Cell> x) { x(0) = 1; });
  Flow flow(runtime), other(runtime);
  flow.use_checkpoints({{"program", "two flows"}});
  flow.submit(fill(cell));
  other.submit(fill(cell));
  front::checkpointer_of(runtime)->make_checkpoint();
  EXPECT_FALSE(std::filesystem::exists(directory / "checkpoint" / "index"));
  other.wait();
  flow.wait();
}

TEST(CheckpointedFlow, RefusesWhatItCannotCover) {
  const tests::TemporaryDirectory directory;
  Runtime runtime(config_in(directory, "256KiB", 2));
  double own = 0;
  const auto user = runtime.value("own", own);
  const auto kept = runtime.vector<Number>("kept", 10);
  const auto set = codelet("set").cpu([](Out<double> x) { *x = 1; });
  const auto fill = codelet("fill").cpu([](Out<Cell> x) { x(0) = 1; });
  Flow flow(runtime);
  EXPECT_EQ(flow.use_checkpoints({{"program", "refused"}}), 0u);
  EXPECT_THROW(flow.submit(set(user)), UsageError);
  flow.submit(fill(kept));
  EXPECT_THROW(static_cast<void>(flow.future(fill(kept))), UsageError);
  EXPECT_THROW(static_cast<void>(flow.acquire(read(kept))), UsageError);
  flow.wait();
  EXPECT_EQ(flow.acquire(read(kept)).get<0>()(0), 1u);
  flow.submit(set(user));  // afterwards everything is allowed
  flow.wait();
  EXPECT_EQ(own, 1);
}

}  // namespace
}  // namespace fairlead
