// Linear algebra on OpenCL devices and cores: tasks without an OpenCL body run on cores, so that each column's chain crosses
// between them. Checked by the product of the factors, and by the residual.
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "opencl/platform.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
class OpenclAlgebra : public ::testing::Test {};
using OpenclPrecisions = BothOrFirst<double, float>;
TYPED_TEST_SUITE(OpenclAlgebra, OpenclPrecisions);

struct OpenclCase {
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

// Tiles that divide the matrix and tiles that do not, smaller and larger than the panels of the device's own kernels; a
// device in which three tiles just fit, one that holds everything, two of them, one with an emulated one; and a
// pool that holds a part of the matrix.
constexpr OpenclCase opencl_cases[] = {
    {150, 32, "opencl:0,memory=24KiB", "eager"},
    {96, 32, "opencl:0,memory=24MiB", "dmdas"},
    {260, 65, "opencl:0,memory=1MiB + opencl:1,memory=200KiB", "darts"},
    {300, 48, "opencl:0,memory=100KiB,queues=2", "lws", Bytes{300} << 10},
    {400, 170, "opencl:0,memory=1MiB + emulated:memory=1MiB", "dmda"},
    {330, 100, "opencl:1,memory=2MiB,workspace=256KiB", "blocks", Bytes{1} << 20}};

/// Without --long each operation has every second case, in each precision the other half: a runtime compiles its kernels.
template <class T>
std::vector<OpenclCase> cases_of(std::size_t operation) {
  std::vector<OpenclCase> chosen;
  for (std::size_t i = 0; i < std::size(opencl_cases); ++i)
    if (fairlead::tests::at_length() || (i + operation + sizeof(T) / 4) % 2 == 0)
      chosen.push_back(opencl_cases[i]);
  return chosen;
}

}  // namespace

TYPED_TEST(OpenclAlgebra, FactorsSymmetricMatrices) {
  FAIRLEAD_NEEDS_OPENCL(2u);
  for (const OpenclCase& one : cases_of<TypeParam>(0)) {
    const auto a = std::make_shared<GeneratedSpd<TypeParam>>(one.n, 11);
    EXPECT_LT(factor_residual(dense(*a), factor<TypeParam>(a, one.tile, one.setting())), 30) << one.text();
  }
}

TYPED_TEST(OpenclAlgebra, FactorsWithoutPivots) {
  FAIRLEAD_NEEDS_OPENCL(2u);
  for (const OpenclCase& one : cases_of<TypeParam>(1)) {
    const auto a = std::make_shared<GeneratedSpd<TypeParam>>(one.n, 12);
    EXPECT_LT(lu_residual(dense(*a), lu_factors<TypeParam>(a, one.tile, one.setting())), 30) << one.text();
  }
}

TYPED_TEST(OpenclAlgebra, SolvesAndMultiplies) {
  FAIRLEAD_NEEDS_OPENCL(2u);
  using T = TypeParam;
  for (const OpenclCase& one : cases_of<TypeParam>(2)) {
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

// potrf runs on a core and detects an invalid tile computed by the device.
TEST(OpenclAlgebraErrors, ReportThatAMatrixIsNotPositiveDefinite) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  auto given = dense(GeneratedSpd<double>(200, 15));
  given(140, 140) = -1000;
  const auto a = std::make_shared<GivenMatrix<double>>(given);
  try {
    factor<double>(a, 48, {.workers = 1, .scheduler = "eager", .devices = "opencl:0,memory=200KiB"});
    FAIL() << "no error";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("column 140"), std::string::npos) << error.what();
  }
}

}  // namespace fairlead::linalg::testing
