// Programs from arrays of tasks: stated durations, explicit predecessors, and mistakes. Times are computed by hand.
#include "simulate/task_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <cmath>

#include "simulate/longest_path.hpp"
#include "simulate/small.hpp"

namespace fairlead::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

/// The arrays of a task list, which outlive it.
struct Lists {
  std::vector<std::uint64_t> bytes{}, first_accesses{0}, first_predecessors{0};
  std::vector<std::uint32_t> kernels{}, data{}, predecessors{};
  std::vector<AccessMode> modes{};
  std::vector<std::int32_t> priorities{};
  std::vector<double> flops{}, seconds{};
  std::vector<std::string> kernel_names{"work"}, processors{};

  void task(std::vector<double> durations, std::vector<std::pair<std::uint32_t, AccessMode>> uses = {},
            std::vector<std::uint32_t> after = {}) {
    kernels.push_back(0);
    for (const auto& [datum, mode] : uses) data.push_back(datum), modes.push_back(mode);
    first_accesses.push_back(data.size());
    predecessors.insert(predecessors.end(), after.begin(), after.end());
    first_predecessors.push_back(predecessors.size());
    seconds.insert(seconds.end(), durations.begin(), durations.end());
  }
  Program program() const {
    TaskList list;
    list.title = "list";
    list.data_bytes = bytes;
    list.kernels = kernel_names;
    list.task_kernels = kernels;
    list.first_accesses = first_accesses;
    list.accessed_data = data;
    list.access_modes = modes;
    list.first_predecessors = first_predecessors;
    list.predecessors = predecessors;
    list.priorities = priorities;
    list.flops = flops;
    list.processors = processors;
    list.seconds = seconds;
    return program_of(list, Precision::double_);
  }
};

TEST(TaskListProgram, AChainTakesTheSumOfItsDurations) {
  Lists it{.processors = {"cpu"}};
  it.bytes = {8};
  for (const double seconds : {1.0, 2.5, 0.0}) it.task({seconds}, {{0, AccessMode::read_write}});
  EXPECT_DOUBLE_EQ(run(it.program(), "", {.cores = 2}).seconds, 3.5);
}

TEST(TaskListProgram, PredecessorsOrderTasksWithoutCommonData) {
  Lists it{.processors = {"cpu"}};  // a fork of two tasks between two others, on two cores
  it.task({1});
  it.task({2}, {}, {0});
  it.task({3}, {}, {0});
  it.task({1}, {}, {1, 2, 1});
  const Program program = it.program();
  for (const char* policy : {"eager", "lws", "dmda", "what-if"})
    EXPECT_DOUBLE_EQ(run(program, "", {.cores = 2}, policy).seconds, 5) << policy;
  EXPECT_DOUBLE_EQ(run(program, "", {.cores = 1}).seconds, 7);
  EXPECT_THAT(longest_paths(program, [](const ProgramTask&) { return 1; }), ElementsAre(3, 2, 2, 1));
}

TEST(TaskListProgram, EachProcessorHasItsDuration) {
  Lists it{.processors = {"cpu", "cuda"}};
  for (int i = 0; i < 4; ++i) it.task({3, 1});
  const Program program = it.program();
  EXPECT_DOUBLE_EQ(run(program, card, {.devices = 1, .cores = 0}).seconds, 4);
  EXPECT_DOUBLE_EQ(run(program, card, {.devices = 1, .cores = 1}, "heft-tm").seconds, 3);  // 1 there, 3 here
  EXPECT_DOUBLE_EQ(run(program, card, {.devices = 0, .cores = 2}).seconds, 6);
  const SimulatedMachine machine(machine::read_machine(machine_text(card), "m.toml"), {.cores = 1}, program,
                                 Precision::double_);
  EXPECT_NEAR(machine.bounds(program).compute, 3, 1e-6);  // the core does one of four
  EXPECT_DOUBLE_EQ(machine.bounds(program).critical_path, 1);
}

TEST(TaskListProgram, AProcessorsNamePrecedesItsKind) {
  Lists it{.processors = {"cuda", "card"}};
  it.task({5, 2});
  it.task({5, nowhere});
  EXPECT_DOUBLE_EQ(run(it.program(), card).seconds, 7);
}

TEST(TaskListProgram, ATaskRunsOnlyWhereItHasADuration) {
  Lists it{.processors = {"cpu", "cuda"}};
  it.task({nowhere, 1});
  it.task({1, nowhere});
  it.task({1, 1});
  const Program program = it.program();
  EXPECT_EQ(program.kernels.size(), 3u);  // of one name
  EXPECT_DOUBLE_EQ(run(program, card, {.devices = 1, .cores = 2}).seconds, 1);
  EXPECT_THAT([&] { run(program, card, {.devices = 0, .cores = 2}); },
              ThrowsMessage<ConfigError>(HasSubstr("its tasks state durations on cpu, cuda only")));
}

TEST(TaskListProgram, WithoutADurationTheRateOfTheKernelCounts) {
  Lists it{.processors = {"cpu"}};
  it.task({nowhere});
  it.task({2}, {}, {0});
  it.flops = {3e9, 1e9};  // at 1 GFlop/s
  EXPECT_DOUBLE_EQ(run(it.program(), "", {.cores = 1}).seconds, 5);
}

TEST(TaskListProgram, ADatumHasAValueUnlessItIsWrittenFirst) {
  Lists it{.processors = {"cuda"}};
  it.bytes = {megabyte, megabyte};
  it.task({0.001}, {{0, AccessMode::write}, {1, AccessMode::read}});
  const SimulationResult result = run(it.program(), card);
  EXPECT_EQ(result.bytes_to_devices, megabyte);
  EXPECT_EQ(result.bytes_from_devices, megabyte);
  EXPECT_DOUBLE_EQ(result.seconds, 0.003);  // 1 ms in, 1 ms, 1 ms out
}

TEST(TaskListProgram, MistakesNameTheTask) {
  const auto refuses = [](const char* text, auto&& change) {
    Lists it{.processors = {"cpu"}};
    it.bytes = {8};
    it.task({1}, {{0, AccessMode::read}});
    it.task({1}, {{0, AccessMode::read}}, {0});
    change(it);
    EXPECT_THAT([&] { it.program(); }, ThrowsMessage<UsageError>(HasSubstr(text)));
  };
  refuses("access 1 is to datum 1, but there are 1 data", [](Lists& it) { it.data[1] = 1; });
  refuses("task 1: its kernel is 4, but there are 1", [](Lists& it) { it.kernels[1] = 4; });
  refuses("task 1: its predecessor is task 1", [](Lists& it) { it.predecessors[0] = 1; });
  refuses("task 0: it takes -1 s", [](Lists& it) { it.seconds[0] = -1; });
  refuses("task 1: it takes inf s", [](Lists& it) { it.seconds[1] = INFINITY; });
  refuses("task 0: nan operations", [](Lists& it) { it.flops = {NAN, 1}; });
  refuses("there are 1 numbers of operations, but 2 tasks", [](Lists& it) { it.flops = {1}; });
  refuses("there are 3 priorities, but 2 tasks", [](Lists& it) { it.priorities = {1, 2, 3}; });
  refuses("there are 3 durations, but 2 tasks and 1 processors", [](Lists& it) { it.seconds.push_back(1); });
  refuses("the offsets of the accesses", [](Lists& it) { it.first_accesses[1] = 3; });
  refuses("the offsets of the predecessors", [](Lists& it) { it.first_predecessors[2] = 0; });
  refuses("each access needs a datum and a mode", [](Lists& it) { it.modes.pop_back(); });
}

}  // namespace
}  // namespace fairlead::simulate
