// What limited a run, of made-up figures: who is at fault changes where the rule says so.
#include "report/limiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/example.hpp"
#include "report/html/parts.hpp"

namespace fairlead::report {

using testing::HasSubstr;

namespace {

/// Ten seconds on two workers: busy and waiting are seconds of both together, of twenty.
Limiting of(double busy, double waiting, std::vector<Measured::Wire> wires, double files = 0) {
  return limiting({.seconds = 10,
                   .file_seconds = files,
                   .counted_seconds = 10,
                   .workers = 2,
                   .busy_seconds = busy,
                   .waiting_for_data_seconds = waiting,
                   .wires = std::move(wires)});
}

}  // namespace

TEST(Limiting, IsComputingFromThreeQuartersOfTheTimeOn) {
  EXPECT_EQ(of(15, 5, {{"disk", 10}}).name(), "computing");
  EXPECT_EQ(of(14.9, 5.1, {{"disk", 10}}).name(), "disk");
}

TEST(Limiting, IsTheDiskIfWorkersWaitForDataLongerThanForTasks) {
  EXPECT_EQ(of(10, 5.1, {{"disk", 6}}).name(), "disk");
  EXPECT_EQ(of(10, 4.9, {{"disk", 6}}).name(), "tasks");
}

// Nobody has a task that waits for data while the last results are written: the disk is at fault all the
// same.
TEST(Limiting, IsTheDiskIfItIsInUseNineTenthsOfTheTime) {
  EXPECT_EQ(of(4, 0, {{"disk", 9}}).name(), "disk");
  EXPECT_EQ(of(4, 0, {{"disk", 8.9}}).name(), "tasks");
}

TEST(Limiting, IsTheWireThatIsInUseTheLongest) {
  const Limiting it = of(5, 14, {{"disk", 2}, {"gpu 0", 9.5}, {"gpu 1", 3}});
  EXPECT_EQ(it.name(), "link");
  EXPECT_EQ(it.words(), "the wire gpu 0");
  EXPECT_DOUBLE_EQ(it.link_busy, 0.95);
}

TEST(Limiting, IsTheFilesIfTheyTakeHalfOfTheTime) {
  EXPECT_EQ(of(20, 0, {}, 5).name(), "files");
  EXPECT_EQ(of(20, 0, {}, 4.9).name(), "computing");
}

// Fourteen cores beside a device that did all of it.
TEST(Limiting, IsOfDevicesWhereTasksRanOnThem) {
  std::vector<WorkerReport> workers(14);
  workers.push_back({.busy_seconds = 8, .waiting_for_data_seconds = 1, .tasks = 100, .on_device = true});
  const Limiting it = limiting(measured(workers, 10));
  EXPECT_EQ(it.name(), "computing");
  EXPECT_EQ(it.reason(), "devices computed for 80 % of the time");
  workers.back().tasks = 0;
  EXPECT_EQ(limiting(measured(workers, 10)).name(), "tasks");
}

TEST(Limiting, WithoutWiresThereAreTooFewTasks) { EXPECT_EQ(of(2, 18, {}).name(), "tasks"); }

TEST(Limiting, PartsMakeUpTheWhole) {
  for (const double busy : {0.0, 7.0, 20.0, 25.0})
    for (const double waiting : {0.0, 9.0, 30.0}) {
      const Limiting it = of(busy, waiting, {});
      EXPECT_DOUBLE_EQ(it.busy + it.waiting_for_data + it.without_tasks, 1);
      EXPECT_GE(it.without_tasks, 0);
    }
  EXPECT_EQ(limiting({}).words(), "too few tasks");  // of nothing, nothing is divided by
}

TEST(Limiting, IsTheSameInTextJsonAndPage) {
  RunReport report = example();
  report.limiting = of(9, 8, {{"disk", 9.7}});
  const std::string words = "the disk",
                    reason =
                        "in use for 97 % of the time; workers computed for 45 % of the time, waited for data "
                        "for 40 %";
  EXPECT_EQ(report.limiting->words(), words);
  EXPECT_EQ(report.limiting->reason(), reason);
  EXPECT_THAT(summary(report), HasSubstr("Limited by      " + words + ": " + reason.substr(0, 20)));
  EXPECT_THAT(text(report), HasSubstr("Limited by      " + words + ": " + reason.substr(0, 20)));
  EXPECT_THAT(html::figures(report), HasSubstr("Limited by <b>" + words + "</b>: <span>" + reason));
  const auto told = nlohmann::json::parse(json(report).text()).at("limited_by");
  EXPECT_EQ(told.at("what"), "disk");
  EXPECT_EQ(told.at("words"), words);
  EXPECT_EQ(told.at("reason"), reason);
  EXPECT_DOUBLE_EQ(told.at("busiest_link_part"), 0.97);
}

TEST(Limiting, WorkersAreWithoutATaskForTheRestOfTheTime) {
  std::vector<WorkerReport> workers = {{.busy_seconds = 3, .waiting_for_data_seconds = 1},
                                       {.busy_seconds = 12}};
  fill_up_times(workers, 10);
  EXPECT_DOUBLE_EQ(workers[0].all(), 10);
  EXPECT_DOUBLE_EQ(workers[0].waiting_for_tasks_seconds, 6);
  EXPECT_DOUBLE_EQ(workers[1].waiting_for_tasks_seconds, 0);
}

}  // namespace fairlead::report
