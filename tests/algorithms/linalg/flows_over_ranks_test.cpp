// The flows of linear algebra over several ranks (threads here): all ranks call the same functions as on one machine, and the
// bits are equal.
#include <gtest/gtest.h>
#include <fairlead/incremental_lu.hpp>
#include <fairlead/qr.hpp>

#include <atomic>
#include <functional>
#include <string>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::linalg::testing::flows_over_ranks {
namespace {

enum class Algorithm : std::uint8_t { cholesky, lu, incremental_lu, flat_qr, binary_qr, product };
constexpr Algorithm algorithms[] = {Algorithm::cholesky, Algorithm::lu,        Algorithm::incremental_lu,
                                    Algorithm::flat_qr,  Algorithm::binary_qr, Algorithm::product};

template <class T>
struct Case {
  Algorithm algorithm = Algorithm::cholesky;
  std::int64_t n = 100;
  std::int32_t tile = 16;
  Setting setting{};
};

template <class T>
TiledMatrix<T> matrix(Runtime& runtime, const char* name, const Case<T>& of,
                      const Distribution* distribution) {
  const Tiles which = of.algorithm == Algorithm::cholesky ? Tiles::lower : Tiles::all;
  return distribution == nullptr ? runtime.tiled<T>(name, of.n, of.n, of.tile, which)
                                 : runtime.tiled<T>(name, of.n, of.n, of.tile, *distribution, which);
}

/// Fills, computes and fetches, all by tasks, so that every rank returns the same.
template <class T>
void compute(Runtime& runtime, const Case<T>& of, const Distribution* distribution, Dense<T>& result) {
  const TiledMatrix<T> a = matrix(runtime, "A", of, distribution);
  std::shared_ptr<const MatrixSource<T>> source = std::make_shared<GeneratedSpd<T>>(of.n, 5);
  if (of.algorithm != Algorithm::cholesky)
    source = std::make_shared<GeneratedUniform<T>>(of.n, of.n, 5, static_cast<double>(of.n));
  const Tiles which = of.algorithm == Algorithm::cholesky ? Tiles::lower : Tiles::all;
  const auto fetch_tile =
      codelet("fetch").cpu([&result, which](In<Tile<T>> tile, std::int64_t row, std::int64_t column) {
        for (int j = 0; j < tile.columns(); ++j)
          for (int i = 0; i < tile.rows(); ++i)
            if (which == Tiles::all || row + i >= column + j) result(row + i, column + j) = tile(i, j);
      });
  const auto fetch_all = [&](Flow& flow, const TiledMatrix<T>& m) {
    for (std::int32_t i = 0; i < m.tile_rows(); ++i)
      for (std::int32_t j = 0; j < m.tile_columns() && (which == Tiles::all || j <= i); ++j)
        flow.submit(fetch_tile(m(i, j), std::int64_t{i} * m.tile(), std::int64_t{j} * m.tile()));
    wait_for_results(flow);
  };
  Flow flow(runtime);
  fill<T>(flow, source, a, which);
  switch (of.algorithm) {
    case Algorithm::cholesky:
      cholesky(flow, kernels(), a);
      return fetch_all(flow, a);
    case Algorithm::lu:
      lu(flow, kernels(), a);
      return fetch_all(flow, a);
    case Algorithm::incremental_lu: {
      IncrementalPivots<T> pivots(runtime, a);
      factor_lu_incremental(flow, kernels(), a, pivots);
      return fetch_all(flow, a);
    }
    case Algorithm::flat_qr:
    case Algorithm::binary_qr: {
      QrReflectors<T> reflectors(runtime, a,
                                 of.algorithm == Algorithm::flat_qr ? QrTree::flat : QrTree::binary);
      factor_qr(flow, kernels(), a, reflectors);
      return fetch_all(flow, a);
    }
    case Algorithm::product: {
      const TiledMatrix<T> c = matrix(runtime, "C", of, distribution);
      multiply(flow, kernels(), T{2}, a, a, T{0}, c);
      return fetch_all(flow, c);
    }
  }
}

template <class T>
Dense<T> empty(std::int64_t n) {
  return {n, n, std::vector<T>(static_cast<std::size_t>(n * n))};
}

template <class T>
Dense<T> by_one(const Case<T>& of) {
  Dense<T> result = empty<T>(of.n);
  Runtime runtime(config_of({}));
  compute(runtime, of, nullptr, result);
  return result;
}

template <class T>
Dense<T> by_ranks(const Case<T>& of, const CyclicMap& grid, Bytes* read_from_disk = nullptr) {
  Dense<T> result = empty<T>(of.n);
  const Distribution distribution(grid);
  std::atomic<Bytes> read{0};
  const auto thrown = fairlead::tests::on_ranks(
      static_cast<std::uint32_t>(grid.rank_rows * grid.rank_columns),
      [&](std::uint32_t) { return config_of(of.setting); },
      [&](Runtime& runtime) {
        compute(runtime, of, &distribution, result);
        read += runtime.disk_traffic().read;
      });
  if (read_from_disk != nullptr) *read_from_disk = read;
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
  return result;
}

template <class T>
class FlowsOverRanks : public ::testing::Test {};
using Precisions = BothOrFirst<float, double>;
TYPED_TEST_SUITE(FlowsOverRanks, Precisions);

TYPED_TEST(FlowsOverRanks, EqualOneRankBitForBit) {
  using T = TypeParam;
  if (fairlead::tests::thread_sanitized) return;  // into a library that was not built for it it does not see
  constexpr CyclicMap grids[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}};
  std::size_t turn = 0;
  for (const Algorithm algorithm : algorithms)
    for (const std::int64_t n : {1, 17, 100}) {
      const Case<T> of{.algorithm = algorithm, .n = n, .setting = {.workers = 1}};
      const Dense<T> expected = by_one(of);
      for (const CyclicMap& grid : grids) {
        if (fairlead::tests::left_out(turn++, 2)) continue;
        EXPECT_TRUE(by_ranks(of, grid) == expected)
            << "algorithm " << static_cast<int>(algorithm) << ", n " << n << ", " << grid.rank_rows << " x "
            << grid.rank_columns;
      }
    }
}

TYPED_TEST(FlowsOverRanks, EqualOneRankBitForBitOutOfCore) {
  using T = TypeParam;
  if (fairlead::tests::thread_sanitized) return;
  std::size_t turn = 0;
  for (const Algorithm algorithm : algorithms)
    for (const char* policy : {"lws", "blocks", "dmdas"}) {
      if (!fairlead::tests::many_cases() && turn++ % 2 != 0) continue;  // each algorithm and each policy
      Case<T> of{.algorithm = algorithm, .n = 400, .tile = 56, .setting = {.workers = 1}};
      const Dense<T> expected = by_one(of);
      of.setting.scheduler = policy;
      of.setting.memory = Bytes{56 * 56 * sizeof(T) + 4096} * 10;
      Bytes read_from_disk = 0;
      EXPECT_TRUE(by_ranks(of, {2, 2}, &read_from_disk) == expected)
          << "algorithm " << static_cast<int>(algorithm) << ", " << policy;
      EXPECT_GT(read_from_disk, 0u) << policy;
    }
}

TEST(FlowsThatFail, ReportTheErrorToAllRanks) {
  if (fairlead::tests::thread_sanitized) return;
  const Distribution distribution(CyclicMap{2, 2});
  const auto thrown = fairlead::tests::on_ranks(
      4, [&](std::uint32_t) { return config_of({}); },
      [&](Runtime& runtime) {
        const auto a = runtime.tiled<double>("A", 100, 100, 16, distribution, Tiles::lower);
        const auto fill_tile =
            codelet("fill").cpu([](Out<Tile<double>> tile, std::int32_t row, std::int32_t column) {
              for (std::int32_t j = 0; j < tile.columns(); ++j)
                for (std::int32_t i = 0; i < tile.rows(); ++i)
                  tile(i, j) = row + i == column + j ? (row + i == 70 ? -1.0 : 4.0) : 0.0;
            });
        Flow flow(runtime);
        for (std::int32_t i = 0; i < a.tile_rows(); ++i)
          for (std::int32_t j = 0; j <= i; ++j) flow.submit(fill_tile(a(i, j), i * 16, j * 16));
        cholesky(flow, kernels(), a);
        wait_for_results(flow);
      });
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NE(thrown[i].find("positive definite"), std::string::npos) << thrown[i];
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NE(thrown[i].find("rank 0"), std::string::npos) << thrown[i];
}

}  // namespace
}  // namespace fairlead::linalg::testing::flows_over_ranks
