// A device is lost during a run on real threads: at any copy or task, the run ends with correct values or with an error
// that names device, task and datum; never with wrong values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "at_length.hpp"

namespace fairlead {

namespace {

using testing::HasSubstr;

constexpr int tiles = 6, rounds = 4, edge = 16;

Config machine_that_loses(const std::string& devices, const char* scheduler) {
  Config config;
  config.set("workers", "2");
  config.set("memory", "16MiB");
  config.set("scheduler", scheduler);
  config.set("devices", devices);
  return config;
}

std::uint64_t step(std::uint64_t mine, std::uint64_t neighbours) { return 31 * mine + 7 * neighbours + 1; }

/// Each round, a task updates each tile from its neighbour. Returns the final values of all tiles.
std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < tiles; ++i) values.push_back(static_cast<std::uint64_t>(i));
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < tiles; ++i)
      values[static_cast<std::size_t>(i)] =
          step(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>((i + 1) % tiles)]);
  return values;
}

struct End {
  std::string error;  // empty: none
  std::vector<std::uint64_t> values;
};

/// `own`: the tiles are in user memory, otherwise on disk.
End run(const std::string& devices, const char* scheduler, bool own) {
  End end;
  std::vector<std::uint64_t> memory(static_cast<std::size_t>(tiles * edge * edge));
  try {
    Runtime runtime(machine_that_loses(devices, scheduler));
    const auto a = own ? runtime.tiled_in_place("A", memory.data(), tiles * edge, edge, tiles * edge, edge)
                       : runtime.tiled<std::uint64_t>("A", tiles * edge, edge, edge);
    const auto set_body = [](Out<Tile<std::uint64_t>> t, std::uint64_t x) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = x;
    };
    const auto step_body = [](In<Tile<std::uint64_t>> neighbour, InOut<Tile<std::uint64_t>> t) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = step(t(i, j), neighbour(i, j));
    };
    const auto set = codelet("set").cpu(set_body).emulated(set_body);
    const auto set_there = codelet("set_there").emulated(set_body);
    const auto change = codelet("change").cpu(step_body).emulated(step_body);
    Flow flow(runtime);
    flow.submit(set_there(a(0, 0), 0u));  // so that the device runs a task, however fast the workers are
    for (int i = 1; i < tiles; ++i) flow.submit(set(a(i, 0), static_cast<std::uint64_t>(i)));
    for (int round = 0; round < rounds; ++round)
      for (int i = 0; i < tiles; ++i) flow.submit(change(a((i + 1) % tiles, 0), a(i, 0)));
    flow.wait();
    if (own) {  // the values in user memory after a wait
      for (int i = 0; i < tiles; ++i)
        end.values.push_back(memory[static_cast<std::size_t>(i * edge + edge / 2)]);
      return end;
    }
    for (int i = 0; i < tiles; ++i) {
      const auto held = flow.acquire(read(a(i, 0)));
      end.values.push_back(held.get<0>()(edge / 2, 1));
    }
  } catch (const Error& error) {
    end.error = error.what();
  }
  return end;
}

}  // namespace

class LostDevice : public testing::TestWithParam<const char*> {};

TEST_P(LostDevice, GivesCorrectValuesOrAnErrorThatNamesIt) {
  int right = 0, errors = 0;
  std::vector<int> afters = {100000};  // never
  for (int after = 1; after <= 60; after += tests::at_length() ? 1 : tests::sanitized ? 8 : 3)
    afters.push_back(after);
  for (const int after : afters)
    for (const bool own : {false, true})
      for (const char* others : {"", "+emulated:memory=64KiB,bandwidth=1GB/s"}) {
        const std::string devices =
            "emulated:memory=64KiB,bandwidth=1GB/s,lost=" + std::to_string(after) + others;
        const End end = run(devices, GetParam(), own);
        if (end.error.empty()) {
          ++right;
          EXPECT_EQ(end.values, expected()) << devices << (own ? ", in place" : "");
        } else {
          ++errors;
          EXPECT_THAT(end.error, HasSubstr("emulated 0")) << devices;
          EXPECT_THAT(end.error, HasSubstr("it was set to be lost after")) << devices;
          EXPECT_THAT(end.error, HasSubstr("A[")) << devices;
        }
      }
  EXPECT_GT(right, 0);
  EXPECT_GT(errors, 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, LostDevice,
                         testing::Values("eager", "dmdas", "darts", "blocks", "heteroprio"),
                         [](const auto& instance) { return std::string(instance.param); });

// Data whose only replica was on the device are lost; overwritten data are valid; tasks that only the device can run fail.
TEST(LostDevices, LoseDataWithoutAnotherReplica) {
  Runtime runtime(machine_that_loses("emulated:memory=1MiB,bandwidth=1MB/s,lost=3", "eager"));
  std::vector<double> numbers(4096, 1), others(4096, 1);
  const auto gone = runtime.vector("gone", numbers.data(), 4096),
             kept = runtime.vector("kept", others.data(), 4096);
  const auto change = codelet("change").emulated([](InOut<Vector<double>> v) { v(0) += 1; });
  const auto look = codelet("look").cpu([](In<Vector<double>>) {});
  const auto set = codelet("set").cpu([](Out<Vector<double>> v) { v(0) = 7; });
  Flow flow(runtime);
  flow.submit(change(gone));  // a copy to the device, the task, and a copy home or to the device
  flow.submit(change(kept));
  flow.submit(look(gone));
  try {
    flow.wait();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("it was set to be lost after 3 copies and tasks"));
    EXPECT_THAT(error.what(), HasSubstr("emulated 0"));
  }
  flow.submit(set(gone));
  flow.submit(set(kept));
  flow.wait();
  EXPECT_EQ(numbers[0], 7);
  EXPECT_EQ(others[0], 7);
  flow.submit(change(kept));
  try {
    flow.wait();
    FAIL();
  } catch (const TaskError& error) {
    EXPECT_THAT(error.what(), HasSubstr("change(kept)"));
    EXPECT_THAT(error.what(),
                HasSubstr("no worker that could run it is left; the device \"emulated 0\" is lost"));
  }
}

}  // namespace fairlead
