// Out of core as in core, bit for bit, at sizes where the disk really works: twelve capacities from one
// task's footprint upwards, 1, 2 and 4 workers. The factor is kept in 64-bit digests of its tiles.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/random.hpp"
#include "linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

std::int64_t number_from(const char* variable, std::int64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::atoll(text);
}

struct Result {
  std::vector<std::uint64_t> digests{};  // of the tiles' lower triangles
  Bytes read = 0;
  bool operator==(const Result& other) const { return digests == other.digests; }
};

Result run(std::int64_t n, std::int32_t tile, const Setting& setting) {
  Runtime runtime(config_of(setting));
  const auto a = runtime.tiled<double>("A", n, n, tile, Tiles::lower);
  Flow flow(runtime);
  fill<double>(flow, std::make_shared<GeneratedSpd<double>>(n, 17), a, Tiles::lower);
  flow.wait();
  runtime.flush();
  runtime.drop_clean();
  cholesky(flow, kernels(), a);
  Result result;
  result.digests.resize(static_cast<std::size_t>(a.tile_rows()) * static_cast<std::size_t>(a.tile_rows()));
  const auto digest = codelet("digest").cpu([&](In<Tile<double>> t, std::int32_t i, std::int32_t j) {
    std::uint64_t value = 0;
    for (int c = 0; c < t.columns(); ++c)
      for (int r = i == j ? c : 0; r < t.rows(); ++r) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &t(r, c), sizeof bits);
        value = Random::mix(value ^ bits) + 1;
      }
    result.digests[static_cast<std::size_t>(i * a.tile_rows() + j)] = value;
  });
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j <= i; ++j) flow.submit(digest(a(i, j), i, j));
  wait_for_results(flow);
  result.read = runtime.disk_traffic().read;
  return result;
}

TEST(OutOfCoreSweep, GivesTheSameBitsAsInCore) {
  const std::int64_t n = number_from("FAIRLEAD_N", 4096);
  const auto tile = static_cast<std::int32_t>(number_from("FAIRLEAD_TILE", 256));
  const std::int64_t tiles = (n + tile - 1) / tile;
  const Bytes all = static_cast<Bytes>(tiles * (tiles + 1) / 2);
  const Bytes tile_bytes = static_cast<Bytes>(tile) * static_cast<Bytes>(tile) * sizeof(double);
  const Result in_core = run(n, tile, {.memory = (all + 1) * tile_bytes});
  std::vector<Bytes> capacities{3, 4, 5, 6, 8, 12, all / 10, all / 6, all / 4, all / 3, all / 2, all - 1};
  const char* const policies[] = {"lws", "darts", "eager", "blocks"};
  int turn = 0;
  for (const std::size_t workers : {1, 2, 4})
    for (const Bytes capacity : capacities) {
      const char* const policy = policies[turn++ % 4];
      const Result result =
          run(n, tile, {.workers = workers, .memory = capacity * tile_bytes + 8192, .scheduler = policy});
      EXPECT_TRUE(result == in_core) << workers << " workers, " << capacity << " tiles, " << policy;
      EXPECT_GT(result.read, 0u);
      std::printf("%zu workers, memory of %4zu of %zu tiles, %-6s read %6.2f GB\n", workers,
                  static_cast<std::size_t>(capacity), static_cast<std::size_t>(all), policy,
                  static_cast<double>(result.read) * 1e-9);
    }
}

}  // namespace
}  // namespace fairlead::linalg::testing
