// Linear algebra on the fake CUDA devices and cores: tasks without a CUDA body run on cores, so that chains cross between
// them. Checked by the product of the factors, and by the residual.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "cuda/platform.hpp"
#include "sanitized.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
class CudaAlgebra : public ::testing::Test {};
using CudaPrecisions = BothOrFirst<double, float>;
TYPED_TEST_SUITE(CudaAlgebra, CudaPrecisions);

struct CudaCase {
  int n, tile;
  const char *devices, *policy;
  Bytes memory = plenty;

  Setting setting() const {
    return {.workers = 1, .memory = memory, .scheduler = policy, .devices = devices};
  }
  std::string text() const {
    return std::string(devices) + " by " + policy + ", " + std::to_string(n) + " in tiles of " +
           std::to_string(tile);
  }
};

// Tiles that divide the matrix and tiles that do not, workspaces of one page and larger ones; a device in
// which three tiles just fit, one that holds everything, two of them, one with an emulated one; and a pool that holds a
// part of the matrix.
constexpr CudaCase cuda_cases[] = {
    {150, 32, "cuda:0,memory=28KiB", "eager"},
    {96, 32, "cuda:0,memory=24MiB", "dmdas"},
    {260, 65, "cuda:0,memory=1MiB + cuda:1,memory=200KiB", "darts"},
    {300, 48, "cuda:0,memory=100KiB,streams=2", "lws", Bytes{300} << 10},
    {400, 170, "cuda:0,memory=1MiB + emulated:memory=1MiB", "dmda"},
    {330, 100, "cuda:1,memory=2MiB,workspace=256KiB", "blocks", Bytes{1} << 20}};

}  // namespace

TYPED_TEST(CudaAlgebra, FactorsSymmetricMatrices) {
  const tests::FakeDevices devices(2);
  for (const CudaCase& one : cuda_cases) {
    const auto a = std::make_shared<GeneratedSpd<TypeParam>>(one.n, 11);
    EXPECT_LT(factor_residual(dense(*a), factor<TypeParam>(a, one.tile, one.setting())), 30) << one.text();
  }
}

TYPED_TEST(CudaAlgebra, FactorsWithoutPivots) {
  const tests::FakeDevices devices(2);
  for (const CudaCase& one : cuda_cases) {
    const auto a = std::make_shared<GeneratedSpd<TypeParam>>(one.n, 12);
    EXPECT_LT(lu_residual(dense(*a), lu_factors<TypeParam>(a, one.tile, one.setting())), 30) << one.text();
  }
}

TYPED_TEST(CudaAlgebra, SolvesAndMultiplies) {
  const tests::FakeDevices devices(2);
  using T = TypeParam;
  for (const CudaCase& one : cuda_cases) {
    const auto a = std::make_shared<GeneratedSpd<T>>(one.n, 13);
    const auto b = std::make_shared<GeneratedUniform<T>>(one.n, 40, 14);
    Runtime runtime(config_of(one.setting()));
    const auto tiles = runtime.tiled<T>("A", one.n, one.n, one.tile, Tiles::lower);
    const auto whole = runtime.tiled<T>("A again", one.n, one.n, one.tile);
    const auto x = runtime.tiled<T>("x", one.n, 40, one.tile),
               product = runtime.tiled<T>("A x", one.n, 40, one.tile);
    Flow flow(runtime);
    fill<T>(flow, a, tiles, Tiles::lower);
    fill<T>(flow, a, whole, Tiles::all);
    fill<T>(flow, b, x, Tiles::all);
    solve(flow, kernels(), tiles, x);
    multiply<T>(flow, kernels(), 1, whole, x, 0, product);
    wait_for_results(flow);
    EXPECT_LT(solution_residual(dense(*a), fetch(flow, x), dense(*b)), 30) << one.text();
    // The product computed on the device equals b, up to the error of x.
    EXPECT_LT(difference_from(dense(*b), [got = fetch(flow, product)](auto i, auto j) { return got(i, j); }),
              1000)
        << one.text();
  }
}

// The error of cuSOLVER is reported when the device has finished: with the column of the matrix, also if the tile is
// factored in blocks since the workspace of one page is too small (the fake's potrf needs a row of the tile; 700 doubles
// are more).
TEST(CudaAlgebraErrors, NameTheColumnWhereAMatrixIsNotPositiveDefinite) {
  for (const int column : {0, 47, 48, 140, 699})
    for (const int tile : {48, 700}) {
      const tests::FakeDevices devices;
      auto given = dense(GeneratedSpd<double>(700, 15));
      given(column, column) = -1000;
      const auto a = std::make_shared<GivenMatrix<double>>(given);
      try {
        factor<double>(a, tile,
                       {.workers = 1, .scheduler = "eager", .devices = "cuda:0,memory=8MiB,workspace=4KiB"});
        FAIL() << "no error";
      } catch (const NumericalError& error) {
        EXPECT_NE(std::string(error.what()).find("column " + std::to_string(column) + ","), std::string::npos)
            << error.what();
      }
    }
}

// In blocks the factor is equal up to rounding.
TYPED_TEST(CudaAlgebra, FactorsTilesInBlocksIfTheWorkspaceIsSmall) {
  const tests::FakeDevices devices;
  constexpr int n = tests::sanitized ? 750 : 1500;
  const auto a = std::make_shared<GeneratedSpd<TypeParam>>(n, 16);
  const auto factored = factor<TypeParam>(
      a, n, {.workers = 1, .scheduler = "eager", .devices = "cuda:0,memory=40MiB,workspace=4KiB"});
  EXPECT_LT(factor_residual(dense(*a), factored), 30);
}

}  // namespace fairlead::linalg::testing
