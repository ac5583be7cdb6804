// User memory after a wait: it has the newest values, wherever they were computed.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/event_log.hpp"
#include "engine/replay.hpp"
#include "schedule/policies.hpp"

namespace fairlead {

namespace {

class OwnMemory : public ::testing::Test {
 protected:
  explicit OwnMemory(const char* devices = "emulated:memory=1MiB + emulated:memory=64KiB,copies=blocking")
      : runtime(machine(devices)), flow(runtime) {}

  static Config machine(const char* devices) {
    Config config;
    config.set("workers", "1");
    config.set("memory", "16MiB");
    config.set("scheduler", "eager");
    config.set("devices", devices);
    return config;
  }
  /// Bytes copied from the first device.
  Bytes brought() const {
    for (const auto& link : runtime.statistics().links)
      if (link.name == "emulated 0") return link.bytes_to_home();
    ADD_FAILURE() << "the device has no link";
    return 0;
  }
  NodeId device(int i) const { return runtime.memory_node("emulated " + std::to_string(i)); }

  Runtime runtime;
  Flow flow;
  long x = 1, y = 1;
  Handle<long> a = runtime.value("x", x), b = runtime.value("y", y);
  const Codelet<InOut<long>> twice = codelet("twice").cpu([](InOut<long> v) { *v *= 2; }).emulated();
};

}  // namespace

TEST_F(OwnMemory, IsUpToDateAfterAFlowsWait) {
  flow.submit(twice(a).on(device(0)));
  flow.submit(twice(b).on(device(1)));
  flow.wait();
  EXPECT_EQ(x, 2);
  EXPECT_EQ(y, 2);
}

TEST_F(OwnMemory, IsUpToDateAfterEachOfManyWaits) {
  for (long expected = 2; expected <= 1 << 20; expected *= 2) {
    flow.submit(twice(a).on(device(expected % 3 == 0)));
    flow.wait();
    ASSERT_EQ(x, expected);
  }
}

TEST_F(OwnMemory, IsUpToDateAfterTheFlowsDestruction) {
  {
    Flow other(runtime);
    other.submit(twice(a).on(device(0)));
  }
  EXPECT_EQ(x, 2);
}

TEST_F(OwnMemory, IsUpToDateAfterARecordingRuns) {
  Recording recording(runtime);
  recording.submit(twice(a).on(device(0)));
  recording.run();
  EXPECT_EQ(x, 2);
  recording.run();
  EXPECT_EQ(x, 4);
}

// The second wait needs no copy.
TEST_F(OwnMemory, IsCopiedOnce) {
  flow.submit(twice(a).on(device(0)));
  flow.wait();
  flow.wait();
  EXPECT_EQ(brought(), sizeof(long));
}

TEST_F(OwnMemory, NeedsNoCopyIfNoDatumLeftIt) {
  flow.submit(twice(a).on(runtime.memory_node("RAM")));
  flow.wait();
  EXPECT_EQ(x, 2);
  EXPECT_EQ(brought(), 0u);
}

// Changes of other tasks are not waited for, though they may be written back.
TEST_F(OwnMemory, HasTheValuesOfAFuturesTask) {
  flow.submit(twice(b).on(device(0)));
  const Future first = flow.future(twice(a).on(device(0)));
  first.wait();
  EXPECT_EQ(x, 2);
  EXPECT_GE(brought(), sizeof(long));
  flow.wait();
  EXPECT_EQ(y, 2);
  EXPECT_EQ(brought(), 2 * sizeof(long));
}

// Later tasks that change the datum wait for the callback, which thus reads the value that its task wrote.
TEST_F(OwnMemory, HasTheValuesOfACallbacksTask) {
  std::vector<long> seen;
  for (int i = 0; i < 20; ++i) {
    flow.submit(twice(a).on(device(i % 2)).on_done([&](std::exception_ptr) { seen.push_back(x); }));
    flow.submit(twice(a).on(device(0)));
  }
  flow.wait();
  ASSERT_EQ(seen.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], 2L << (2 * i));
  EXPECT_EQ(x, 1L << 40);
}

TEST_F(OwnMemory, ACallbackGetsTheFailureOfATaskOnADevice) {
  const auto fail = codelet("fail").emulated([](InOut<long>) { throw std::runtime_error("broken"); });
  std::string message;
  flow.submit(fail(a).on_done([&](std::exception_ptr failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      message = error.what();
    }
  }));
  EXPECT_THROW(flow.wait(), TaskError);
  EXPECT_EQ(message, "broken");
}

TEST_F(OwnMemory, AnExceptionOfACallbackFailsItsTask) {
  flow.submit(twice(a).on(device(0)).on_done([](std::exception_ptr) { throw std::runtime_error("oh"); }));
  try {
    flow.wait();
    ADD_FAILURE() << "no error";
  } catch (const TaskError& error) {
    EXPECT_NE(std::string(error.what()).find("the callback of the task twice"), std::string::npos)
        << error.what();
  }
}

// The failure of one task does not withhold the results of others.
TEST_F(OwnMemory, IsUpToDateIfAnotherTaskFailed) {
  const auto fail = codelet("fail").emulated([](InOut<long>) { throw std::runtime_error("broken"); });
  flow.submit(fail(b).on(device(0)));
  flow.submit(twice(a).on(device(0)));
  EXPECT_THROW(flow.wait(), TaskError);
  EXPECT_EQ(x, 2);
}

TEST_F(OwnMemory, IsNotUpdatedByWaitsIfDeferred) {
  runtime.refresh(a, Refresh::by_acquire);
  flow.submit(twice(a).on(device(0)));
  flow.wait();
  EXPECT_EQ(brought(), 0u);
  EXPECT_EQ(*flow.acquire(read(a)), 2);
  EXPECT_EQ(x, 2);
  flow.submit(twice(a).on(device(0)));
  runtime.refresh(a, Refresh::by_wait);
  flow.wait();
  EXPECT_EQ(x, 4);
}

TEST_F(OwnMemory, IsUpToDateWhenADeferredDatumIsRemoved) {
  runtime.refresh(a, Refresh::by_acquire);
  flow.submit(twice(a).on(device(0)));
  flow.wait();
  runtime.remove(a);
  EXPECT_EQ(x, 2);
}

TEST_F(OwnMemory, IsUpToDateWhenADeferredMatrixIsDestroyed) {
  std::vector<double> elements(9, 1);
  {
    const auto matrix = runtime.tiled_in_place<double>("A", elements.data(), 3, 3, 3, 2);
    matrix.refresh(Refresh::by_acquire);
    const auto set = codelet("set").emulated([](InOut<Tile<double>> t) { t(0, 0) = 7; });
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) flow.submit(set(matrix(i, j)).on(device(i)));
    flow.wait();
  }
  EXPECT_EQ(elements, (std::vector<double>{7, 1, 7, 1, 1, 1, 7, 1, 7}));
}

TEST(OwnMemoryAtTheEnd, IsUpToDateAfterTheRuntimesDestruction) {
  long x = 1;
  {
    Config config;
    config.set("workers", "1");
    config.set("devices", "emulated:memory=1MiB");
    Runtime runtime(config);
    const auto a = runtime.value("x", x);
    runtime.refresh(a, Refresh::by_acquire);
    Flow flow(runtime);
    flow.submit(codelet("set").emulated([](Out<long> v) { *v = 5; })(a));
    flow.wait();
  }
  EXPECT_EQ(x, 5);
}

TEST_F(OwnMemory, IsUpToDateInBlocks) {
  std::vector<long> elements(6, 1);
  const auto whole = runtime.vector("v", elements.data(), 6);
  const auto parts = runtime.split(whole, 2);
  const auto set = codelet("set").emulated([](InOut<Vector<long>> v, long value) { v(1) = value; });
  for (int i = 0; i < 3; ++i) flow.submit(set(parts(i), i + 10L).on(device(i % 2)));
  flow.wait();
  EXPECT_EQ(elements, (std::vector<long>{1, 10, 1, 11, 1, 12}));
}

TEST_F(OwnMemory, HasReducedValues) {
  const auto add = codelet("add").emulated([](Reduce<long> sum, long value) { *sum += value; });
  for (long i = 1; i <= 10; ++i) flow.submit(add(a, i).on(device(static_cast<int>(i) % 2)));
  flow.wait();
  EXPECT_EQ(x, 56);
}

// A task of another flow changes y and runs until the program releases it: the wait does not include it.
TEST_F(OwnMemory, WaitsForNoTaskOfAnotherFlow) {
  Flow other(runtime);
  std::atomic<bool> go_on{false};
  const auto hold_on = codelet("hold on").emulated([&](InOut<long> v) {
    while (!go_on.load()) std::this_thread::yield();
    *v = 9;
  });
  other.submit(hold_on(b).on(device(1)));
  flow.submit(twice(a).on(device(0)));
  flow.wait();
  EXPECT_EQ(x, 2);
  go_on.store(true);
  other.wait();
  EXPECT_EQ(y, 9);
}

// Write-backs and deferred updates follow from the log alone.
TEST(OwnMemoryInALog, IsReplayedWithDeferredUpdates) {
  const std::string path = testing::TempDir() + "own_memory_" + std::to_string(getpid()) + ".log";
  Config config;
  config.set("workers", "1");
  config.set("memory", "16MiB");
  config.set("scheduler", "eager");
  config.set("devices", "emulated:memory=1MiB");
  config.set("event-log", path);
  Runtime::Digest digest;
  {
    std::vector<long> values(40, 1);
    Runtime runtime(config);
    Flow flow(runtime);
    const auto twice = codelet("twice").cpu([](InOut<long> v) { *v *= 2; }).emulated();
    const NodeId device = runtime.memory_node("emulated 0");
    std::vector<Handle<long>> data;
    for (std::size_t i = 0; i < values.size(); ++i) {
      data.push_back(runtime.value("v" + std::to_string(i), values[i]));
      if (i % 2 == 0) runtime.refresh(data[i], Refresh::by_acquire);
    }
    for (int round = 0; round < 3; ++round) {
      for (const auto& v : data) flow.submit(twice(v).on(device));
      flow.wait();
    }
    for (std::size_t i = 1; i < values.size(); i += 2) EXPECT_EQ(values[i], 8);
    runtime.flush();
    digest = runtime.command_digest();
  }
  const engine::LogFile log = engine::EventLog::read(path);
  std::filesystem::remove(path);
  const auto again = engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.digest, digest.value);
}

}  // namespace fairlead
