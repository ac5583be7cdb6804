// Random programs over the whole and the partitions of a few data, on cores and devices, in little memory:
// every element ends as in a sequential run, and the log of the run gives the same commands again.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "engine/event_log.hpp"
#include "engine/replay.hpp"
#include "schedule/policies.hpp"
#include "whole/data/worlds.hpp"

namespace fairlead {

namespace {

/// x := a x + b, on every element: the order of tasks shows.
struct Change {
  double factor, much;
};
const auto change = [](InOut<Tile<double>> t, Change by, Scratch<double> column) {
  for (int j = 0; j < t.columns(); ++j) {
    for (int i = 0; i < t.rows(); ++i) column[static_cast<std::size_t>(i)] = by.factor * t(i, j) + by.much;
    for (int i = 0; i < t.rows(); ++i) t(i, j) = column[static_cast<std::size_t>(i)];
  }
};

struct Matrix {
  int rows, columns, leading;
  std::vector<double> memory, expected;  // in the user's memory; else the first is empty
  Handle<Tile<double>> whole;
  std::vector<Partition<Tile<double>>> partitions;
  std::vector<std::pair<int, int>> extents;

  void expect(int row, int column, int height, int width, Change by) {
    for (int j = column; j < std::min(columns, column + width); ++j)
      for (int i = row; i < std::min(rows, row + height); ++i) {
        double& x = expected[static_cast<std::size_t>(i + leading * j)];
        x = by.factor * x + by.much;
      }
  }
};

void run(std::uint64_t seed, const std::string& log_path) {
  Random random(seed);
  const std::vector<std::string_view> policies{"eager", "lws", "dmdas", "darts", "blocks"};
  const std::string policy(policies[random.below(policies.size())]);
  Config config = settings(
      "192KiB", random.once_in(2) ? "emulated:memory=128KiB + emulated:memory=96KiB" : "", policy.c_str());
  const bool devices = config.has("devices");
  config.set("event-log", log_path);
  Runtime::Digest digest;
  {
    Runtime runtime(config);
    std::vector<Matrix> all(4);
    Flow flow(runtime);
    const auto fill = on_cores("fill", [](Out<Tile<double>> t) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = 1;
    });
    for (std::size_t m = 0; m < all.size(); ++m) {
      Matrix& matrix = all[m];
      const bool kept = m % 2 == 0;
      matrix.rows = kept ? 64 : 20 + static_cast<int>(random.below(60));
      matrix.columns = kept ? 96 : 20 + static_cast<int>(random.below(60));
      matrix.leading = matrix.rows + (kept ? 0 : static_cast<int>(random.below(5)));
      matrix.expected.assign(
          static_cast<std::size_t>(matrix.leading) * static_cast<std::size_t>(matrix.columns), 1);
      const std::string name(1, static_cast<char>('A' + m));
      if (kept) {
        matrix.whole = runtime.matrix<double>(name, matrix.rows, matrix.columns);
      } else {
        matrix.memory = matrix.expected;
        matrix.whole =
            runtime.matrix(name, matrix.memory.data(), matrix.rows, matrix.columns, matrix.leading);
      }
      flow.submit(fill(matrix.whole));
      for (int p = 0; p < 3; ++p) {
        const int rows = kept ? 64 : 5 + static_cast<int>(random.below(40));
        const int columns =
            kept ? 8 * (1 + static_cast<int>(random.below(6))) : 5 + static_cast<int>(random.below(40));
        matrix.partitions.push_back(runtime.split(matrix.whole, rows, columns));
        matrix.extents.emplace_back(rows, columns);
      }
    }
    for (int t = 0; t < 150; ++t) {
      Matrix& matrix = all[random.below(all.size())];
      const Change by{random.once_in(2) ? 1.0 : -1.0, static_cast<double>(random.below(100))};
      Handle<Tile<double>> handle = matrix.whole;
      if (random.once_in(5)) {
        matrix.expect(0, 0, matrix.rows, matrix.columns, by);
      } else {
        const std::size_t p = random.below(3);
        const auto& parts = matrix.partitions[p];
        const auto i = static_cast<int>(random.below(static_cast<std::uint64_t>(parts.parts(0))));
        const auto j = static_cast<int>(random.below(static_cast<std::uint64_t>(parts.parts(1))));
        const auto [rows, columns] = matrix.extents[p];
        matrix.expect(i * rows, j * columns, rows, columns, by);
        handle = parts(i, j);
      }
      if (devices && random.once_in(2)) {
        flow.submit(on_devices("change", change)(handle, by, scratch(handle.rows())));
      } else {
        flow.submit(on_cores("change", change)(handle, by, scratch(handle.rows())));
      }
      if (random.once_in(40)) flow.wait();
    }
    flow.wait();
    for (Matrix& matrix : all) {
      const auto hold = flow.acquire(read(matrix.whole));
      const auto view = hold.get<0>();
      for (int j = 0; j < matrix.columns; ++j)
        for (int i = 0; i < matrix.rows; ++i)
          ASSERT_EQ(view(i, j), matrix.expected[static_cast<std::size_t>(i + matrix.leading * j)])
              << "seed " << seed << ", " << policy << ": " << i << ", " << j;
    }
    for (const Matrix& matrix : all)  // padding between the columns is unchanged
      for (int j = 0; !matrix.memory.empty() && j < matrix.columns; ++j)
        for (int i = matrix.rows; i < matrix.leading; ++i)
          ASSERT_EQ(matrix.memory[static_cast<std::size_t>(i + matrix.leading * j)], 1) << "seed " << seed;
    all.clear();
    runtime.flush();
    digest = runtime.command_digest();
  }
  const engine::LogFile log = engine::EventLog::read(log_path);
  try {
    const auto again = engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
    EXPECT_EQ(again.digest, digest.value) << "seed " << seed << ", " << policy;
    EXPECT_EQ(again.commands, digest.commands) << "seed " << seed;
  } catch (const Error& error) {
    ADD_FAILURE() << "seed " << seed << ", " << policy << ": " << error.what();
  }
}

}  // namespace

TEST(RandomParts, GiveTheValuesOfASequentialRun) {
  const std::uint64_t seeds = fairlead::tests::many_cases()       ? 60
                              : fairlead::tests::thread_sanitized ? 10
                                                                  : 20;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("fairlead-parts-" + std::to_string(getpid()))).string();
  for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) run(seed, path);
  std::filesystem::remove(path);
}

}  // namespace fairlead
