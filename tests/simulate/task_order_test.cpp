// The order chart of simulated tasks, and the comparison of runs on a page.
#include "simulate/task_order.hpp"

#include <gmock/gmock.h>

#include "machine/machine_files.hpp"
#include "report/html/page.hpp"
#include "report/html/parts.hpp"
#include "simulate/comparison.hpp"

namespace fairlead::simulate {
namespace {

using report::TaskOrder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Place = TaskOrder::Place;

constexpr WorkloadSize three_by_three{.n = 3 * 960, .tile = 960, .precision = Precision::single};
constexpr Bytes bytes_of_a_tile = 960 * 960 * 4;

SimulatedMachine machine_for(const Program& program, std::size_t devices, Bytes memory) {
  MachineConfig use;
  use.devices = devices;
  use.cores = 0;
  use.device_memory = memory;
  return {machine::load_machine("v100-pcie"), use, program, Precision::single};
}

RunOutcome ordered(const Program& program, const SimulatedMachine& machine, const std::string& policy) {
  SimulationOptions options;
  options.keep_order = true;
  return outcome_of(program, machine, policy, options);
}

report::Comparison compared(const std::string& workload, const WorkloadSize& size,
                            const std::vector<std::string>& policies, Bytes memory = 64 << 20) {
  const Program program = make_workload(workload, size);
  const SimulatedMachine machine = machine_for(program, 2, memory);
  const Limits limits = limits_of(program, machine, &find_workload(workload), size);
  report::Comparison all = comparison_of(program, machine, limits);
  for (const std::string& policy : policies)
    add_run(all, program, machine, limits, size, workload, ordered(program, machine, policy));
  return all;
}

TEST(TaskOrder, OfThreeByThreeTilesHasEachTaskAtTheTileThatItWrites) {
  const Program program = make_workload("cholesky", three_by_three);
  const TaskOrder order = task_places(program, machine_for(program, 1, 10 * bytes_of_a_tile));
  EXPECT_EQ(order.matrix, "A");
  EXPECT_EQ(order.rows, 3);
  EXPECT_EQ(order.columns, 3);
  EXPECT_TRUE(order.lower_triangle);
  EXPECT_EQ(order.memory_tiles, 10u);
  EXPECT_THAT(order.kernels, ElementsAre("potrf", "trsm", "syrk", "gemm"));
  EXPECT_THAT(order.tasks, ElementsAre(Place{0, 0, 0, 0},                                        // A
                                       Place{1, 0, 1, 0}, Place{1, 0, 2, 0},                     // panel
                                       Place{2, 0, 1, 1}, Place{3, 0, 2, 1}, Place{2, 0, 2, 2},  // update
                                       Place{0, 1, 1, 1}, Place{1, 1, 2, 1}, Place{2, 1, 2, 2},  // second
                                       Place{0, 2, 2, 2}));                                      // third
}

// Oldest ready task first, on one worker: the program's order. The tiles are so large that copies, which take
// a time as the square of the edge, arrive before the previous task has finished; with small ones a task whose
// data are present overtakes one that waits.
TEST(TaskOrder, OfEagerOnOneDeviceIsThatOfTheProgram) {
  const Program program =
      make_workload("cholesky", {.n = 3 * 15360, .tile = 15360, .precision = Precision::single});
  const SimulatedMachine machine = machine_for(program, 1, Bytes(16) << 30);
  TaskOrder order = task_places(program, machine);
  add_order(order, machine, "eager", ordered(program, machine, "eager").result);
  ASSERT_EQ(order.runs.size(), 1u);
  std::vector<TaskOrder::Started> expected;
  for (std::uint32_t task = 0; task < 10; ++task) expected.push_back({task, 0});
  EXPECT_EQ(order.runs[0].order, expected);
}

TEST(TaskOrder, ContainsTheDeviceOfATask) {
  const report::Comparison all = compared("cholesky", three_by_three, {"eager"});
  EXPECT_THAT(all.order.devices, ElementsAre("v100 0", "v100 1"));
  std::vector<std::uint64_t> tasks(2);
  for (const TaskOrder::Started& started : all.order.runs.at(0).order) ++tasks.at(started.device);
  EXPECT_EQ(tasks[0], all.runs[0].report.worker_times.at(0).tasks);
  EXPECT_EQ(tasks[1], all.runs[0].report.worker_times.at(1).tasks);
}

// A QR kernel on two tiles is about the lower one; its T is no tile of the matrix.
TEST(TaskOrder, OfSeveralWrittenDataTakesTheLastOfTheMatrixThatMostTasksWrite) {
  const Program program = make_workload("qr", {.n = 4 * 960, .tile = 960, .precision = Precision::single});
  const TaskOrder order = task_places(program, machine_for(program, 1, 64 << 20));
  EXPECT_EQ(order.matrix, "A");
  EXPECT_FALSE(order.lower_triangle);
  program.for_each_task([&, task = 0u](const ProgramTask& of, std::span<const ProgramUse>) mutable {
    const Place& place = order.tasks[task++];
    EXPECT_TRUE(place.drawn());
    EXPECT_EQ(place.iteration, of.iteration);
    EXPECT_GE(place.row, of.iteration);
  });
}

TEST(TaskOrder, OfAProgramWithoutTilesIsEmptyAndNotDrawn) {
  Program program;
  const auto datum = program.datum({.bytes = 4096, .collection = program.collection("x")});
  program.task({.kernel = program.kernel("gemm"), .flops = 1e6, .side = 100},
               {{datum, AccessMode::read_write}});
  const SimulatedMachine machine = machine_for(program, 1, 64 << 20);
  TaskOrder order = task_places(program, machine);
  add_order(order, machine, "eager", ordered(program, machine, "eager").result);
  EXPECT_TRUE(order.empty());
}

// Places: kernel + 1 and differences, or 0; then of the run its length, and device and difference to the
// device's last task for each. Signed numbers are doubled.
TEST(TaskOrder, IsWrittenAsDifferences) {
  TaskOrder order;
  order.rows = order.columns = 2;
  order.kernels = {"potrf", "trsm"};
  order.devices = {"gpu 0", "gpu 1"};
  order.tasks = {{0, 0, 0, 0}, {1, 0, -1, -1}, {1, 1, 1, 0}};
  order.runs = {{"eager", {{0, 0}, {2, 1}, {1, 0}}}};
  EXPECT_EQ(report::html::order_data(order).numbers, "AQAAAAACAgIAAwAAAQQAAg==");
}

TEST(ComparedRuns, HaveARowEachWithTheirBoundsBelow) {
  const report::Comparison all =
      compared("cholesky", {.n = 10 * 960, .tile = 960, .precision = Precision::single}, {"eager", "darts"});
  const std::string page = report::comparison_page(all, {});
  for (const char* text : {"<th>eager</th>", "<th>darts</th>", "Policies side by side", "bound: computing",
                           "bus limit: gets through while computing", "lower bound", "Bytes to devices",
                           "cholesky, simulated, n = 9,600", "id=\"order\""})
    EXPECT_THAT(page, HasSubstr(text));
  EXPECT_THAT(page, Not(HasSubstr("id=\"plot\"")));
}

TEST(ComparedRuns, HaveTheBytesOfAllLinksOfASortOnce) {
  const Program program = make_workload("cholesky", {.n = 9600, .tile = 960, .precision = Precision::single});
  const SimulatedMachine machine = machine_for(program, 2, 64 << 20);
  const SimulationResult result = ordered(program, machine, "eager").result;
  Bytes to = 0, from = 0, between = 0;
  for (const report::LinkReport& total : result.totals)
    for (std::size_t cause = 0; cause < memory::cause_count; ++cause) {
      if (total.name == "devices") {
        to += total.from_home[cause].bytes;
        from += total.to_home[cause].bytes;
      } else if (total.name == "between devices") {
        between += total.from_home[cause].bytes + total.to_home[cause].bytes;
      }
    }
  EXPECT_GT(to, 0u);
  EXPECT_EQ(to, result.bytes_to_devices);
  EXPECT_EQ(from, result.bytes_from_devices);
  EXPECT_EQ(between, result.bytes_between_devices);
}

TEST(ComparedRuns, AnUnfinishedOneHasItsReasonAndNoFigures) {
  report::Comparison all = compared("cholesky", three_by_three, {"eager"});
  const Program program = make_workload("cholesky", three_by_three);
  const SimulatedMachine machine = machine_for(program, 2, 64 << 20);
  const Limits limits = limits_of(program, machine, nullptr, three_by_three);
  RunOutcome stuck;
  stuck.scheduler = "darts";
  stuck.problem = "nothing moves <any more>";
  add_run(all, program, machine, limits, three_by_three, "cholesky", stuck);
  EXPECT_EQ(all.order.runs.size(), 1u);
  const std::string page = report::comparison_page(all, {});
  EXPECT_THAT(page, HasSubstr("darts did not finish: nothing moves &lt;any more&gt;"));
  EXPECT_THAT(page, HasSubstr("<th>darts</th><td>did not finish</td><td></td>"));
}

}  // namespace
}  // namespace fairlead::simulate
