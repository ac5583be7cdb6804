// The limiting factor of a run, from made-up figures at the thresholds of the rules.
#include "report/limiting_factor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/example.hpp"
#include "report/html/parts.hpp"

namespace fairlead::report {

using testing::HasSubstr;

namespace {

/// Ten seconds on two workers: busy and waiting are seconds of both together, of twenty.
LimitingFactor of(double busy, double waiting, std::vector<Measured::LinkUse> wires, double files = 0) {
  return limiting({.seconds = 10,
                   .file_seconds = files,
                   .counted_seconds = 10,
                   .workers = 2,
                   .busy_seconds = busy,
                   .waiting_for_data_seconds = waiting,
                   .wires = std::move(wires)});
}

}  // namespace

TEST(LimitingFactor, IsComputingFromThreeQuartersOfTheTimeOn) {
  EXPECT_EQ(of(15, 5, {{"disk", 10}}).name(), "computing");
  EXPECT_EQ(of(14.9, 5.1, {{"disk", 10}}).name(), "disk");
}

TEST(LimitingFactor, IsTheDiskIfWorkersWaitForDataLongerThanForTasks) {
  EXPECT_EQ(of(10, 5.1, {{"disk", 6}}).name(), "disk");
  EXPECT_EQ(of(10, 4.9, {{"disk", 6}}).name(), "tasks");
}

// No task waits for data while the last results are written: the disk limits the run nevertheless.
TEST(LimitingFactor, IsTheDiskIfItIsInUseNineTenthsOfTheTime) {
  EXPECT_EQ(of(4, 0, {{"disk", 9}}).name(), "disk");
  EXPECT_EQ(of(4, 0, {{"disk", 8.9}}).name(), "tasks");
}

TEST(LimitingFactor, IsTheBusiestLink) {
  const LimitingFactor it = of(5, 14, {{"disk", 2}, {"gpu 0", 9.5}, {"gpu 1", 3}});
  EXPECT_EQ(it.name(), "link");
  EXPECT_EQ(it.display_name(), "the wire gpu 0");
  EXPECT_DOUBLE_EQ(it.link_busy, 0.95);
}

TEST(LimitingFactor, IsTheFilesIfTheyTakeHalfOfTheTime) {
  EXPECT_EQ(of(20, 0, {}, 5).name(), "files");
  EXPECT_EQ(of(20, 0, {}, 4.9).name(), "computing");
}

// Fourteen idle cores and a device that ran all tasks.
TEST(LimitingFactor, RefersToDevicesIfTasksRanOnThem) {
  std::vector<WorkerReport> workers(14);
  workers.push_back({.busy_seconds = 8, .waiting_for_data_seconds = 1, .tasks = 100, .on_device = true});
  const LimitingFactor it = limiting(measured(workers, 10));
  EXPECT_EQ(it.name(), "computing");
  EXPECT_EQ(it.reason(), "devices computed for 80 % of the time");
  workers.back().tasks = 0;
  EXPECT_EQ(limiting(measured(workers, 10)).name(), "tasks");
}

/// Ten seconds on two workers that were in tasks all the time, and had a core for so many of these twenty seconds.
Measured with_cores_for(double seconds) {
  return {.seconds = 10,
          .counted_seconds = 10,
          .workers = 2,
          .busy_seconds = 20,
          .wires = {},
          .on_core_seconds = seconds,
          .without_core_seconds = 20 - seconds,
          .cores = 2};
}

// Wall time in tasks means little if other programs used the cores.
TEST(LimitingFactor, IsOtherProgramsIfWorkersLackedACoreForAQuarterOfTheTime) {
  const LimitingFactor it = limiting(with_cores_for(7.2));
  EXPECT_EQ(it.name(), "other_programs");
  EXPECT_EQ(it.display_name(), "other programs");
  EXPECT_EQ(it.reason(), "your workers had a core for 36 % of the time in which they wanted one");
  EXPECT_EQ(limiting(with_cores_for(15)).name(), "other_programs");
  EXPECT_EQ(limiting(with_cores_for(15.1)).name(), "computing");
}

TEST(LimitingFactor, DistinguishesOtherProgramsFromAQuotaAndTooManyWorkers) {
  Measured throttled = with_cores_for(8);
  throttled.throttled_seconds = 11;
  EXPECT_EQ(limiting(throttled).name(), "cpu_quota");
  Measured crowded = with_cores_for(10);
  crowded.cores = 1;
  EXPECT_EQ(limiting(crowded).name(), "too_many_workers");
}

// A limiting disk also limits on a busy machine.
TEST(LimitingFactor, IsTheDiskIfWorkersHardlyNeededACore) {
  Measured waiting = with_cores_for(2);
  waiting.without_core_seconds = 3;
  waiting.busy_seconds = 5;
  waiting.waiting_for_data_seconds = 15;
  waiting.wires = {{"disk", 10}};
  EXPECT_EQ(limiting(waiting).name(), "disk");
}

// The user could not follow such advice.
TEST(LimitingFactor, GivesOnlyFeasibleAdvice) {
  const auto advice = [](unsigned workers, std::uint64_t tile) {
    return limiting({.counted_seconds = 10, .workers = workers, .tile = tile, .wires = {}}).advice();
  };
  EXPECT_EQ(advice(2, 64), "smaller tiles make more tasks; fewer workers need fewer");
  EXPECT_EQ(advice(2, 1), "fewer workers need fewer tasks");
  EXPECT_EQ(advice(1, 64), "smaller tiles make more tasks");
  EXPECT_EQ(advice(1, 1), "");
}

TEST(LimitingFactor, WithoutLinksIsTooFewTasks) { EXPECT_EQ(of(2, 18, {}).name(), "tasks"); }

TEST(LimitingFactor, PartsAddUpToTheWhole) {
  for (const double busy : {0.0, 7.0, 20.0, 25.0})
    for (const double waiting : {0.0, 9.0, 30.0}) {
      const LimitingFactor it = of(busy, waiting, {});
      EXPECT_DOUBLE_EQ(it.busy + it.waiting_for_data + it.without_tasks, 1);
      EXPECT_GE(it.without_tasks, 0);
    }
  EXPECT_EQ(limiting({}).display_name(), "too few tasks");  // no division by zero
}

TEST(LimitingFactor, IsTheSameInTextJsonAndPage) {
  RunReport report = example();
  report.limiting = of(9, 8, {{"disk", 9.7}});
  const std::string words = "the disk",
                    reason =
                        "in use for 97 % of the time; workers computed for 45 % of the time, waited for data "
                        "for 40 %";
  EXPECT_EQ(report.limiting->display_name(), words);
  EXPECT_EQ(report.limiting->reason(), reason);
  EXPECT_THAT(summary(report), HasSubstr("Limited by      " + words + ": " + reason.substr(0, 20)));
  EXPECT_THAT(text(report), HasSubstr("Limited by      " + words + ": " + reason.substr(0, 20)));
  EXPECT_THAT(html::figures(report), HasSubstr("Limited by <b>" + words + "</b>: <span>" + reason));
  const auto limited_by = nlohmann::json::parse(json(report).text()).at("limited_by");
  EXPECT_EQ(limited_by.at("factor"), "disk");
  EXPECT_EQ(limited_by.at("description"), words);
  EXPECT_EQ(limited_by.at("reason"), reason);
  EXPECT_DOUBLE_EQ(limited_by.at("busiest_link_part"), 0.97);
}

TEST(LimitingFactor, WorkersAreWithoutATaskForTheRestOfTheTime) {
  std::vector<WorkerReport> workers = {{.busy_seconds = 3, .waiting_for_data_seconds = 1},
                                       {.busy_seconds = 12}};
  fill_up_times(workers, 10);
  EXPECT_DOUBLE_EQ(workers[0].all(), 10);
  EXPECT_DOUBLE_EQ(workers[0].waiting_for_tasks_seconds, 6);
  EXPECT_DOUBLE_EQ(workers[1].waiting_for_tasks_seconds, 0);
}

}  // namespace fairlead::report
