// A whole and its parts: changes of one are visible in the other, in program order, on any node.
#include "whole/data/worlds.hpp"

#include <cmath>
#include <cstring>
#include <latch>
#include <vector>

namespace fairlead {

namespace {

const auto add_to_vector = [](InOut<Vector<double>> x, double much) {
  for (std::int64_t i = 0; i < x.size(); ++i) x(i) += much;
};
const auto add_to_tile = [](InOut<Tile<double>> a, double much) {
  for (int j = 0; j < a.columns(); ++j)
    for (int i = 0; i < a.rows(); ++i) a(i, j) += much;
};
const auto add_to_block = [](InOut<Block<double>> b, double much) {
  for (int k = 0; k < b.extent(2); ++k)
    for (int j = 0; j < b.extent(1); ++j)
      for (int i = 0; i < b.extent(0); ++i) b(i, j, k) += much;
};

Bytes to_home(const Runtime& runtime, const std::string& wire) {
  for (const auto& link : runtime.statistics().links)
    if (link.name == wire) return link.bytes_to_home();
  ADD_FAILURE() << "no link " << wire;
  return 0;
}

}  // namespace

// +1 on the whole, +10 on part i times i, +1 on the whole; on cores, on the device, and by turns.
TEST(Partition, TheWholeAndItsPartsTakeTurns) {
  for (const int where : {0, 1, 2}) {
    Runtime runtime(settings("16MiB", one_device));
    std::vector<double> memory(100 * 3, 0);
    const auto whole = runtime.vector("x", memory.data(), 100, 3);
    const auto parts = runtime.split(whole, 30);
    ASSERT_EQ(parts.parts(), 4);
    EXPECT_EQ(parts(3).size(), 10);
    const auto core = on_cores("add", add_to_vector);
    const auto device = on_devices("add", add_to_vector);
    Flow flow(runtime);
    flow.submit((where == 1 ? device : core)(whole, 1.0));
    for (int i = 0; i < 4; ++i) flow.submit((where == 0 ? core : device)(parts(i), 10.0 * i));
    flow.submit((where == 2 ? core : device)(whole, 1.0));
    flow.submit(core(parts(3), 100.0));
    flow.wait();
    runtime.flush();
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(memory[static_cast<std::size_t>(3 * i)], 2 + 10 * (i / 30) + (i >= 90 ? 100 : 0)) << i;
      EXPECT_EQ(memory[static_cast<std::size_t>(3 * i + 1)], 0);
    }
  }
}

// Rows, columns and blocks of the same matrix, one after the other: from one partition to the next without
// the whole.
TEST(Partition, OneDatumHasSeveralPartitions) {
  Runtime runtime(settings("16MiB", one_device));
  const int n = 50, leading = 53;
  std::vector<double> memory(leading * n, 0);
  const auto whole = runtime.matrix("A", memory.data(), n, n, leading);
  const auto rows = runtime.split(whole, 8, n);
  const auto columns = runtime.split(whole, n, 9);
  const auto blocks = runtime.split(whole, 20, 20);
  const auto core = on_cores("add", add_to_tile);
  const auto device = on_devices("add", add_to_tile);
  Flow flow(runtime);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < rows.parts(0); ++i) flow.submit((i % 2 == 0 ? core : device)(rows(i), 1.0 * i));
    for (int j = 0; j < columns.parts(1); ++j)
      flow.submit((j % 2 == 0 ? device : core)(columns(0, j), 100.0 * j));
    flow.submit((round % 2 == 0 ? core : device)(blocks(1, 2), 10000.0));
  }
  flow.wait();
  runtime.flush();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < leading; ++i)
      ASSERT_EQ(memory[static_cast<std::size_t>(i + leading * j)],
                i >= n ? 0 : 3 * (i / 8 + 100 * (j / 9) + (i / 20 == 1 && j / 20 == 2 ? 10000 : 0)))
          << i << ", " << j;
}

TEST(Partition, BricksOfABlock) {
  Runtime runtime(settings("16MiB", one_device));
  std::vector<double> memory(10 * 9 * 8, 0);
  const auto whole = runtime.block("u", memory.data(), {10, 9, 8}, {10, 90});
  const auto bricks = runtime.split(whole, {4, 4, 4});
  Flow flow(runtime);
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        flow.submit(on_devices("add", add_to_block)(bricks(i, j, k), i + 10.0 * j + 100.0 * k));
  flow.submit(on_cores("add", add_to_block)(whole, 1000.0));
  flow.wait();
  for (int k = 0; k < 8; ++k)
    for (int j = 0; j < 9; ++j)
      for (int i = 0; i < 10; ++i)
        ASSERT_EQ(memory[static_cast<std::size_t>(i + 10 * j + 90 * k)],
                  1000 + i / 4 + 10 * (j / 4) + 100 * (k / 4));
}

// Four parts of 8,000 bytes on the device, of which two are changed there: a switch writes back only
// these.
TEST(Partition, ASwitchWritesBackOnlyDirtyParts) {
  Runtime runtime(settings("16MiB", one_device));
  std::vector<double> memory(4000, 0);
  const auto whole = runtime.vector("x", memory.data(), 4000);
  const auto parts = runtime.split(whole, 1000);
  const auto look = on_devices("look", [](In<Vector<double>>) {});
  Flow flow(runtime);
  flow.submit(on_devices("add", add_to_vector)(parts(0), 1.0));
  flow.submit(look(parts(1)));
  flow.submit(look(parts(2)));
  flow.submit(on_devices("add", add_to_vector)(parts(3), 1.0));
  flow.submit(on_cores("add", add_to_vector)(whole, 1.0));
  flow.wait();
  EXPECT_EQ(to_home(runtime, "emulated 0"), 2 * 8000u);
  EXPECT_EQ(memory[0] + memory[1000] + memory[3999], 5);
}

// A vector of 512 KiB in memory of 64 KiB, in parts of 32 KiB: no task could use the whole, but with a device
// that can hold it one does.
TEST(Partition, AKeptDatumIsSplitWhereItsHomeIsOnDisk) {
  Runtime runtime(settings("64KiB", "emulated:memory=1MiB"));
  const auto whole = runtime.vector<double>("x", 65536);
  const auto parts = runtime.split(whole, 4096);
  const auto set = on_cores("set", [](Out<Vector<double>> x, double first) {
    for (std::int64_t i = 0; i < x.size(); ++i) x(i) = first + static_cast<double>(i);
  });
  Flow flow(runtime);
  for (int i = 0; i < 16; ++i) flow.submit(set(parts(i), 4096.0 * i));
  flow.submit(on_devices("add", add_to_vector)(whole, 1.0));
  for (int i = 0; i < 16; ++i) flow.submit(on_cores("add", add_to_vector)(parts(i), 1.0));
  flow.wait();
  for (int i = 0; i < 16; ++i) {
    const auto hold = flow.acquire(read(parts(i)));
    const auto view = hold.get<0>();
    for (std::int64_t e = 0; e < 4096; e += 100) ASSERT_EQ(view(e), 4096.0 * i + static_cast<double>(e) + 2);
  }
}

// The end of a partition makes the datum whole.
TEST(Partition, TheWholeHasTheValuesOfThePartsAfterThePartition) {
  Runtime runtime(settings("16MiB", one_device));
  std::vector<double> memory(100, 0);
  const auto whole = runtime.vector("x", memory.data(), 100);
  Flow flow(runtime);
  for (int round = 0; round < 3; ++round) {
    const auto parts = runtime.split(whole, 10);
    for (int i = 0; i < 10; ++i) flow.submit(on_devices("add", add_to_vector)(parts(i), 1.0));
  }
  EXPECT_EQ(memory, std::vector<double>(100, 3));
  flow.submit(on_cores("add", add_to_vector)(whole, 1.0));
  flow.wait();
  EXPECT_EQ(memory, std::vector<double>(100, 4));
  runtime.remove(whole);
}

// A failed task was the writer of a part: the whole has no value, until it is overwritten.
TEST(Partition, FailuresPassFromPartsToTheWhole) {
  Runtime runtime(settings("16MiB", one_device));
  std::vector<double> memory(100, 0);
  const auto whole = runtime.vector("x", memory.data(), 100);
  const auto parts = runtime.split(whole, 10);
  const auto fail = on_devices("fail", [](InOut<Vector<double>>) { throw std::runtime_error("on purpose"); });
  const auto replace = on_cores("replace", [](Out<Vector<double>> x) {
    for (std::int64_t i = 0; i < x.size(); ++i) x(i) = 7;
  });
  Flow flow(runtime);
  flow.submit(fail(parts(3)));
  flow.submit(on_cores("add", add_to_vector)(whole, 1.0));
  EXPECT_THROW(flow.wait(), TaskError);
  flow.submit(replace(whole));
  flow.submit(on_devices("add", add_to_vector)(parts(3), 1.0));
  flow.wait();
  runtime.flush();
  EXPECT_EQ(memory[29] + memory[30], 7 + 8);
}

// A flow is cancelled while a device holds the newest value: its write-back does not overwrite later
// values.
TEST(Partition, CancellingLeavesNoLaterWriteBack) {
  for (int round = 0; round < 30; ++round) {
    Runtime runtime(settings("16MiB", one_device));
    std::vector<double> memory(3000, 0);
    const auto whole = runtime.vector("x", memory.data(), 3000);
    const auto parts = runtime.split(whole, 1000);
    Flow flow(runtime);
    flow.submit(on_devices("add", add_to_vector)(whole, 1.0));
    if (round % 2 == 0) flow.wait();
    // One task waits for the cancelling, so that there is always something to cancel.
    std::latch cancelled(1);
    const auto wait_and_add = [&cancelled](InOut<Vector<double>> x) {
      cancelled.wait();
      add_to_vector(x, 1.0);
    };
    for (int i = 0; i < 20; ++i) {
      if (i == round % 20) flow.submit(on_cores("wait", wait_and_add)(parts(i % 3)));
      flow.submit(on_cores("add", add_to_vector)(parts(i % 3), 1.0));
      flow.submit(on_devices("add", add_to_vector)(whole, 1.0));
    }
    flow.cancel();
    cancelled.count_down();
    EXPECT_THROW(flow.wait(), TaskError);
    Flow next(runtime);
    const auto replace = on_cores("replace", [](Out<Vector<double>> x) {
      for (std::int64_t i = 0; i < x.size(); ++i) x(i) = 7;
    });
    for (int i = 0; i < 3; ++i) next.submit(replace(parts(i)));
    next.wait();
    runtime.flush();
    EXPECT_EQ(memory, std::vector<double>(3000, 7));
  }
}

}  // namespace fairlead
