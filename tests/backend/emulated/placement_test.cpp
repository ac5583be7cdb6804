// Placement by the program on emulated accelerators: on calls, by advice on data, and the devices that ran the tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/cyclic_map.hpp>
#include <fairlead/fairlead.hpp>

#include <string>
#include <vector>

namespace fairlead {

namespace {

using testing::Each;
using testing::ElementsAre;
using Numbers = Tile<double>;

constexpr const char* three_devices = "emulated:memory=1MiB,count=3";

Config machine_under(const char* scheduler = "owner-user", const char* devices = three_devices) {
  Config config;
  config.set("workers", 1);
  config.set("memory", "16MiB");
  config.set("scheduler", scheduler);
  config.set("devices", devices);
  return config;
}

/// Tasks by node: the core's, then the devices'.
std::vector<std::uint64_t> tasks_run(const Runtime& runtime) {
  std::vector<std::uint64_t> tasks;
  for (const auto& worker : runtime.statistics().workers) tasks.push_back(worker.tasks);
  return tasks;
}

const auto count_up = codelet("count up").cpu([](InOut<int> x) { *x += 1; }).emulated();
const auto add =
    codelet("add").cpu([](In<int> from, InOut<int> to, int more) { *to += *from + more; }).emulated();

}  // namespace

class Placement : public testing::Test {
 protected:
  Runtime runtime{machine_under()};
  std::vector<int> values = std::vector<int>(8);
  std::vector<Handle<int>> data;
  void SetUp() override {
    for (int& value : values) data.push_back(runtime.value("value", value));
  }
};

TEST_F(Placement, CountsTheConfiguredDevices) { EXPECT_EQ(runtime.devices(), 3); }

// Each datum is changed five times, first on the named device; then it stays there.
TEST_F(Placement, TasksRunOnTheNamedDevice) {
  Flow flow(runtime);
  for (int round = 0; round < 5; ++round)
    for (std::size_t i = 0; i < data.size(); ++i)
      flow.submit(round == 0 ? count_up(data[i]).on_device(i < 5 ? 2 : 0) : count_up(data[i]));
  flow.wait();
  runtime.flush();
  EXPECT_THAT(values, Each(5));
  EXPECT_THAT(tasks_run(runtime), ElementsAre(0, 15, 0, 25));
}

TEST_F(Placement, TasksRunWhereTheNamedArgumentIs) {
  Flow flow(runtime);
  flow.submit(count_up(data[0]).on_device(1));
  for (std::size_t i = 1; i < data.size(); ++i) flow.submit(add(data[0], data[i], 10).where(0).on_device(2));
  flow.wait();
  runtime.flush();
  EXPECT_THAT(values, ElementsAre(1, 11, 11, 11, 11, 11, 11, 11));
  EXPECT_THAT(tasks_run(runtime), ElementsAre(0, 0, 8, 0));
}

TEST_F(Placement, OrderedCallsKeepTheirPlacement) {
  Flow flow(runtime);
  const auto first = flow.future(count_up(data[0]).on_device(1));
  for (std::size_t i = 1; i < data.size(); ++i) flow.submit(count_up(data[i]).after(first).on_device(1));
  flow.submit(add(data[0], data[1], 0).after(first).where(1));
  flow.wait();
  EXPECT_THAT(tasks_run(runtime), ElementsAre(0, 0, 9, 0));
}

TEST_F(Placement, RecordedTasksKeepTheirPlacement) {
  Recording step(runtime);
  for (const Handle<int>& datum : data) step.submit(count_up(datum).on_device(2));
  for (std::size_t i = 1; i < data.size(); ++i) step.submit(add(data[0], data[i], 0).where(0));
  step.run();
  step.run();
  runtime.flush();
  EXPECT_THAT(values, ElementsAre(2, 5, 5, 5, 5, 5, 5, 5));
  EXPECT_THAT(tasks_run(runtime), ElementsAre(0, 0, 0, 30));
}

TEST_F(Placement, DataFollowTheAdvice) {
  for (const Handle<int>& datum : data) runtime.advise(datum, 1);
  runtime.advise(data[7], 2);
  Flow flow(runtime);
  for (const Handle<int>& datum : data) flow.submit(count_up(datum));
  flow.wait();
  EXPECT_THAT(tasks_run(runtime), ElementsAre(0, 0, 7, 1));
}

// 6 x 6 tiles over a grid of 1 x 3 devices: 12 each. A core reads some in between, which has no effect.
TEST(PlacementOfTiles, FollowsAMap) {
  Runtime runtime(machine_under());
  auto a = runtime.tiled<double>("A", 48, 48, 8);
  a.advise(CyclicMap{.device_rows = 1, .device_columns = 3});
  const auto fill = codelet("fill").emulated([](Out<Numbers> t, double value) {
    for (int k = 0; k < 64; ++k) t.data()[k] = value;
  });
  const auto twice = codelet("twice")
                         .cpu([](InOut<Numbers> t) {
                           for (int k = 0; k < 64; ++k) t.data()[k] *= 2;
                         })
                         .emulated();
  double sum = 0;
  const auto total = runtime.value("total", sum);
  const auto look = codelet("look").cpu([](In<Numbers> t, Commute<double> into) { *into += t(7, 7); });
  Flow flow(runtime);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) flow.submit(fill(a(i, j), i + 10 * j));
  for (int i = 0; i < 6; ++i) flow.submit(look(a(i, i), total));
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) flow.submit(twice(a(i, j)));
  for (int i = 0; i < 6; ++i) flow.submit(look(a(i, i), total));
  flow.wait();
  runtime.flush();
  EXPECT_EQ(sum, 3 * 11 * 15);
  EXPECT_THAT(tasks_run(runtime), ElementsAre(12, 24, 24, 24));
}

TEST(PlacementOfTiles, OfATriangleCoversItsTilesOnly) {
  Runtime runtime(machine_under());
  auto a = runtime.tiled<double>("A", 48, 48, 8, Tiles::lower);
  int asked = 0;
  a.advise([&](std::int32_t row, std::int32_t column) {
    EXPECT_LE(column, row);
    return ++asked % 3;
  });
  EXPECT_EQ(asked, 21);
}

// Placement is a hint: all other policies ignore it.
class OtherPolicies : public testing::TestWithParam<const char*> {};

TEST_P(OtherPolicies, GiveTheSameResults) {
  Runtime runtime(machine_under(GetParam()));
  std::vector<int> values(30);
  Flow flow(runtime);
  std::vector<Handle<int>> data;
  for (int& value : values) data.push_back(runtime.value("value", value));
  for (int round = 0; round < 4; ++round)
    for (std::size_t i = 0; i < data.size(); ++i) {
      flow.submit(count_up(data[i]).on_device(static_cast<int>(i % 3)));
      flow.submit(add(data[(i + 1) % data.size()], data[i], 1).where(0));
    }
  flow.wait();
  runtime.flush();
  std::vector<int> expected(30);
  for (int round = 0; round < 4; ++round)
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ++expected[i];
      expected[i] += expected[(i + 1) % expected.size()] + 1;
    }
  EXPECT_EQ(values, expected);
}

INSTANTIATE_TEST_SUITE_P(Names, OtherPolicies,
                         testing::Values("eager", "dmda", "owner-load", "owner-random",
                                         "owner-load:tolerance=reuse-only", "owner-user"));

// Each device holds 3 of 12 tiles, 32 KiB each; they are evicted all the time, and placed again.
TEST(PlacementWithLittleMemory, EvictsAndPlacesAgain) {
  for (const char* policy : {"owner-user", "owner-load", "owner-random"}) {
    SCOPED_TRACE(policy);
    Runtime runtime(machine_under(policy, "emulated:memory=96KiB,count=2"));
    auto a = runtime.tiled<double>("A", 64 * 12, 64, 64);
    a.advise(RowCyclicMap{.devices = 2});
    const auto fill = codelet("fill").emulated([](Out<Numbers> t, double value) {
      for (int k = 0; k < 64 * 64; ++k) t.data()[k] = value;
    });
    const auto more = codelet("more").emulated([](In<Numbers> from, InOut<Numbers> to) {
      for (int k = 0; k < 64 * 64; ++k) to.data()[k] += from.data()[k];
    });
    double sum = 0;
    const auto total = runtime.value("total", sum);
    const auto look = codelet("look").cpu([](In<Numbers> t, Commute<double> into) { *into += t(7, 7); });
    std::vector<double> expected(12);
    Flow flow(runtime);
    for (int i = 0; i < 12; ++i) {
      flow.submit(fill(a(i, 0), i + 1));
      expected[static_cast<std::size_t>(i)] = i + 1;
    }
    for (int round = 0; round < 10; ++round)
      for (int i = 0; i < 12; ++i) {
        const int from = (i + 1 + round) % 12;
        if (from == i) continue;
        flow.submit(more(a(from, 0), a(i, 0)));
        expected[static_cast<std::size_t>(i)] += expected[static_cast<std::size_t>(from)];
      }
    double expected_sum = 0;
    for (int i = 0; i < 12; ++i) {
      flow.submit(look(a(i, 0), total));
      expected_sum += expected[static_cast<std::size_t>(i)];
    }
    flow.wait();
    EXPECT_EQ(sum, expected_sum);
    const auto nodes = runtime.statistics().nodes;
    EXPECT_GT(nodes[1].evictions + nodes[2].evictions, 0u);
  }
}

}  // namespace fairlead
