// Factorizations whose products are Fairlead's own, checked by the criteria of LAPACK's tests.
#include <fairlead/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
class OwnProductsFactor : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!OwnProducts::is_supported()) GTEST_SKIP() << "this processor has no AVX-512";
  }
};
using PrecisionsOfFactors = BothOrFirst<float, double>;
TYPED_TEST_SUITE(OwnProductsFactor, PrecisionsOfFactors);

const Kernels& own_kernels() {
  static const Kernels loaded = Kernels::load({}, Kernels::Products::own);
  return loaded;
}

// By LAPACK's criterion, in core and out of core, with tiles that own products compute and remainders that the library computes.
TYPED_TEST(OwnProductsFactor, WithASmallResidual) {
  using T = TypeParam;
  ASSERT_TRUE(own_kernels().blas().has_own_products());
  const int tile = 104;
  for (const int n : {100, 208, 333, 450})
    for (const Bytes memory : {plenty, Bytes{12} * 104 * 104 * sizeof(T) + 65536}) {
      const Setting setting{.memory = memory};
      const std::shared_ptr<const MatrixSource<T>> spd = std::make_shared<GeneratedSpd<T>>(n, 7);
      EXPECT_LT(factor_residual(dense<T>(*spd), computed<T>(spd, tile, Tiles::lower, setting, nullptr,
                                                            [](Flow& flow, const auto& a) {
                                                              cholesky(flow, own_kernels(), a);
                                                            })),
                30);
      EXPECT_LT(lu_residual(dense<T>(*spd),
                            computed<T>(spd, tile, Tiles::all, setting, nullptr,
                                        [](Flow& flow, const auto& a) { lu(flow, own_kernels(), a); })),
                30);
    }
}

// The tile's L has a condition of 1e6 and more: only products differ, so the residual stays small.
TYPED_TEST(OwnProductsFactor, IllConditionedMatricesWithASmallResidual) {
  using T = TypeParam;
  const int n = 300;
  const double shift = sizeof(T) == 8 ? 1e-9 : 1e-3;
  Dense<T> a{n, n};
  a.elements.resize(static_cast<std::size_t>(n * n));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const double distance = (i - j) / 40.0;
      a(i, j) = static_cast<T>(std::exp(-distance * distance) + (i == j ? shift : 0));
    }
  const std::shared_ptr<const MatrixSource<T>> source = std::make_shared<GivenMatrix<T>>(a);
  EXPECT_LT(
      factor_residual(a, computed<T>(source, 104, Tiles::lower, {}, nullptr,
                                     [](Flow& flow, const auto& l) { cholesky(flow, own_kernels(), l); })),
      30);
}

TYPED_TEST(OwnProductsFactor, NothingAndNameTheColumnWhereAMatrixIsNotPositiveDefinite) {
  using T = TypeParam;
  for (const int bad : {0, 103, 104, 250}) {
    auto a = dense<T>(GeneratedSpd<T>(300, 3));
    a(bad, bad) = -1;
    const std::shared_ptr<const MatrixSource<T>> source = std::make_shared<GivenMatrix<T>>(a);
    try {
      computed<T>(source, 104, Tiles::lower, {}, nullptr,
                  [](Flow& flow, const auto& l) { cholesky(flow, own_kernels(), l); });
      FAIL() << "nothing was thrown";
    } catch (const NumericalError& error) {
      EXPECT_NE(std::string(error.what()).find("fails in column " + std::to_string(bad) + ","),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
