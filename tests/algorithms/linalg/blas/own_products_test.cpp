// Fairlead's own products compared with plain sums: every size around those of its blocks, and memory that must not be
// written or read.
#include "algorithms/linalg/blas/own_products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "algorithms/linalg/blas/matrices.hpp"

namespace fairlead::linalg {
namespace {

using Part = OwnProducts::Part;
using test::Matrix;

struct Product {
  Part part;
  bool transpose_a, transpose_b;
  int m, n, k;
  double alpha, beta;
};

bool is_in_part(Part part, int i, int j) {
  return part == Part::whole || (part == Part::lower ? i >= j : i <= j);
}

template <class T>
Matrix<T> multiplied(const OwnProducts& products, const Product& p, const Matrix<T>& a, const Matrix<T>& b,
                     Matrix<T> c) {
  products.multiply<T>(p.part, p.transpose_a, p.transpose_b, p.m, p.n, p.k, static_cast<T>(p.alpha), a.data(),
                       a.ld, b.data(), b.ld, static_cast<T>(p.beta), c.data(), c.ld);
  return c;
}

/// Each element within the rounding of its sum; all others unchanged, including the padding of columns.
template <class T>
void expect_right(const OwnProducts& products, const Product& p) {
  const auto a = test::random_matrix<T>(p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, 1);
  const auto b = test::random_matrix<T>(p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, 2);
  auto before = test::random_matrix<T>(p.m, p.n, 3);
  if (p.beta == 0)  // must not be read
    for (int j = 0; j < p.n; ++j)
      for (int i = 0; i < p.m; ++i)
        if (is_in_part(p.part, i, j)) before(i, j) = std::numeric_limits<T>::quiet_NaN();
  const auto after = multiplied<T>(products, p, a, b, before);
  const double alpha = static_cast<T>(p.alpha), beta = static_cast<T>(p.beta);
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < before.ld; ++i) {  // the padding too
      if (i >= p.m || !is_in_part(p.part, i, j)) {
        ASSERT_EQ(after(i, j), before(i, j)) << i << ", " << j;
        continue;
      }
      double sum = p.beta == 0 ? 0 : beta * static_cast<double>(before(i, j)), size = std::abs(sum);
      for (int l = 0; l < p.k; ++l) {
        const double term = alpha * static_cast<double>(p.transpose_a ? a(l, i) : a(i, l)) *
                            static_cast<double>(p.transpose_b ? b(j, l) : b(l, j));
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(after(i, j)), sum,
                  (p.k + 3) * static_cast<double>(std::numeric_limits<T>::epsilon()) * size)
          << i << ", " << j << " of " << p.m << " x " << p.n << " x " << p.k;
    }
}

template <class T>
class OwnProduct : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!OwnProducts::is_supported()) GTEST_SKIP() << "this processor has no AVX-512";
  }
  OwnProducts products;
};
using PrecisionsOfProducts = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OwnProduct, PrecisionsOfProducts);

TYPED_TEST(OwnProduct, MatchesPlainSumsForSizesBelowABlock) {
  for (const auto& [m, n, k] :
       {std::tuple(1, 1, 1), {24, 8, 8}, {23, 7, 9}, {25, 9, 1}, {48, 8, 3}, {49, 17, 40}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        expect_right<TypeParam>(this->products, {Part::whole, transpose_a, transpose_b, m, n, k, -1, 1});
}

// More than the caches' blocks in each direction: 192 x 256 x 768 in double, 288 x 384 x 1024 in single precision.
TYPED_TEST(OwnProduct, MatchesPlainSumsBeyondTheCacheBlocks) {
  for (const auto& [m, n, k] : {std::tuple(401, 61, 270), {60, 1030, 33}, {50, 45, 801}, {607, 40, 400}})
    for (const bool transposed : {false, true})
      expect_right<TypeParam>(this->products, {Part::whole, transposed, !transposed, m, n, k, -1, 1});
}

TYPED_TEST(OwnProduct, AcceptsAnyAlphaAndBeta) {
  for (const double alpha : {0.0, 1.0, -1.0, 0.75})
    for (const double beta : {0.0, 1.0, -1.0, 0.375})
      for (const Part part : {Part::whole, Part::lower, Part::upper})
        expect_right<TypeParam>(this->products, {part, false, true, 67, 67, 30, alpha, beta});
}

TYPED_TEST(OwnProduct, OfATriangleLeavesTheOtherUnchanged) {
  for (const Part part : {Part::lower, Part::upper})
    for (const int n : {1, 8, 24, 25, 97, 330, 801}) {
      expect_right<TypeParam>(this->products, {part, false, true, n, n, 17, -1, 1});
      expect_right<TypeParam>(this->products, {part, true, false, n, n, 17, -1, 1});
    }
}

// Independent of other threads and of the previous content of the memory.
TYPED_TEST(OwnProduct, HasTheSameBitsOnAllThreads) {
  using T = TypeParam;
  const Product p{Part::whole, false, true, 210, 190, 300, -1, 1};
  const auto a = test::random_matrix<T>(p.m, p.k, 1), b = test::random_matrix<T>(p.n, p.k, 2),
             c = test::random_matrix<T>(p.m, p.n, 3);
  const auto expected = multiplied<T>(this->products, p, a, b, c);
  std::vector<int> different(4);
  {
    std::vector<std::jthread> threads;
    for (int& mine : different)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i)
          mine += multiplied<T>(this->products, p, a, b, c).elements != expected.elements;
      });
  }
  for (const int count : different) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace fairlead::linalg
