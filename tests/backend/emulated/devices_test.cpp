// Real tasks on emulated accelerators and cores: every kind of copy, and the bytes transferred.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <string>
#include <utility>
#include <vector>

namespace fairlead {

namespace {

using Numbers = Tile<double>;

Config machine(const std::string& devices, const char* memory = "16MiB", const char* scheduler = "eager") {
  Config config;
  config.set("workers", "1");
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  config.set("devices", devices);
  return config;
}

Bytes crossed(const Runtime& runtime, const std::string& wire, bool away_from_home) {
  for (const auto& link : runtime.statistics().links)
    if (link.name == wire) return away_from_home ? link.bytes_from_home() : link.bytes_to_home();
  ADD_FAILURE() << "no link " << wire;
  return 0;
}

void add_one(const TileView<double>& tile) {
  for (int j = 0; j < tile.columns(); ++j)
    for (int i = 0; i < tile.rows(); ++i) tile(i, j) += 1;
}

}  // namespace

// The size that the error recommends must suffice.
TEST(Devices, RejectAMemoryLimitBelowTheStagingBuffersAndNameASufficientOne) {
  const char* const devices =
      "emulated:memory=1MiB+emulated:memory=1MiB+emulated:memory=1MiB+emulated:memory=1MiB+"
      "emulated:memory=1MiB+emulated:memory=1MiB";
  std::string enough;
  try {
    Runtime runtime(machine(devices, "64KiB"));
    FAIL();
  } catch (const ConfigError& error) {
    const std::string text = error.what(), before = "Allow at least ";
    ASSERT_NE(text.find(before), text.npos) << text;
    enough = std::to_string(std::stoull(text.substr(text.find(before) + before.size())));
  }
  Runtime runtime(machine(devices, enough.c_str()));
}

TEST(Devices, RunTheirOwnBodies) {
  Runtime runtime(machine("emulated:memory=1MiB"));
  int on_core = 0, on_device = 0;
  const auto a = runtime.value("a", on_core), b = runtime.value("b", on_device);
  const auto core = codelet("core").cpu([](InOut<int> x) { *x += 1; });
  const auto device = codelet("device").emulated([](InOut<int> x) { *x += 100; });
  Flow flow(runtime);
  for (int i = 0; i < 10; ++i) {
    flow.submit(core(a));
    flow.submit(device(b));
  }
  flow.wait();
  EXPECT_EQ(on_core, 10);
  EXPECT_EQ(on_device, 1000);
}

// Both kinds change the same value alternately: it is copied to the device and back each time.
TEST(Devices, ShareDataWithCores) {
  Runtime runtime(machine("emulated:memory=1MiB"));
  long x = 1;
  const auto datum = runtime.value("x", x);
  const auto twice = codelet("twice").cpu([](InOut<long> v) { *v *= 2; });
  const auto more = codelet("more").emulated([](InOut<long> v) { *v += 3; });
  Flow flow(runtime);
  long expected = 1;
  for (int i = 0; i < 20; ++i) {
    flow.submit(twice(datum));
    flow.submit(more(datum));
    expected = expected * 2 + 3;
  }
  flow.wait();
  EXPECT_EQ(x, expected);
  EXPECT_EQ(crossed(runtime, "emulated 0", true), 20 * sizeof(long));
  EXPECT_EQ(crossed(runtime, "emulated 0", false), 20 * sizeof(long));
}

// A strided block of the user's matrix is packed in the copy to the device and unpacked in the copy back.
TEST(Devices, UseMatricesInPlaceByPackingThem) {
  Runtime runtime(machine("emulated:memory=64KiB,copies=blocking"));
  const int rows = 37, columns = 23, leading = 41;
  std::vector<double> matrix(static_cast<std::size_t>(leading) * columns, -1);
  {
    auto a = runtime.tiled_in_place<double>("A", matrix.data(), rows, columns, leading, 10);
    const auto change = codelet("change").emulated([](InOut<Numbers> t) {
      EXPECT_EQ(t.leading_dimension(), t.rows());
      add_one(t);
    });
    const auto change_there = codelet("change there").cpu([](InOut<Numbers> t) { add_one(t); });
    Flow flow(runtime);
    for (int round = 0; round < 3; ++round)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j)
          flow.submit((i + j + round) % 2 == 0 ? change(a(i, j)) : change_there(a(i, j)));
    flow.wait();
  }
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < leading; ++i)
      EXPECT_EQ(matrix[static_cast<std::size_t>(i + j * leading)], i < rows ? 2 : -1) << i << ", " << j;
}

// A device's replica of a strided block of user memory is packed, and is copied to its peer packed.
TEST(Devices, PassPackedDataToTheirPeers) {
  Runtime runtime(machine("emulated:memory=64KiB,peers=5GB/s + emulated:memory=64KiB,peers=5GB/s"));
  const int rows = 5, columns = 4, leading = 9, size = 7, stride = 3;
  std::vector<double> matrix(static_cast<std::size_t>(leading) * columns, -1),
      numbers(static_cast<std::size_t>(size) * stride, -1);
  const auto tile = runtime.matrix<double>("A", matrix.data(), rows, columns, leading);
  const auto vector = runtime.vector<double>("v", numbers.data(), size, stride);
  const auto change = codelet("change").emulated([](InOut<Numbers> t, InOut<Vector<double>> v) {
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < t.rows(); ++i) t(i, j) = 2 * t(i, j) + i + 10 * j;
    for (int i = 0; i < v.size(); ++i) v(i) = 2 * v(i) + i;
  });
  Flow flow(runtime);
  const NodeId nodes[] = {runtime.memory_node("emulated 0"), runtime.memory_node("emulated 1")};
  for (int round = 0; round < 4; ++round) flow.submit(change(tile, vector).on(nodes[round % 2]));
  flow.wait();
  runtime.flush();
  EXPECT_GT(crossed(runtime, "emulated 0 - emulated 1", true), 0u);
  const auto after = [](double x, double added) {
    for (int round = 0; round < 4; ++round) x = 2 * x + added;
    return x;
  };
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < leading; ++i)
      EXPECT_EQ(matrix[static_cast<std::size_t>(i + j * leading)], i < rows ? after(-1, i + 10 * j) : -1)
          << i << ", " << j;
  for (int i = 0; i < size * stride; ++i)
    EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i % stride == 0 ? after(-1, i / stride) : -1) << i;
}

// The mixed machine: device 0 copies during tasks, device 1 between tasks, and no link connects the two. A tile has
// 8 x 8 x 8 = 512 bytes.
//   write A and B on device 0     no copy: overwritten tiles are not read
//   update A on device 1          A: out over link 0, in over link 1                      512, 512
//   C = A + B on device 1         B: out over link 0, in over link 1; A is there          512, 512
//   read C on device 0            C: out over link 1, in over link 0                      512, 512
//   read A, B, C on a core        RAM kept replicas of B and C from the copies; A: out over
//                                 link 1                                                  512
// Link 0: 1,024 out, 512 in. Link 1: 1,024 out, 1,024 in. Disk: nothing read; the flush writes A, B, C.
TEST(Devices, ChainCopiesThroughRam) {
  Runtime runtime(machine("emulated:memory=64KiB + emulated:memory=64KiB,copies=blocking"));
  auto a = runtime.tiled<double>("A", 8, 8, 8), b = runtime.tiled<double>("B", 8, 8, 8),
       c = runtime.tiled<double>("C", 8, 8, 8);
  const auto fill = codelet("fill").emulated([](Out<Numbers> t, double value) {
    for (int k = 0; k < 64; ++k) t.data()[k] = value;
  });
  const auto update = codelet("update").emulated([](InOut<Numbers> t) { add_one(t); });
  const auto sum = codelet("sum").emulated([](In<Numbers> x, In<Numbers> y, Out<Numbers> z) {
    for (int k = 0; k < 64; ++k) z.data()[k] = x.data()[k] + y.data()[k];
  });
  double seen = 0, on_core = 0;
  const auto look =
      codelet("look").cpu([&](In<Numbers> t) { on_core += t(7, 7); }).emulated([&](In<Numbers> t) {
        seen = t(7, 7);
      });
  const NodeId first = runtime.memory_node("emulated 0"), second = runtime.memory_node("emulated 1");
  Flow flow(runtime);
  flow.submit(fill(a(0, 0), 1.0).on(first));
  flow.submit(fill(b(0, 0), 10.0).on(first));
  flow.submit(update(a(0, 0)).on(second));
  flow.submit(sum(a(0, 0), b(0, 0), c(0, 0)).on(second));
  flow.submit(look(c(0, 0)).on(first));
  flow.wait();
  for (const auto* tiles : {&a, &b, &c}) flow.submit(look((*tiles)(0, 0)).on(runtime.memory_node("RAM")));
  flow.wait();
  EXPECT_EQ(seen, 12);
  EXPECT_EQ(on_core, 2 + 10 + 12);
  EXPECT_EQ(crossed(runtime, "emulated 0", false), 1024u);
  EXPECT_EQ(crossed(runtime, "emulated 0", true), 512u);
  EXPECT_EQ(crossed(runtime, "emulated 1", true), 1024u);
  EXPECT_EQ(crossed(runtime, "emulated 1", false), 1024u);
  EXPECT_EQ(crossed(runtime, "disk", true), 0u);
  EXPECT_EQ(crossed(runtime, "disk", false), 0u);
  runtime.flush();
  EXPECT_EQ(crossed(runtime, "disk", false), 3 * 512u);
  EXPECT_EQ(crossed(runtime, "emulated 0", false), 1024u);
}

class OutOfDeviceMemory : public testing::TestWithParam<const char*> {};

// Disk, RAM and devices, none of which holds a quarter of the matrix.
TEST_P(OutOfDeviceMemory, TilesAreEvictedAndReloaded) {
  Runtime runtime(machine(GetParam(), "1MiB", "lws"));
  const int tiles = 6, size = 64;  // 36 tiles of 32 KiB
  auto a = runtime.tiled<double>("A", tiles * size, tiles * size, size);
  const auto fill = codelet("fill")
                        .cpu([](Out<Numbers> t, double value) {
                          for (int k = 0; k < t.rows() * t.columns(); ++k) t.data()[k] = value;
                        })
                        .emulated();
  const auto add = codelet("add")
                       .cpu([](In<Numbers> from, InOut<Numbers> to) {
                         for (int k = 0; k < to.rows() * to.columns(); ++k) to.data()[k] += from.data()[k];
                       })
                       .emulated();
  double sum = 0;
  const auto total = runtime.value("sum", sum);
  const auto collect = codelet("collect").cpu([](In<Numbers> t, Commute<double> into) {
    for (int k = 0; k < t.rows() * t.columns(); ++k) *into += t.data()[k];
  });
  std::vector<std::vector<double>> expected(tiles, std::vector<double>(tiles));
  const NodeId device = runtime.memory_node("emulated 0");
  std::uint64_t for_device = 0;  // so that the device runs a task, however fast the core is
  Flow flow(runtime);
  for (int i = 0; i < tiles; ++i)
    for (int j = 0; j < tiles; ++j) {
      expected[i][j] = 1 + i + 10 * j;
      flow.submit(fill(a(i, j), expected[i][j]));
    }
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < tiles; ++i)
      for (int j = 0; j < tiles; ++j) {
        const int from = (i * 5 + j * 3 + round) % tiles, to = (i + round * 2) % tiles;
        if (from == to) continue;
        auto task = add(a(from, j), a(to, (j + 1) % tiles));
        flow.submit(j == 0 ? std::move(task).on(device) : std::move(task));
        for_device += j == 0;
        expected[to][(j + 1) % tiles] += expected[from][j];
      }
  double expected_sum = 0;
  for (int i = 0; i < tiles; ++i)
    for (int j = 0; j < tiles; ++j) {
      flow.submit(collect(a(i, j), total));
      expected_sum += expected[i][j] * size * size;
    }
  flow.wait();
  EXPECT_EQ(sum, expected_sum);
  std::uint64_t by_devices = 0;
  const auto workers = runtime.statistics().workers;
  for (std::size_t w = 1; w < workers.size(); ++w) by_devices += workers[w].tasks;
  EXPECT_GE(by_devices, for_device);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, OutOfDeviceMemory,
    testing::Values("emulated:memory=256KiB", "emulated:memory=128KiB,copies=blocking",
                    "emulated:memory=96KiB + emulated:memory=256KiB,copies=blocking",
                    "emulated:memory=128KiB,peers=20GB/s,count=2 + emulated:memory=96KiB,speed=0.5",
                    "emulated:memory=256KiB,workers=2,bandwidth=500MB/s"));

}  // namespace fairlead
