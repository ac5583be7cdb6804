// Every routine of the table compared with plain loops, in both precisions, with a leading dimension larger than the
// number of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fairlead/error.hpp>
#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "algorithms/linalg/blas/matrices.hpp"

namespace fairlead::linalg {
namespace {

using namespace test;

constexpr double accurate = 8;  // units of rounding times the order

template <class T>
class Routine : public testing::Test {
 protected:
  const std::shared_ptr<const Blas> blas = Blas::load();
};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(Routine, Types);

constexpr std::array both_transposes{Transpose::no, Transpose::yes};
constexpr std::array both_triangles{Triangle::lower, Triangle::upper};
constexpr std::array both_sides{Side::left, Side::right};
constexpr std::array both_diagonals{Diagonal::general, Diagonal::unit};

template <class T>
Matrix<T> op(Transpose transpose, const Matrix<T>& a) {
  return transpose == Transpose::yes ? transposed(a) : a;
}

/// Solving with a unit triangle of large numbers would grow without bounds.
template <class T>
Matrix<T> small_triangle(int n) {
  auto a = random_triangle<T>(n, 5);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (i != j) a(i, j) /= static_cast<T>(n);
  return a;
}

TYPED_TEST(Routine, GemmMultipliesAndAdds) {
  using T = TypeParam;
  for (const auto op_a : both_transposes)
    for (const auto op_b : both_transposes) {
      const auto a = op_a == Transpose::no ? random_matrix<T>(33, 17, 1) : random_matrix<T>(17, 33, 1);
      const auto b = op_b == Transpose::no ? random_matrix<T>(17, 21, 2) : random_matrix<T>(21, 17, 2);
      auto c = random_matrix<T>(33, 21, 3);
      const auto expected = sum<T>(-2, product(op(op_a, a), op(op_b, b)), 3, c);
      this->blas->template gemm<T>(op_a, op_b, 33, 21, 17, -2, a.data(), a.ld, b.data(), b.ld, 3, c.data(),
                                   c.ld);
      EXPECT_LT(difference(c, expected), accurate);
    }
}

TYPED_TEST(Routine, SymmReadsOneTriangle) {
  using T = TypeParam;
  for (const auto side : both_sides)
    for (const auto triangle : both_triangles) {
      const int order = side == Side::left ? 19 : 23;
      const auto a = random_matrix<T>(order, order, 1), b = random_matrix<T>(19, 23, 2);
      auto c = random_matrix<T>(19, 23, 3);
      const auto full = symmetric_of(a, triangle);
      const auto expected = sum<T>(2, side == Side::left ? product(full, b) : product(b, full), -1, c);
      this->blas->template symm<T>(side, triangle, 19, 23, 2, a.data(), a.ld, b.data(), b.ld, -1, c.data(),
                                   c.ld);
      EXPECT_LT(difference(c, expected), accurate);
    }
}

TYPED_TEST(Routine, SyrkTouchesOneTriangle) {
  using T = TypeParam;
  for (const auto transpose : both_transposes)
    for (const auto triangle : both_triangles) {
      const auto a = transpose == Transpose::no ? random_matrix<T>(25, 18, 1) : random_matrix<T>(18, 25, 1);
      auto c = random_matrix<T>(25, 25, 2);
      const auto before = c;
      const auto full = op(transpose, a);
      const auto expected = sum<T>(-1, product(full, transposed(full)), 1, c);
      this->blas->template syrk<T>(triangle, transpose, 25, 18, -1, a.data(), a.ld, 1, c.data(), c.ld);
      EXPECT_LT(difference(triangle_of(c, triangle), triangle_of(expected, triangle)), accurate);
      const auto other = triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
      EXPECT_EQ(difference(triangle_of(c, other, Diagonal::unit), triangle_of(before, other, Diagonal::unit)),
                0);
    }
}

TYPED_TEST(Routine, TrsmInvertsAProductWithTheTriangle) {
  using T = TypeParam;
  for (const auto side : both_sides)
    for (const auto triangle : both_triangles)
      for (const auto transpose : both_transposes)
        for (const auto diagonal : both_diagonals) {
          const auto a = small_triangle<T>(side == Side::left ? 29 : 13);
          auto b = random_matrix<T>(29, 13, 2);
          const auto right_hand_sides = b;
          this->blas->template trsm<T>(side, triangle, transpose, diagonal, 29, 13, 2, a.data(), a.ld,
                                       b.data(), b.ld);
          const auto seen = op(transpose, triangle_of(a, triangle, diagonal));
          const auto back = side == Side::left ? product(seen, b) : product(b, seen);
          EXPECT_LT(difference(back, sum<T>(2, right_hand_sides, 0, right_hand_sides)), accurate);
        }
}

TYPED_TEST(Routine, TrmmMultipliesWithTheTriangle) {
  using T = TypeParam;
  for (const auto side : both_sides)
    for (const auto triangle : both_triangles)
      for (const auto transpose : both_transposes) {
        const auto a = random_triangle<T>(side == Side::left ? 14 : 27, 1);
        auto b = random_matrix<T>(14, 27, 2);
        const auto seen = op(transpose, triangle_of(a, triangle));
        const auto once = side == Side::left ? product(seen, b) : product(b, seen);
        this->blas->template trmm<T>(side, triangle, transpose, Diagonal::general, 14, 27, -3, a.data(), a.ld,
                                     b.data(), b.ld);
        EXPECT_LT(difference(b, sum<T>(-3, once, 0, once)), accurate);
      }
}

TYPED_TEST(Routine, GemvMultipliesAVectorWithStrides) {
  using T = TypeParam;
  for (const auto transpose : both_transposes) {
    const auto a = random_matrix<T>(15, 22, 1);
    const auto full = op(transpose, a);
    const auto x = random_matrix<T>(full.columns, 1, 2);
    auto y = random_matrix<T>(full.rows, 1, 3);
    const auto expected = sum<T>(2, product(full, x), -1, y);
    std::vector<T> apart(static_cast<std::size_t>(2 * full.columns));
    for (int i = 0; i < full.columns; ++i) apart[static_cast<std::size_t>(2 * i)] = x(i, 0);
    this->blas->template gemv<T>(transpose, 15, 22, 2, a.data(), a.ld, apart.data(), 2, -1, y.data(), 1);
    EXPECT_LT(difference(y, expected), accurate);
  }
}

TYPED_TEST(Routine, TrsvSolvesForOneVector) {
  using T = TypeParam;
  for (const auto triangle : both_triangles)
    for (const auto transpose : both_transposes) {
      const auto a = random_triangle<T>(31, 1);
      auto x = random_matrix<T>(31, 1, 2);
      const auto right_hand_side = x;
      this->blas->template trsv<T>(triangle, transpose, Diagonal::general, 31, a.data(), a.ld, x.data(), 1);
      EXPECT_LT(difference(product(op(transpose, triangle_of(a, triangle)), x), right_hand_side), accurate);
    }
}

TYPED_TEST(Routine, PotrfGivesTheFactor) {
  using T = TypeParam;
  for (const auto triangle : both_triangles) {
    const auto a = random_positive_definite<T>(150, 1);
    auto factor = a;
    ASSERT_EQ(this->blas->template potrf<T>(triangle, 150, factor.data(), factor.ld), 0);
    const auto seen = triangle_of(factor, triangle);
    const auto back =
        triangle == Triangle::lower ? product(seen, transposed(seen)) : product(transposed(seen), seen);
    EXPECT_LT(difference(back, a), accurate * 4);  // numbers of the size of the order
  }
}

TYPED_TEST(Routine, PotrfNamesTheFirstMinorThatIsNotPositive) {
  using T = TypeParam;
  auto a = random_positive_definite<T>(40, 1);
  a(28, 28) = -1;
  EXPECT_EQ(this->blas->template potrf<T>(Triangle::lower, 40, a.data(), a.ld), 29);
}

TYPED_TEST(Routine, ARefusedArgumentIsAnError) {
  using T = TypeParam;
  auto a = random_positive_definite<T>(8, 1);
  testing::internal::CaptureStdout();  // the library prints an error as well
  EXPECT_THROW((void)this->blas->template potrf<T>(Triangle::lower, 8, a.data(), 2), UsageError);
  testing::internal::GetCapturedStdout();
}

TYPED_TEST(Routine, TrtriInvertsATriangle) {
  using T = TypeParam;
  for (const auto triangle : both_triangles) {
    const auto a = small_triangle<T>(70);
    auto inverse = a;
    ASSERT_EQ(this->blas->template trtri<T>(triangle, Diagonal::general, 70, inverse.data(), inverse.ld), 0);
    Matrix<T> identity(70, 70);
    for (int i = 0; i < 70; ++i) identity(i, i) = 1;
    EXPECT_LT(difference(product(triangle_of(a, triangle), triangle_of(inverse, triangle)), identity),
              accurate);
  }
}

TYPED_TEST(Routine, TrtriNamesAZeroOnTheDiagonal) {
  using T = TypeParam;
  auto a = random_triangle<T>(20, 1);
  a(6, 6) = 0;
  EXPECT_EQ(this->blas->template trtri<T>(Triangle::lower, Diagonal::general, 20, a.data(), a.ld), 7);
}

// Concurrent calls from several threads: each thread gets the bits of a single call.
TYPED_TEST(Routine, ThreadsMayCallAtOnce) {
  using T = TypeParam;
  const auto a = random_positive_definite<T>(200, 1);
  auto alone = a;
  ASSERT_EQ(this->blas->template potrf<T>(Triangle::lower, 200, alone.data(), alone.ld), 0);
  std::array<int, 4> wrong{};
  {
    std::vector<std::jthread> threads;
    for (auto& mine : wrong)
      threads.emplace_back([&] {
        for (int round = 0; round < 20; ++round) {
          auto factor = a;
          const int info = this->blas->template potrf<T>(Triangle::lower, 200, factor.data(), factor.ld);
          mine += info != 0 || factor.elements != alone.elements;
        }
      });
  }
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

TYPED_TEST(Routine, GetrfFactorsWithRowsExchangedAsLaswpDoes) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair(30, 20), {20, 30}, {17, 17}, {1, 1}}) {
    const auto a = random_matrix<T>(m, n, 1);
    auto factors = a, exchanged = a;
    const int order = std::min(m, n);
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(order));
    ASSERT_EQ(this->blas->template getrf<T>(m, n, factors.data(), factors.ld, pivots.data()), 0);
    this->blas->template laswp<T>(n, exchanged.data(), exchanged.ld, order, pivots.data());
    Matrix<T> l(m, order), u(order, n);
    for (int j = 0; j < order; ++j)
      for (int i = j; i < m; ++i) l(i, j) = i == j ? T(1) : factors(i, j);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= std::min(j, order - 1); ++i) u(i, j) = factors(i, j);
    EXPECT_LT(difference(exchanged, product(l, u)), accurate) << m << " x " << n;
    this->blas->template laswp<T>(n, exchanged.data(), exchanged.ld, order, pivots.data(), true);
    EXPECT_EQ(difference(exchanged, a), 0) << m << " x " << n;
  }
}

TYPED_TEST(Routine, GetrfNamesAZeroPivot) {
  using T = TypeParam;
  auto a = random_matrix<T>(9, 9, 1);
  for (int i = 0; i < 9; ++i) a(i, 4) = 0;
  std::vector<std::int32_t> pivots(9);
  EXPECT_EQ(this->blas->template getrf<T>(9, 9, a.data(), a.ld, pivots.data()), 5);
}

TYPED_TEST(Routine, SysvFactorsAndSolvesAnIndefiniteSystem) {
  using T = TypeParam;
  for (const int n : {1, 2, 30, 90}) {
    auto a = random_matrix<T>(n, n, 1);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) a(j, i) = a(i, j);
    const auto x = random_matrix<T>(n, 3, 2);
    auto b = product(a, x), factors = a;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) factors(i, j) = std::numeric_limits<T>::quiet_NaN();
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
    auto at_once = b;
    auto copy = factors;
    ASSERT_EQ(this->blas->template sysv<T>(Triangle::lower, true, n, 0, factors.data(), factors.ld,
                                           pivots.data(), nullptr, n),
              0);
    ASSERT_EQ(this->blas->template sysv<T>(Triangle::lower, false, n, 3, factors.data(), factors.ld,
                                           pivots.data(), b.data(), b.ld),
              0);
    ASSERT_EQ(this->blas->template sysv<T>(Triangle::lower, true, n, 3, copy.data(), copy.ld, pivots.data(),
                                           at_once.data(), at_once.ld),
              0);
    EXPECT_EQ(at_once.elements, b.elements) << n;
    EXPECT_LT(difference(product(a, b), product(a, x)), 10 * accurate) << n;
  }
}

TYPED_TEST(Routine, GeqrtFactorsAndGemqrtAppliesItsQ) {
  using T = TypeParam;
  for (const auto& [m_, n_, ib_] :
       {std::tuple(30, 20, 8), {20, 30, 20}, {17, 17, 5}, {1, 1, 1}, {40, 3, 3}}) {
    const int m = m_, n = n_, ib = ib_;  // clang 14 captures no bindings
    const auto a = random_matrix<T>(m, n, 1);
    auto factors = a, rotated = a;
    const int order = std::min(m, n);
    Matrix<T> t(ib, order), r(m, n);
    std::vector<T> work(static_cast<std::size_t>(ib * n));
    this->blas->template geqrt<T>(m, n, ib, factors.data(), factors.ld, t.data(), t.ld, work.data());
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= std::min(j, m - 1); ++i) r(i, j) = factors(i, j);
    const auto apply = [&](Transpose op) {
      this->blas->template gemqrt<T>(op, m, n, order, ib, factors.data(), factors.ld, t.data(), t.ld,
                                     rotated.data(), rotated.ld, work.data());
    };
    apply(Transpose::yes);
    EXPECT_LT(difference(rotated, r), accurate) << m << " x " << n;
    apply(Transpose::no);
    EXPECT_LT(difference(rotated, a), accurate) << m << " x " << n;
  }
}

// A triangle on top of a whole matrix, or of a trapezoid: l rows.
TYPED_TEST(Routine, TpqrtFactorsTwoAndTpmqrtAppliesTheirQ) {
  using T = TypeParam;
  for (const auto& [m_, n_, l_, ib_] :
       {std::tuple(30, 20, 0, 8), {20, 20, 20, 7}, {9, 20, 9, 20}, {20, 1, 0, 1}, {1, 5, 1, 2}}) {
    const int m = m_, n = n_, l = l_, ib = ib_;
    const auto top = triangle_of(random_matrix<T>(n, n, 1), Triangle::upper);
    auto bottom = random_matrix<T>(m, n, 2);
    if (l > 0)
      for (int j = 0; j < n; ++j)
        for (int i = j + 1; i < m; ++i) bottom(i, j) = 0;
    auto r = top, v = bottom, c_top = top, c_bottom = bottom;
    Matrix<T> t(ib, n), nothing(m, n);
    std::vector<T> work(static_cast<std::size_t>(ib * n));
    this->blas->template tpqrt<T>(m, n, l, ib, r.data(), r.ld, v.data(), v.ld, t.data(), t.ld, work.data());
    const auto apply = [&](Transpose op) {
      this->blas->template tpmqrt<T>(op, m, n, n, l, ib, v.data(), v.ld, t.data(), t.ld, c_top.data(),
                                     c_top.ld, c_bottom.data(), c_bottom.ld, work.data());
    };
    apply(Transpose::yes);
    EXPECT_LT(difference(c_top, triangle_of(r, Triangle::upper)), accurate) << m << " x " << n;
    EXPECT_LT(difference(c_bottom, nothing), accurate) << m << " x " << n;
    apply(Transpose::no);
    EXPECT_LT(difference(c_top, top), accurate) << m << " x " << n;
    EXPECT_LT(difference(c_bottom, bottom), accurate) << m << " x " << n;
  }
}

TEST(RoutineOfLapack, IsNamedWhenItIsCalledButMissing) {
  const auto naive = Blas::load({FAIRLEAD_NAIVE_BLAS, ""});
  double a = 1, t = 0, work = 0;
  try {
    naive->geqrt<double>(1, 1, 1, &a, 1, &t, 1, &work);
    FAIL() << "nothing was thrown";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("has no geqrt"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace fairlead::linalg
