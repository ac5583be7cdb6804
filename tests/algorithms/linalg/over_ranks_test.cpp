// Factorizations over several ranks (threads here, each with its own runtime and memory): the bits equal those of one rank,
// for any grid, policy and memory.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <atomic>
#include <functional>
#include <string>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::linalg::testing::over_ranks {
namespace {

/// ThreadSanitizer does not see into a library that was not built for it.
const Kernels& kernels_of_ranks() {
  static const Kernels loaded =
      fairlead::tests::thread_sanitized ? Kernels::load(FAIRLEAD_NAIVE_BLAS) : Kernels::load();
  return loaded;
}

/// Runs a function on each rank, in a thread with a runtime; returns the text of its exception.
std::vector<std::string> on_ranks(std::uint32_t count, const Setting& setting,
                                  const std::function<void(Runtime&)>& rank) {
  return fairlead::tests::on_ranks(
      count, [&](std::uint32_t) { return config_of(setting); }, rank);
}

template <class T>
bool is_here(Runtime& runtime, const TiledMatrix<T>& a, std::int32_t i, std::int32_t j) {
  if (a.lower_only() && j > i) return false;
  return a.distribution() == nullptr || a.distribution()->owner(i, j) == runtime.rank();
}

/// Calls f(tile's first row, first column, handle) for all tiles of this rank.
template <class T, class F>
void for_each_tile(Runtime& runtime, const TiledMatrix<T>& a, F&& f) {
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j)
      if (is_here(runtime, a, i, j)) f(std::int64_t{i} * a.tile(), std::int64_t{j} * a.tile(), a(i, j));
}

enum class Factors : std::uint8_t { cholesky, lu };

template <class T>
struct Case {
  Factors factors = Factors::cholesky;
  std::int64_t n = 100;
  std::int32_t tile = 16;
  Setting setting{};
  int times = 1;
};

template <class T>
void factor(Runtime& runtime, const Case<T>& of, const Distribution* distribution, Dense<T>& factors) {
  const Tiles which = of.factors == Factors::cholesky ? Tiles::lower : Tiles::all;
  TiledMatrix<T> a = distribution == nullptr
                         ? runtime.tiled<T>("A", of.n, of.n, of.tile, which)
                         : runtime.tiled<T>("A", of.n, of.n, of.tile, *distribution, which);
  std::shared_ptr<const MatrixSource<T>> source = std::make_shared<GeneratedSpd<T>>(of.n, 5);
  if (of.factors == Factors::lu)
    source = std::make_shared<GeneratedUniform<T>>(of.n, of.n, 5, static_cast<double>(of.n));
  Flow flow(runtime);
  ptg::Graph graph(runtime);
  of.factors == Factors::cholesky ? cholesky(graph, kernels_of_ranks(), a) : lu(graph, kernels_of_ranks(), a);
  for (int i = 0; i < of.times; ++i) {
    for_each_tile(runtime, a, [&](std::int64_t row, std::int64_t column, const Handle<Tile<T>>& handle) {
      auto hold = flow.acquire(write(handle));
      const auto tile = hold.template get<0>();
      source->read(row, handle.rows(), column, handle.columns(), tile.data(), tile.leading_dimension());
    });
    flow.wait();
    run_for_results(graph);
  }
  for_each_tile(runtime, a, [&](std::int64_t row, std::int64_t column, const Handle<Tile<T>>& handle) {
    auto hold = flow.acquire(read(handle));
    const auto tile = hold.template get<0>();
    for (std::int32_t i = 0; i < handle.rows(); ++i)
      for (std::int32_t j = 0; j < handle.columns(); ++j) factors(row + i, column + j) = tile(i, j);
  });
}

template <class T>
Dense<T> empty(std::int64_t n) {
  return {n, n, std::vector<T>(static_cast<std::size_t>(n * n))};
}

template <class T>
Dense<T> by_one(const Case<T>& of) {
  Dense<T> factors = empty<T>(of.n);
  Runtime runtime(config_of({}));
  factor(runtime, of, nullptr, factors);
  return factors;
}

template <class T>
Dense<T> by_ranks(const Case<T>& of, const CyclicMap& grid, Bytes* read_from_disk = nullptr) {
  Dense<T> factors = empty<T>(of.n);
  const Distribution distribution(grid);
  const auto count = static_cast<std::uint32_t>(grid.rank_rows * grid.rank_columns);
  std::atomic<Bytes> read{0};
  const auto thrown = on_ranks(count, of.setting, [&](Runtime& runtime) {
    factor(runtime, of, &distribution, factors);
    read += runtime.disk_traffic().read;
  });
  if (read_from_disk != nullptr) *read_from_disk = read;
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
  return factors;
}

constexpr CyclicMap grids[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}};

template <class T>
class OverRanks : public ::testing::Test {};
using Precisions = BothOrFirst<double, float>;
TYPED_TEST_SUITE(OverRanks, Precisions);

TYPED_TEST(OverRanks, FactorsEqualOneRankBitForBit) {
  using T = TypeParam;
  for (const Factors factors : {Factors::cholesky, Factors::lu})
    for (const std::int64_t n : {1, 16, 17, 100, 127}) {
      if (!fairlead::tests::many_cases() && (n == 16 || n == 100)) continue;
      if (fairlead::tests::thread_sanitized && factors == Factors::lu) continue;  // not in that library
      const Case<T> of{.factors = factors, .n = n, .setting = {.workers = 1}};
      const Dense<T> expected = by_one(of);
      for (const CyclicMap& grid : grids)
        EXPECT_TRUE(by_ranks(of, grid) == expected)
            << (factors == Factors::lu ? "LU" : "Cholesky") << ", n " << n << ", " << grid.rank_rows << " x "
            << grid.rank_columns;
    }
}

TYPED_TEST(OverRanks, FactorsEqualOneRankBitForBitOutOfCoreUnderEveryPolicy) {
  using T = TypeParam;
  Case<T> of{.n = 400, .tile = 56, .setting = {.workers = 1}};
  const Dense<T> expected = by_one(of);
  for (const std::string& policy : fairlead::tests::some_policies(0)) {
    of.setting.scheduler = policy;
    of.setting.memory = Bytes{56 * 56 * sizeof(T) + 4096} * 6;
    Bytes read_from_disk = 0;
    EXPECT_TRUE(by_ranks(of, {2, 2}, &read_from_disk) == expected) << policy;
    EXPECT_GT(read_from_disk, 0u) << policy;
  }
}

TYPED_TEST(OverRanks, AGraphRunsAgain) {
  using T = TypeParam;
  const Case<T> of{.n = 90, .tile = 20, .times = 4};
  EXPECT_TRUE(by_ranks(of, {2, 2}) == by_one(of));
}

TEST(RanksThatFail, ReportTheErrorToAllOthers) {
  const std::int64_t n = 100;
  const Distribution distribution(CyclicMap{2, 2});
  const auto thrown = on_ranks(4, {}, [&](Runtime& runtime) {
    auto a = runtime.tiled<double>("A", n, n, 16, distribution, Tiles::lower);
    Flow flow(runtime);
    for_each_tile(runtime, a, [&](std::int64_t row, std::int64_t column, const Handle<Tile<double>>& handle) {
      auto hold = flow.acquire(write(handle));
      const auto tile = hold.get<0>();
      for (std::int32_t i = 0; i < handle.rows(); ++i)
        for (std::int32_t j = 0; j < handle.columns(); ++j)
          tile(i, j) = row + i == column + j ? (row + i == 70 ? -1.0 : 4.0) : 0.0;
    });
    flow.wait();
    ptg::Graph graph(runtime);
    cholesky(graph, kernels_of_ranks(), a);
    run_for_results(graph);
  });
  // Row 70 is in tile (4, 4), which is rank 0's.
  EXPECT_NE(thrown[0].find("positive definite"), std::string::npos) << thrown[0];
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_NE(thrown[i].find("rank 0"), std::string::npos) << thrown[i];
    EXPECT_NE(thrown[i].find("positive definite"), std::string::npos) << thrown[i];
  }
}

TEST(RanksThatFail, ReportADifferentProgram) {
  const auto thrown = on_ranks(2, {}, [&](Runtime& runtime) {
    const std::int64_t n = runtime.rank() == 0 ? 64 : 80;
    auto a = runtime.tiled<double>("A", n, n, 16, Distribution(CyclicMap{1, 2}), Tiles::lower);
    Flow flow(runtime);
    for_each_tile(runtime, a, [&](std::int64_t row, std::int64_t column, const Handle<Tile<double>>& handle) {
      auto hold = flow.acquire(write(handle));
      GeneratedSpd<double>(n, 5).read(row, handle.rows(), column, handle.columns(), hold.get<0>().data(),
                                      hold.get<0>().leading_dimension());
    });
    flow.wait();
    ptg::Graph graph(runtime);
    cholesky(graph, kernels_of_ranks(), a);
    graph.run();
  });
  for (const std::string& text : thrown)
    EXPECT_NE(text.find("do not run the same program"), std::string::npos) << text;
}

TEST(RanksThatFail, ReportThatARankHasEnded) {
  const auto thrown = on_ranks(3, {}, [&](Runtime& runtime) {
    auto a = runtime.tiled<double>("A", 64, 64, 16, Distribution(CyclicMap{1, 3}), Tiles::lower);
    if (runtime.rank() == 1) throw UsageError("I do not want to");
    Flow flow(runtime);
    for_each_tile(runtime, a, [&](std::int64_t row, std::int64_t column, const Handle<Tile<double>>& handle) {
      auto hold = flow.acquire(write(handle));
      GeneratedSpd<double>(64, 5).read(row, handle.rows(), column, handle.columns(), hold.get<0>().data(),
                                       hold.get<0>().leading_dimension());
    });
    flow.wait();
    ptg::Graph graph(runtime);
    cholesky(graph, kernels_of_ranks(), a);
    graph.run();
  });
  EXPECT_EQ(thrown[1], "I do not want to");
  for (const std::size_t i : {0, 2})
    EXPECT_NE(thrown[i].find("rank 1 has ended"), std::string::npos) << thrown[i];
}

TEST(RanksThatFail, NameTheTileOfAnotherRank) {
  on_ranks(2, {}, [&](Runtime& runtime) {
    auto a = runtime.tiled<double>("A", 64, 64, 16, Distribution(CyclicMap{1, 2}));
    const std::int32_t others = runtime.rank() == 0 ? 1 : 0;
    Flow flow(runtime);
    try {
      static_cast<void>(flow.acquire(read(a(0, others))));
      ADD_FAILURE() << "no error";
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what())
                    .find("A[0," + std::to_string(others) + "] is acquired, which belongs to rank " +
                          std::to_string(others) + ", and this is rank " + std::to_string(runtime.rank())),
                0u)
          << error.what();
    }
  });
}

}  // namespace
}  // namespace fairlead::linalg::testing::over_ranks
