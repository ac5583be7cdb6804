// Scratch: a task's temporary memory, which counts in its footprint and is never copied.
#include "sanitized.hpp"
#include "whole/data/worlds.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

namespace fairlead {

TEST(Scratch, IsAsLargeAsTheCallSays) {
  Runtime runtime(settings("1MiB", one_device));
  const auto body = [](InOut<double> sum, Scratch<double> a, int n, Scratch<char> b, Scratch<double> c) {
    EXPECT_EQ(a.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(b.size(), 3u);
    EXPECT_EQ(c.size(), 10u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(c.data()) % 64, 0u);
    for (double& x : a) x = 1;
    for (char& x : b) x = 'x';
    for (double& x : c) x = 2;
    *sum += std::accumulate(a.begin(), a.end(), 0.0) + std::accumulate(c.begin(), c.end(), 0.0) +
            static_cast<double>(std::count(b.begin(), b.end(), 'x'));
  };
  double sum = 0;
  const auto handle = runtime.value("sum", sum);
  Flow flow(runtime);
  for (int n = 0; n < 50; ++n) {
    flow.submit(on_cores("core", body)(handle, scratch(n), n, scratch(3), scratch(10)));
    flow.submit(on_devices("device", body)(handle, scratch(n), n, scratch(3), scratch(10)));
  }
  flow.wait();
  runtime.flush();
  EXPECT_EQ(sum, 2 * (49 * 50 / 2) + 100 * 23);
}

// Such tasks reserve no memory.
TEST(Scratch, OfNoElementsHasNoMemory) {
  Runtime runtime(settings("1MiB"));
  int runs = 0;
  const auto handle = runtime.value("runs", runs);
  const auto body = [](InOut<int> count, Scratch<double> none) {
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(none.size(), 0u);
    ++*count;
  };
  Flow flow(runtime);
  for (int i = 0; i < 1000; ++i) flow.submit(on_cores("empty", body)(handle, scratch(0)));
  flow.wait();
  EXPECT_EQ(runs, 1000);
}

// Concurrent tasks have separate scratch memory.
TEST(Scratch, IsExclusiveWhileTheTaskRuns) {
  Runtime runtime(settings("256KiB"));
  std::atomic<int> wrong = 0;
  const auto body = [&wrong](Scratch<int> mine, int id) {
    for (int& x : mine) x = id;
    for (int round = 0; round < (tests::thread_sanitized ? 5 : 20); ++round)
      for (const int x : mine) wrong += x != id;
  };
  Flow flow(runtime);
  for (int i = 0; i < 200; ++i) flow.submit(on_cores("alone", body)(scratch(8192), i));
  flow.wait();
  EXPECT_EQ(wrong, 0);
}

// Memory of 64 KiB: eight data of 16 KiB, and tasks with one of them and 32 KiB of scratch. Data are evicted
// for scratch, which is never written to the disk.
TEST(Scratch, EvictsDataAndIsNeverWritten) {
  Runtime runtime(settings("64KiB"));
  const auto a = runtime.tiled<double>("A", 8 * 64, 32, 64);
  const auto fill = on_cores("fill", [](Out<Tile<double>> t, double value) {
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < t.rows(); ++i) t(i, j) = value;
  });
  const auto twice = on_cores("twice", [](InOut<Tile<double>> t, Scratch<double> copy) {
    std::copy(t.data(), t.data() + 2048, copy.begin());
    std::copy(t.data(), t.data() + 2048, copy.begin() + 2048);
    for (std::size_t i = 0; i < 2048; ++i) t.data()[i] = copy[i] + copy[i + 2048];
  });
  Flow flow(runtime);
  for (int i = 0; i < 8; ++i) flow.submit(fill(a(i, 0), i));
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 8; ++i) flow.submit(twice(a(i, 0), scratch(4096)));
  flow.wait();
  for (int i = 0; i < 8; ++i) {
    const auto hold = flow.acquire(read(a(i, 0)));
    EXPECT_EQ(hold.get<0>()(63, 31), 16.0 * i);
  }
  EXPECT_LE(runtime.disk_traffic().written, 5 * 8 * 16384u);
  EXPECT_EQ(runtime.statistics().nodes[0].peak_bytes, 65536u);
}

}  // namespace fairlead
