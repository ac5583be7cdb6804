// More small values than the memory of a rank holds, one page each: they are produced and received no faster
// than they are used. If all of them are needed at once, all arrive.
#include <gtest/gtest.h>
#include <fairlead/flow.hpp>
#include <fairlead/ptg.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "at_length.hpp"
#include "base/random.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::over_ranks {
namespace {

using Number = Tile<std::int64_t>;

void on_small_ranks(std::uint32_t count, std::int64_t workers, const std::function<void(Runtime&)>& rank) {
  const auto config_of = [&](std::uint32_t) {
    Config config;
    config.set("workers", workers);
    config.set("memory", "1MiB");
    config.set("bind-threads", false);
    return config;
  };
  for (const std::string& thrown : tests::on_ranks(count, config_of, rank)) EXPECT_EQ(thrown, "");
}

/// One number per rank: placement of the tasks and shape of their values.
TiledMatrix<std::int64_t> number_of_each_rank(Runtime& runtime) {
  return runtime.tiled<std::int64_t>(
      "rank", static_cast<std::int32_t>(runtime.ranks()), 1, TileSize{1, 1},
      Distribution([](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row); }));
}

const auto give = codelet("give").cpu([](Out<Number> value, std::int64_t i) { value(0, 0) = 3 * i + 1; });

TEST(ManySmallValues, ForASlowerRankAreNotWrittenToTheDisk) {
  constexpr std::int64_t values = tests::thread_sanitized ? 1000 : 3000;
  on_small_ranks(3, 1, [&](Runtime& runtime) {
    std::atomic<std::int64_t> sum{0};
    const auto take = codelet("take").cpu([&](In<Number> value) {
      for (const auto begin = std::chrono::steady_clock::now();
           std::chrono::steady_clock::now() - begin < std::chrono::microseconds(20);) {
      }
      sum += value(0, 0);
    });
    const auto places = number_of_each_rank(runtime);
    ptg::Graph graph(runtime);
    const ptg::Index i("i");
    const auto at = graph.data(places);
    auto gives = graph.task("give", i.in(0, values - 1));
    auto takes = graph.task("take", i.in(0, values - 1));
    gives.runs(give, ptg::flow("v").from(ptg::fresh_like(at)), i).at(at(i % 2 + 1, 0));
    takes.runs(take, ptg::flow("v").from(gives["v"](i))).at(at(0, 0));
    graph.run();
    if (runtime.rank() == 0) {
      EXPECT_EQ(sum.load(), 3 * values * (values - 1) / 2 + values);
    }
    for (const Statistics::Node& node : runtime.statistics().nodes)
      EXPECT_EQ(node.evictions, 0u) << node.name;
  });
}

// Each task takes two values that are produced far apart in time on random ranks; two tasks take the same
// values. Many more values than are first admitted must be present at once.
TEST(ManySmallValues, NeededAtOnceAllArrive) {
  for (std::uint64_t seed = 1; seed <= (tests::at_length() || !tests::thread_sanitized ? 6 : 3); ++seed) {
    Random random(seed);
    const auto ranks = static_cast<std::uint32_t>(1 + random.between(1, 4));
    const std::int64_t values = 300 + static_cast<std::int64_t>(random.below(500));
    const std::int64_t shift = 1 + static_cast<std::int64_t>(random.below(ranks));
    const std::int64_t stride = 1 + static_cast<std::int64_t>(random.below(3));
    std::atomic<std::int64_t> sum{0};
    on_small_ranks(ranks, 1 + random.between(0, 1), [&](Runtime& runtime) {
      const auto join = codelet("join").cpu([&](In<Number> a, In<Number> b, std::int64_t k) {
        EXPECT_EQ(a(0, 0), 3 * k + 1);
        EXPECT_EQ(b(0, 0), 3 * (values - 1 - k) + 1);
        sum += a(0, 0) + 2 * b(0, 0);
      });
      const auto places = number_of_each_rank(runtime);
      ptg::Graph graph(runtime);
      const ptg::Index i("i"), k("k");
      const auto at = graph.data(places);
      const auto count = static_cast<std::int64_t>(runtime.ranks());
      auto gives = graph.task("give", i.in(0, values - 1));
      auto joins = graph.task("join", k.in(0, values - 1));
      gives.runs(give, ptg::flow("v").from(ptg::fresh_like(at)), i).at(at(i * stride % count, 0));
      joins.runs(join, ptg::flow("a").from(gives["v"](k)), ptg::flow("b").from(gives["v"](values - 1 - k)), k)
          .at(at((k + shift) % count, 0));
      graph.run();
    });
    EXPECT_EQ(sum.load(), 3 * (3 * values * (values - 1) / 2 + values)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fairlead::over_ranks
