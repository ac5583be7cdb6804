// Products of tiled matrices compared with those computed element by element.
#include <fairlead/error.hpp>

#include <gtest/gtest.h>

#include <limits>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

/// The largest difference of C := alpha A B + beta C from its elements' sums, over what rounding allows.
template <class T>
double product_residual(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, T beta,
                        const Setting& setting, bool nothing_in_c = false, Bytes* bytes_read = nullptr) {
  const int tile = 24;
  const auto a = std::make_shared<GeneratedUniform<T>>(m, k, 1),
             b = std::make_shared<GeneratedUniform<T>>(k, n, 2),
             c = std::make_shared<GeneratedUniform<T>>(m, n, 3);
  Runtime runtime(config_of(setting));
  const auto ta = runtime.tiled<T>("A", m, k, tile), tb = runtime.tiled<T>("B", k, n, tile),
             tc = runtime.tiled<T>("C", m, n, tile);
  Flow flow(runtime);
  fill<T>(flow, a, ta, Tiles::all);
  fill<T>(flow, b, tb, Tiles::all);
  if (!nothing_in_c) fill<T>(flow, c, tc, Tiles::all);
  multiply<T>(flow, kernels(), alpha, ta, tb, beta, tc);
  wait_for_results(flow);
  const auto result = fetch(flow, tc);
  if (bytes_read != nullptr) *bytes_read = runtime.disk_traffic().read;
  const auto da = dense<T>(*a), db = dense<T>(*b), dc = dense<T>(*c);
  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = beta == 0 ? 0 : static_cast<double>(beta) * static_cast<double>(dc(i, j));
      for (std::int64_t l = 0; l < k; ++l)
        sum += static_cast<double>(alpha) * static_cast<double>(da(i, l)) * static_cast<double>(db(l, j));
      worst = std::max(worst, std::abs(sum - static_cast<double>(result(i, j))));
    }
  return worst / (static_cast<double>(k) * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

template <class T>
class Multiply : public ::testing::Test {};
using PrecisionsOfSums = BothOrFirst<double, float>;
TYPED_TEST_SUITE(Multiply, PrecisionsOfSums);

TYPED_TEST(Multiply, MatchesTheElementwiseProductForAnyShape) {
  for (const auto& [m, n, k] :
       {std::tuple(1, 1, 1), {24, 24, 24}, {25, 47, 3}, {50, 1, 70}, {1, 80, 30}, {97, 73, 100}})
    for (const auto& [alpha, beta] : {std::pair(1, 0), {1, 1}, {-2, 3}, {0, 1}})
      EXPECT_LT(product_residual<TypeParam>(m, n, k, static_cast<TypeParam>(alpha),
                                            static_cast<TypeParam>(beta), {}),
                30)
          << m << " x " << n << " x " << k << ", " << alpha << ", " << beta;
}

// With beta = 0, C is never initialized and not read.
TYPED_TEST(Multiply, DoesNotReadAResultThatItReplaces) {
  EXPECT_LT(product_residual<TypeParam>(50, 60, 70, 2, 0, {}, true), 30);
  EXPECT_LT(product_residual<TypeParam>(50, 1, 70, 2, 0, {}, true), 30);
}

TYPED_TEST(Multiply, IsEqualOutOfCore) {
  const Bytes quarter = 3 * 240 * 240 * sizeof(TypeParam) / 4;
  for (const char* policy : {"eager", "lws", "darts", "blocks"}) {
    Bytes bytes_read = 0;
    EXPECT_LT(product_residual<TypeParam>(240, 230, 235, 1, 1, {.memory = quarter, .scheduler = policy},
                                          false, &bytes_read),
              30)
        << policy;
    EXPECT_GT(bytes_read, 0u) << policy;
  }
}

TEST(MultiplyShapes, MismatchIsRejected) {
  Runtime runtime(config_of({}));
  const auto a = runtime.tiled<double>("A", 20, 30, 5), b = runtime.tiled<double>("B", 30, 10, 5),
             c = runtime.tiled<double>("C", 20, 10, 5), other = runtime.tiled<double>("C", 20, 10, 4);
  Flow flow(runtime);
  EXPECT_THROW(multiply<double>(flow, kernels(), 1, b, a, 1, c), UsageError);
  EXPECT_THROW(multiply<double>(flow, kernels(), 1, a, b, 1, a), UsageError);
  EXPECT_THROW(multiply<double>(flow, kernels(), 1, a, b, 1, other), UsageError);
  EXPECT_EQ(flow.submitted(), 0u);
}

}  // namespace
}  // namespace fairlead::linalg::testing
