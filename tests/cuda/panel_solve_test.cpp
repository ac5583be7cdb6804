// Solves with a triangle by products and substitution in small triangles: each alone, on the driver without a device, and both bodies of
// trsm in one factorization.
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/cuda/cuda_blas.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "base/random.hpp"
#include "cuda/platform.hpp"

namespace fairlead::linalg::testing {
namespace panel_solve_test {

struct Case {
  const char* name;
  TriangularSolve solve;
};
constexpr std::array<Case, 3> cases{
    Case{"below Cholesky", below_cholesky}, {"below LU", below_lu}, {"right of LU", right_of_lu}};

template <class T>
class PanelSolve : public ::testing::Test {};
using BothPrecisions = BothOrFirst<double, float>;
TYPED_TEST_SUITE(PanelSolve, BothPrecisions);

/// Column-major, with a number where there is nothing to be read that spoils what it gets into.
template <class T>
std::vector<T> triangle_of(const TriangularSolve& solve, int order, Random& random) {
  std::vector<T> t(static_cast<std::size_t>(order * order), std::numeric_limits<T>::quiet_NaN());
  for (int j = 0; j < order; ++j)
    for (int i = 0; i < order; ++i) {
      T& element = t[static_cast<std::size_t>(i + j * order)];
      const auto number = static_cast<T>(static_cast<double>(random.below(2001)) / 1000 - 1);
      if (i == j)
        element = solve.diagonal == Diagonal::unit ? element : 2 + number / 2;
      else if ((i > j) == (solve.triangle == Triangle::lower))
        element = number / static_cast<T>(order);
    }
  return t;
}

TYPED_TEST(PanelSolve, IsRightForAnyShape) {
  using T = TypeParam;
  std::uint64_t seed = 0;
  for (const Case& one : cases)
    for (const auto& shape :
         {std::array{1, 1}, {7, 63}, {70, 64}, {33, 65}, {3, 256}, {130, 300}, {5, 600}}) {
      const int lines = shape[0], order = shape[1];
      const std::string what =
          std::string(one.name) + ", order " + std::to_string(order) + ", " + std::to_string(lines);
      Random random(Random::mix(++seed));
      const bool right = one.solve.side == Side::right;
      const int rows = right ? lines : order, columns = right ? order : lines;
      std::vector<T> t = triangle_of<T>(one.solve, order, random),
                     x(static_cast<std::size_t>(rows * columns));
      for (T& element : x) element = static_cast<T>(static_cast<double>(random.below(2001)) / 1000 - 1);
      const std::vector<T> a = x;
      {
        const tests::FakeDevices devices(1, seed, 5);
        Runtime runtime(tests::cuda_machine("cuda:0,memory=8MiB"));
        const auto task = codelet("there").cuda(
            [solve = one.solve](CudaStream stream, In<Tile<T>> triangle, InOut<Tile<T>> tile) {
              const CudaBlas blas{OwnKernels(tests::image_of_kernels)};
              blas.solve_by_panels<T>(stream, solve, static_cast<std::size_t>(tile.rows()),
                                      static_cast<std::size_t>(tile.columns()), cuda_matrix(triangle),
                                      cuda_matrix(tile));
            });
        Flow flow(runtime);
        flow.submit(task(runtime.matrix<T>("t", t.data(), order, order, order),
                         runtime.matrix<T>("x", x.data(), rows, columns, rows)));
        flow.wait();
      }
      // What it multiplies to is what was given.
      const auto t_at = [&](int i, int j) -> double {
        if (i == j && one.solve.diagonal == Diagonal::unit) return 1;
        if (i != j && (i > j) != (one.solve.triangle == Triangle::lower)) return 0;
        return static_cast<double>(t[static_cast<std::size_t>(i + j * order)]);
      };
      const auto x_at = [&](int i, int j) {
        return static_cast<double>(x[static_cast<std::size_t>(i + j * rows)]);
      };
      double most = 0;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          double sum = 0;
          for (int k = 0; k < order; ++k) {
            const int first = one.solve.op == Transpose::yes ? j : k,
                      second = one.solve.op == Transpose::yes ? k : j;
            sum += right ? x_at(i, k) * t_at(first, second) : t_at(i, k) * x_at(k, j);
          }
          const double apart = std::abs(sum - static_cast<double>(a[static_cast<std::size_t>(i + j * rows)]));
          if (!(apart <= most)) most = apart;
        }
      EXPECT_LT(most, 30 * static_cast<double>(std::numeric_limits<T>::epsilon())) << what;
    }
}

// Which is faster is measured: so both run.
TYPED_TEST(PanelSolve, TakesTurnsWithTheLibrarysUntilOneIsKnownToBeFaster) {
  using T = TypeParam;
  const tests::FakeDevices devices;
  const auto a = std::make_shared<GeneratedSpd<T>>(500, 17);
  Runtime runtime(config_of({.workers = 1, .scheduler = "eager", .devices = "cuda:0,memory=8MiB,streams=2"}));
  const Kernels own = kernels().with_cuda_kernels(tests::image_of_kernels);
  const auto tiles = runtime.tiled<T>("A", 500, 500, 50, Tiles::lower);
  Flow flow(runtime);
  fill<T>(flow, a, tiles, Tiles::lower);
  flow.wait();
  cholesky(flow, own, tiles);
  wait_for_results(flow);
  EXPECT_LT(factor_residual(dense(*a), fetch(flow, tiles, Tiles::lower)), 30);
  std::map<std::string, int> calls = fake_cuda::calls();
  EXPECT_GE(calls["cuLaunchKernel"], 4);
  EXPECT_GE(calls[sizeof(T) == 8 ? "cublasDtrsm_v2" : "cublasStrsm_v2"], 4);
}

}  // namespace panel_solve_test
}  // namespace fairlead::linalg::testing
