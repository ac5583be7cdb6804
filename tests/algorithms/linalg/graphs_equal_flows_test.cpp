// Every algorithm as a parameterized graph compared with the same algorithm as a flow: tasks, edges and bits are equal,
// in core and out of core, under every policy and with devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <type_traits>

#include "algorithms/linalg/graph_or_flow.hpp"
#include "at_length.hpp"
#include "sanitized.hpp"
#include "schedule/policies.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
class GraphsEqualFlows : public ::testing::Test {
 protected:
  static std::vector<Sizes> ten_sizes(Algorithm algorithm) {
    constexpr int tile = 16;
    if (is_qr(algorithm))
      return {{1, 1, 1, tile},    {2, 1, 3, tile},    {16, 16, 1, tile},  {17, 17, 20, tile},
              {33, 17, 1, tile},  {64, 64, 1, tile},  {61, 30, 33, tile}, {100, 16, 1, tile},
              {127, 90, 2, tile}, {190, 40, 17, tile}};
    if (is_product(algorithm))
      return {{1, 1, 1, tile},    {2, 1, 3, tile},    {16, 16, 16, tile}, {17, 17, 20, tile},
              {33, 90, 1, tile},  {64, 64, 64, tile}, {61, 30, 33, tile}, {100, 16, 1, tile},
              {40, 127, 2, tile}, {90, 40, 77, tile}};
    return {{1, 1, 1, tile},     {2, 2, 3, tile},     {15, 15, 1, tile},  {16, 16, 20, tile},
            {17, 17, 1, tile},   {33, 33, 1, tile},   {61, 61, 33, tile}, {80, 80, 1, tile},
            {100, 100, 2, tile}, {127, 127, 17, tile}};
  }
  /// The least memory with which the flow runs: that of its largest task. In steps of a page.
  static Bytes least_memory(Algorithm algorithm, const Sizes& sizes) {
    for (Bytes memory = 65536;; memory += 4096) try {
        made<T>(algorithm, sizes, By::flow, {.memory = memory});
        return memory;
      } catch (const FootprintError&) {
        continue;
      }
  }
};
using BothPrecisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GraphsEqualFlows, BothPrecisions);

TYPED_TEST(GraphsEqualFlows, InTasksAndBitsForTenSizes) {
  using T = TypeParam;
  for (const Algorithm algorithm : algorithms)
    for (const Sizes& sizes : this->ten_sizes(algorithm)) {
      const Made<T> by_flow = made<T>(algorithm, sizes, By::flow, {});
      const Made<T> by_graph = made<T>(algorithm, sizes, By::graph, {}, true);
      const std::string what = name_of(algorithm) + ", " + sizes.text();
      EXPECT_EQ(by_graph.calls, by_flow.calls) << what;
      expect_the_same_bits(by_graph, by_flow, sizes, what);
      for (const ptg::Checked& checked : by_graph.checked)
        EXPECT_EQ(checked.errors, 0u) << what << checked.text;
    }
}

// The runtime records the flow's tasks and their accesses; the edges follow from them.
TYPED_TEST(GraphsEqualFlows, InEdgesForTenSizes) {
  using T = TypeParam;
  const std::string file =
      (std::filesystem::temp_directory_path() / ("fairlead-edges-" + std::to_string(getpid()) + ".flow"))
          .string();
  for (const Algorithm algorithm : algorithms)
    for (const Sizes& sizes : this->ten_sizes(algorithm)) {
      Config config = config_of({});
      config.set("record-flow", file);
      GraphOrFlow<T>(algorithm, sizes, config).made(By::flow);
      const Made<T> by_graph = made<T>(algorithm, sizes, By::graph, {}, true);
      ASSERT_EQ(by_graph.checked.size(), is_product(algorithm) ? 1u : 2u);
      for (std::size_t part = 0; part < by_graph.checked.size(); ++part) {
        const auto program =
            simulate::read_flow_file(file, simulate::Precision::double_, part + 2).program;  // after filling
        const TasksAndEdges of_flow = tasks_and_edges(program);
        const std::string what = name_of(algorithm) + ", " + sizes.text() + ", part " + std::to_string(part);
        EXPECT_EQ(by_graph.checked[part].tasks, of_flow.tasks) << what;
        EXPECT_EQ(by_graph.checked[part].edges, of_flow.edges) << what;
      }
    }
  std::filesystem::remove(file);
}

TYPED_TEST(GraphsEqualFlows, InBitsOutOfCoreUnderEveryPolicy) {
  using T = TypeParam;
  constexpr int tile = 40;
  constexpr std::array<std::string_view, 3> looking_ahead{"blocks", "darts", "dmdas"};
  // For the other policies the precision only changes the size of tiles.
  constexpr bool only_those = tests::sanitized || std::is_same_v<T, float>;
  const std::vector<std::string_view> policies = schedule::policy_names();
  for (std::size_t a = 0; a < std::size(algorithms); ++a) {
    const Algorithm algorithm = algorithms[a];
    const Sizes sizes = is_qr(algorithm) ? Sizes{290, 190, 50, tile} : Sizes{250, 250, 50, tile};
    const Made<T> in_core = made<T>(algorithm, sizes, By::flow, {});
    const Bytes least = this->least_memory(algorithm, sizes);
    const Bytes memories[] = {least, least + least / 2, 3 * least};
    for (std::size_t p = 0; p < policies.size(); ++p)
      for (std::size_t m = 0; m < std::size(memories); ++m) {
        const std::string_view policy = policies[p];
        const Bytes memory = memories[m];
        const bool looks_ahead = std::ranges::find(looking_ahead, policy) != looking_ahead.end();
        if (!looks_ahead && (m != 0 || only_those)) continue;
        // Each policy has a third of the algorithms, and each algorithm a third of the policies; those that look ahead have
        // all algorithms, each in one of the memories.
        if (!tests::at_length() && (a + p + m) % 3 != 0) continue;
        const Made<T> out_of_core =
            made<T>(algorithm, sizes, By::graph, {.memory = memory, .scheduler = std::string(policy)});
        const std::string what =
            name_of(algorithm) + ", " + std::string(policy) + ", " + std::to_string(memory);
        EXPECT_TRUE(out_of_core.factors == in_core.factors) << what;
        EXPECT_TRUE(out_of_core.solution == in_core.solution) << what;
        EXPECT_GT(out_of_core.bytes_read, 0u) << what;
      }
  }
}

TYPED_TEST(GraphsEqualFlows, InBitsWithDevices) {
  using T = TypeParam;
  std::size_t pair = 0;
  for (const Algorithm algorithm : algorithms) {
    const Sizes sizes = is_qr(algorithm) ? Sizes{190, 110, 50, 24} : Sizes{150, 150, 50, 24};
    const Made<T> by_cores = made<T>(algorithm, sizes, By::flow, {});
    ++pair;
    for (const char* policy : {"dmdas", "blocks", "darts", "owner-load", "heteroprio"})
      for (const char* devices : {"emulated:memory=128KiB", "emulated:memory=128KiB,count=2"}) {
        // One device or two, alternating with the precision and the algorithm.
        if (!tests::at_length() && ++pair % 2 == std::is_same_v<T, float>) continue;
        const Made<T> with_devices =
            made<T>(algorithm, sizes, By::graph, {.scheduler = policy, .devices = devices});
        const std::string what = name_of(algorithm) + ", " + policy + ", " + devices;
        EXPECT_TRUE(with_devices.factors == by_cores.factors) << what;
        EXPECT_TRUE(with_devices.solution == by_cores.solution) << what;
      }
  }
}

TYPED_TEST(GraphsEqualFlows, InErrorMessages) {
  using T = TypeParam;
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  const auto square = runtime.tiled<T>("A", 50, 50, 16), wide = runtime.tiled<T>("W", 50, 60, 16),
             other = runtime.tiled<T>("B", 40, 3, 16), fine = runtime.tiled<T>("F", 50, 3, 8);
  const IncrementalPivots<T> pivots(runtime, square);
  const QrReflectors<T> reflectors(runtime, square);
  const auto expect_alike = [&](const auto& algorithm) {
    const auto said = [&](auto& on) -> std::string {
      try {
        algorithm(on);
      } catch (const UsageError& error) {
        return error.what();
      }
      return "nothing";
    };
    ptg::Graph graph(runtime);
    const std::string by_flow = said(flow);
    EXPECT_NE(by_flow, "nothing");
    EXPECT_EQ(said(graph), by_flow);
  };
  expect_alike([&](auto& on) { cholesky(on, kernels(), wide); });
  expect_alike([&](auto& on) { lu(on, kernels(), wide); });
  expect_alike([&](auto& on) { factor_lu_incremental(on, kernels(), wide, pivots); });
  expect_alike([&](auto& on) { factor_qr(on, kernels(), wide, reflectors); });
  for (const auto* b : {&other, &fine}) {
    expect_alike([&](auto& on) { solve_factored(on, kernels(), square, *b); });
    expect_alike([&](auto& on) { solve_lu_factored(on, kernels(), square, *b); });
    expect_alike([&](auto& on) { solve_lu_incremental_factored(on, kernels(), square, pivots, *b); });
    expect_alike([&](auto& on) { solve_qr_factored(on, kernels(), square, reflectors, *b); });
    expect_alike([&](auto& on) { multiply<T>(on, kernels(), 1, square, square, 1, *b); });
  }
}

TYPED_TEST(GraphsEqualFlows, NameTheInvalidColumn) {
  using T = TypeParam;
  Dense<T> a = dense<T>(GeneratedUniform<T>(60, 60, 3));
  for (int i = 0; i < 60; ++i) a(i, 37) = 0;
  const auto source = std::make_shared<GivenMatrix<T>>(a);
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  const auto said_by = [&](auto&& algorithm) -> std::string {
    const auto tiles = runtime.tiled<T>("A", 60, 60, 16), b = runtime.tiled<T>("b", 60, 1, 16);
    fill<T>(flow, source, tiles, Tiles::all);
    fill<T>(flow, std::make_shared<GeneratedUniform<T>>(60, 1, 4), b, Tiles::all);
    try {
      algorithm(tiles, b);
    } catch (const NumericalError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(said_by([&](const auto& tiles, const auto&) {
                ptg::Graph graph(runtime);
                cholesky(graph, kernels(), tiles);
                run_for_results(graph);
              }),
              ::testing::HasSubstr("not positive definite"));
  EXPECT_THAT(said_by([&](const auto& tiles, const auto&) {
                const IncrementalPivots<T> pivots(runtime, tiles);
                ptg::Graph graph(runtime);
                factor_lu_incremental(graph, kernels(), tiles, pivots);
                run_for_results(graph);
              }),
              ::testing::HasSubstr("column 37"));
  EXPECT_THAT(said_by([&](const auto& tiles, const auto& b) {
                const QrReflectors<T> reflectors(runtime, tiles);
                factor_qr(flow, kernels(), tiles, reflectors);
                wait_for_results(flow);
                ptg::Graph graph(runtime);
                solve_qr_factored(graph, kernels(), tiles, reflectors, b);
                run_for_results(graph);
              }),
              ::testing::HasSubstr("column 37"));
}

TYPED_TEST(GraphsEqualFlows, MultiplyAMatrixByItself) {
  using T = TypeParam;
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  const auto a = runtime.tiled<T>("A", 70, 70, 16), c = runtime.tiled<T>("C", 70, 70, 16),
             d = runtime.tiled<T>("D", 70, 70, 16);
  fill<T>(flow, std::make_shared<GeneratedUniform<T>>(70, 70, 4), a, Tiles::all);
  multiply<T>(flow, kernels(), 1, a, a, 0, c);
  ptg::Graph graph(runtime);
  multiply<T>(graph, kernels(), 1, a, a, 0, d);
  graph.run();
  EXPECT_TRUE(fetch(flow, d) == fetch(flow, c));
}

// Planning policies look ahead in a graph as in a flow. The timing of the disk varies from run to run, and with it the
// bytes read, most under darts: several runs are compared.
TEST(GraphsOutOfCore, ReadAsMuchFromDiskAsFlows) {
  if (tests::sanitized) GTEST_SKIP() << "compares bytes read";
  constexpr int n = 520, tile = 32, runs = 3;  // 17 x 17 tiles
  constexpr Bytes tile_bytes = tile * tile * sizeof(double);
  std::size_t pair = 0;
  for (const Algorithm algorithm : algorithms)
    for (const auto& [policy, most] : {std::pair("blocks", 1.2), {"darts", 1.3}}) {
      ++pair;
      if (!tests::at_length() && pair % 4 > 1) continue;  // each algorithm has one of the two
      const Setting setting{.workers = 1, .memory = 70 * tile_bytes, .scheduler = policy};
      const auto read = [&, how = config_of(setting)](By by) {
        double sum = 0;
        for (int run = 0; run < runs; ++run)
          sum += static_cast<double>(GraphOrFlow<double>(algorithm, {n, n, n, tile}, how).read_from_disk(by));
        return sum;
      };
      const double by_flow = read(By::flow);
      EXPECT_GT(by_flow, 0);
      EXPECT_LE(read(By::graph), most * by_flow) << name_of(algorithm) << ", " << policy;
    }
}

}  // namespace
}  // namespace fairlead::linalg::testing
