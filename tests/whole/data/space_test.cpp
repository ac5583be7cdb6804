// The space of removed data is reused, in memory and on the disk.
#include <fairlead/fairlead.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "files_may_not_grow.hpp"
#include "sanitized.hpp"

namespace fairlead::tests {
namespace space {

// A program that makes a matrix in each of its steps.
TEST(Space, SuccessiveMatricesReuseTheSpaceOfOne) {
  constexpr std::int32_t tile = 64, tiles = 8;
  constexpr std::uint64_t bytes = std::uint64_t{tile} * tile * sizeof(double) * tiles * tiles;
  const FilesMayNotGrow limit(2 * bytes);
  Config config;
  config.set("workers", "2");
  config.set("memory", std::to_string(bytes / 2) + "B");
  config.set("bind-threads", false);
  Runtime runtime(config);
  Flow flow(runtime);
  const auto set = codelet("set").cpu([](Out<Tile<double>> t, double value) {
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < t.rows(); ++i) t(i, j) = value;
  });
  const auto see = codelet("see").cpu([](In<Tile<double>> t, double* to) { *to = t(1, 2); });
  for (int step = 0; step < (fairlead::tests::thread_sanitized ? 3 : 6); ++step) {
    const auto a = runtime.tiled<double>("A", tile * tiles, tile * tiles, tile);
    std::vector<double> seen(tiles * tiles);
    for (std::int32_t i = 0; i < tiles; ++i)
      for (std::int32_t j = 0; j < tiles; ++j) flow.submit(set(a(i, j), step + j));
    for (std::int32_t i = 0; i < tiles; ++i)
      for (std::int32_t j = 0; j < tiles; ++j)
        flow.submit(see(a(i, j), &seen[static_cast<std::size_t>(i * tiles + j)]));
    flow.wait();
    for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], step + static_cast<double>(k % tiles));
  }
}

}  // namespace space
}  // namespace fairlead::tests
