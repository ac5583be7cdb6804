// Recordings of runs on real threads: they are complete, no worker runs two tasks at once, and a program that does not
// write its recording gets a warning.
#include <fairlead/fairlead.hpp>
#include <fairlead/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "on_ranks.hpp"
#include "trace/snapshot.hpp"

namespace fairlead {

using testing::HasSubstr;

namespace {

Config small(std::size_t workers) {
  Config config;
  config.set("workers", workers);
  config.set("memory", "1MiB");
  config.set("bind-threads", false);
  config.set("trace", "/dev/null");
  return config;
}

/// 3 x 3 tiles of 32 KiB: each is written, then each row is summed.
void fill_and_add(Runtime& runtime, Flow& flow) {
  const auto a = runtime.tiled<double>("A", 192, 192, 64);
  const auto set = codelet("set").cpu([](Out<Tile<double>> t, double x) { t(0, 0) = x; });
  const auto add =
      codelet("add").cpu([](In<Tile<double>> t, InOut<Tile<double>> sum) { sum(0, 0) += t(0, 0); });
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) flow.submit(set(a(i, j), 1.0));
  for (int i = 0; i < 3; ++i)
    for (int j = 1; j < 3; ++j) flow.submit(add(a(i, j), a(i, 0)));
  flow.wait();
  write_recorded(runtime, small(1));  // while the matrix exists; its names are kept
}

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

TEST(RecordedRun, HasEveryTaskWithItsData) {
  Runtime runtime(small(3));
  Flow flow(runtime);
  fill_and_add(runtime, flow);
  const trace::Snapshot recorded = front::recorded_by(runtime);
  std::map<std::string, int> seen;
  for (const auto& task : recorded.tasks)
    ++seen[recorded.codelets[task.codelet] + " " + trace::data_text(recorded, task)];
  EXPECT_EQ(seen.size(), 15u);
  EXPECT_EQ(seen["set -> A[2,1]"], 1);
  EXPECT_EQ(seen["add A[1,2] -> A[1,0]"], 1);
}

TEST(RecordedRun, NoWorkerRunsTwoTasksAtOnce) {
  Runtime runtime(small(3));
  Flow flow(runtime);
  for (int i = 0; i < 20; ++i) fill_and_add(runtime, flow);
  const trace::Snapshot recorded = front::recorded_by(runtime);
  EXPECT_EQ(recorded.tasks.size(), 300u);
  for (std::size_t i = 1; i < recorded.tasks.size(); ++i) {
    const auto &before = recorded.tasks[i - 1], &task = recorded.tasks[i];
    if (task.worker == before.worker) {
      EXPECT_GE(task.start(), before.end());
    }
  }
}

TEST(RecordedRun, HasAsynchronousTasksWithTheirWholeDuration) {
  Runtime runtime(small(2));
  Flow flow(runtime);
  double value = 0;
  const auto handle = runtime.value("answer", value);
  std::thread helper;
  const auto later = codelet("later").cpu([&helper](Completion done, InOut<double> x) {
    helper = std::thread([x = &x.get(), done] {
      *x = 42;
      done.done();
    });
  });
  flow.submit(later(handle));
  flow.wait();
  helper.join();
  const trace::Snapshot recorded = front::recorded_by(runtime);
  ASSERT_EQ(recorded.tasks.size(), 1u);
  EXPECT_EQ(trace::data_text(recorded, recorded.tasks[0]), "-> answer");
  EXPECT_GT(recorded.tasks[0].duration(), Duration{});
  write_recorded(runtime, small(1));
}

TEST(RecordedRun, TimesTinyTasksInGroupsWithoutLosingTime) {
  Runtime runtime(small(1));
  double value = 0;
  const auto handle = runtime.value("x", value);
  Flow flow(runtime);
  const auto tiny = codelet("tiny").cpu([](InOut<double> x) { *x += 1; });
  for (int i = 0; i < 1000; ++i) flow.submit(tiny(handle));
  flow.wait();
  const trace::Snapshot recorded = front::recorded_by(runtime);
  ASSERT_EQ(recorded.tasks.size(), 1000u);
  for (std::size_t i = 1; i < recorded.tasks.size(); ++i)
    EXPECT_LE(recorded.tasks[i - 1].end(), recorded.tasks[i].start());
  Duration sum{};
  for (const trace::TaskRecord& task : recorded.tasks) sum += task.duration();
  EXPECT_EQ(sum, front::core_of(runtime).engine().fast_path().busy(0));
  if (sum > 1000 * std::chrono::microseconds(2))
    return;  // the tasks are not tiny here: a sanitizer, or a busy machine
  // After each interruption some tasks are timed separately again.
  EXPECT_GT(std::ranges::count_if(recorded.tasks, &trace::TaskRecord::shares_time), 50);
}

TEST(RecordedRun, MarksFailedTasks) {
  Runtime runtime(small(1));
  double value = 0;
  const auto handle = runtime.value("x", value);
  Flow flow(runtime);
  const auto fails = codelet("fails").cpu([](InOut<double>) { throw Error("a mistake"); });
  flow.submit(fails(handle));
  EXPECT_THROW(flow.wait(), TaskError);
  const trace::Snapshot recorded = front::recorded_by(runtime);
  ASSERT_EQ(recorded.tasks.size(), 1u);
  EXPECT_TRUE(recorded.tasks[0].failed());
}

TEST(WriteRecorded, WritesThePageAndTheTraceOfTheSettings) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("fairlead-recorded-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  Config config = small(2);
  config.set("report", (folder / "run.html").string());
  config.set("trace", (folder / "run.pftrace").string());
  {
    Runtime runtime(config);
    Flow flow(runtime);
    fill_and_add(runtime, flow);
    write_recorded(runtime, config, "Nine <tiles>");
  }
  const std::string page = content(folder / "run.html");
  EXPECT_THAT(page, HasSubstr("<h1>Nine &lt;tiles&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("<canvas"));
  EXPECT_THAT(content(folder / "run.pftrace"), HasSubstr("A[1,2] -> A[1,0]"));
  std::filesystem::remove_all(folder);
}

TEST(WriteRecorded, WritesSeparateFilesForEachRank) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("fairlead-ranks-recorded-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  Config config = small(1);
  config.set("report", (folder / "run.html").string());
  config.set("trace", (folder / "run.pftrace").string());
  const auto thrown = tests::on_ranks(
      2, [&](std::uint32_t) { return config; },
      [&](Runtime& runtime) {
        write_recorded(runtime, config, "Of rank " + std::to_string(runtime.rank()));
      });
  EXPECT_EQ(thrown, std::vector<std::string>(2));
  EXPECT_THAT(content(folder / "run.html"), HasSubstr("<h1>Of rank 0</h1>"));
  EXPECT_THAT(content(folder / "run.rank1.html"), HasSubstr("<h1>Of rank 1</h1>"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run.pftrace"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run.rank1.pftrace"));
  std::filesystem::remove_all(folder);
}

TEST(WriteRecorded, WritesNothingWithoutSettings) {
  Config config = small(1);
  config.set("trace", "none");
  Runtime runtime(config);
  write_recorded(runtime, config);
  EXPECT_TRUE(front::recorded_by(runtime).tasks.empty());
}

TEST(WriteRecorded, ReportsAFileThatItCannotWrite) {
  Config config = small(1);
  config.set("report", "/no/such/folder/run.html");
  Runtime runtime(config);
  try {
    write_recorded(runtime, config);
    FAIL() << "the file was written";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/folder"));
  }
}

TEST(WriteRecorded, WarnsIfAnOptionRequestsItAndTheProgramDoesNotCallIt) {
  testing::internal::CaptureStderr();
  {
    Config config = small(1);
    config.set("report", "run.html");
    Runtime runtime(config);
  }
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "fairlead: --report run.html: nothing was written, since the program does not call write_recorded()\n");
}

}  // namespace fairlead
