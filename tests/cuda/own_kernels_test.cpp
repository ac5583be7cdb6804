// Fairlead's own kernels, and the QR tasks made of them, one task at a time: the source that nvcc compiles, on the fake driver.
// Checked by plain loops over the resulting V and T, in the storage of LAPACK's geqrt and tpqrt.
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/linalg/cuda/cuda_qr.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "base/random.hpp"
#include "cuda/platform.hpp"
#include "misuse/api/refused.hpp"

namespace fairlead::linalg::testing {

namespace {

using tests::FakeDevices;
using tests::image_of_kernels;

/// Column-major.
template <class T>
struct Plain {
  Plain(int m, int n)
      : rows(m), columns(n), elements(static_cast<std::size_t>(m) * static_cast<std::size_t>(n)) {}
  T& operator()(int i, int j) { return elements[at(i, j)]; }
  T operator()(int i, int j) const { return elements[at(i, j)]; }
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(rows);
  }
  int rows, columns;
  std::vector<T> elements;
};

template <class T>
Plain<T> random_matrix(int m, int n, std::uint64_t seed) {
  Plain<T> a(m, n);
  Random random(seed);
  for (T& x : a.elements) x = static_cast<T>(static_cast<double>(random.below(2'000'001)) / 1e6 - 1);
  return a;
}

/// The result of body(stream, a tile for each of these, scratch) on a device.
template <class T, class Body>
void on_device(std::int64_t scratch_elements, std::vector<Plain<T>*> matrices, std::uint64_t seed,
               Body body) {
  const FakeDevices devices(1, seed, 5);
  std::array<T, 4> others{};
  Runtime runtime(tests::cuda_machine("cuda:0,memory=4MiB"));
  using Tile = fairlead::Tile<T>;
  const auto handle = [&](std::size_t i) {
    Plain<T>& a = *matrices[std::min(i, matrices.size() - 1)];
    return runtime.matrix<T>("m", a.elements.data(), a.rows, a.columns, a.rows);
  };
  const auto task = codelet("there").cuda(
      [body](CudaStream stream, InOut<Tile> a, InOut<Tile> b, InOut<Tile> c, InOut<Tile> d, Scratch<T> work) {
        const CudaBlas blas{CudaKernels(tests::image_of_kernels)};
        const CudaQr<T> qr(blas, stream, work.data());
        body(qr, cuda_matrix(a), cuda_matrix(b), cuda_matrix(c), cuda_matrix(d));
      });
  Flow flow(runtime);
  std::vector<Handle<Tile>> all;
  for (std::size_t i = 0; i < 4; ++i)
    all.push_back(i < matrices.size() ? handle(i) : runtime.matrix<T>("n", &others[i], 1, 1, 1));
  flow.submit(task(all[0], all[1], all[2], all[3], scratch(scratch_elements)));
  flow.wait();
}

/// Of k reflectors in blocks, V and T as the kernels leave them: Q, as it is applied by the definition. v(i, j): element i of reflector j,
/// of `m` elements.
template <class T>
Plain<double> q_of(int m, int k, int block, const std::function<double(int, int)>& v, const Plain<T>& t) {
  Plain<double> q(m, m);
  for (int i = 0; i < m; ++i) q(i, i) = 1;
  for (int first = (k - 1) / block * block; first >= 0; first -= block) {
    const int count = std::min(block, k - first);
    for (int c = 0; c < m; ++c) {
      std::vector<double> w(static_cast<std::size_t>(count)), tw = w;
      for (int j = 0; j < count; ++j)
        for (int i = 0; i < m; ++i) w[static_cast<std::size_t>(j)] += v(i, first + j) * q(i, c);
      for (int j = 0; j < count; ++j)
        for (int l = j; l < count; ++l)
          tw[static_cast<std::size_t>(j)] +=
              static_cast<double>(t(j, first + l)) * w[static_cast<std::size_t>(l)];
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < count; ++j) q(i, c) -= v(i, first + j) * tw[static_cast<std::size_t>(j)];
    }
  }
  return q;
}

Plain<double> product(const Plain<double>& a, bool turned, const std::function<double(int, int)>& b,
                      int columns) {
  Plain<double> c(a.rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < a.rows; ++i)
      for (int p = 0; p < a.rows; ++p) c(i, j) += (turned ? a(p, i) : a(i, p)) * b(p, j);
  return c;
}

/// The largest difference, in units of rounding.
template <class T>
double apart(const Plain<double>& a, const std::function<double(int, int)>& b) {
  double most = 0, size = 0;
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) {
      if (std::isnan(a(i, j) - b(i, j))) return std::numeric_limits<double>::infinity();
      most = std::max(most, std::abs(a(i, j) - b(i, j)));
      size = std::max(size, std::abs(b(i, j)));
    }
  return most / size / static_cast<double>(std::numeric_limits<T>::epsilon()) / a.rows;
}
constexpr double good = 10;

template <class T>
double orthogonality_of(const Plain<double>& q) {
  return apart<T>(product(
                      q, true, [&](int i, int j) { return q(i, j); }, q.columns),
                  [](int i, int j) { return i == j ? 1.0 : 0.0; });
}

template <class T>
class OwnKernelsOf : public ::testing::Test {};
using KernelPrecisions = linalg::testing::BothOrFirst<double, float>;
TYPED_TEST_SUITE(OwnKernelsOf, KernelPrecisions);

/// T's triangle must be finite; below it are zeros.
template <class T>
void expect_triangle(const Plain<T>& t, int k, int block) {
  for (int j = 0; j < k; ++j)
    for (int i = j % block + 1; i < block; ++i) EXPECT_EQ(t(i, j), 0) << i << ", " << j;
}

}  // namespace

TYPED_TEST(OwnKernelsOf, FactorATriangleAndApplyItsReflectors) {
  using T = TypeParam;
  std::uint64_t seed = 0;
  for (const auto& shape : {std::array{1, 1, 1},
                            {2, 1, 1},
                            {5, 5, 5},
                            {7, 7, 3},
                            {12, 12, 4},
                            {19, 13, 5},
                            {33, 20, 20},
                            {9, 14, 4},
                            {40, 3, 2},
                            {24, 24, 1}}) {
    const int m = shape[0], n = shape[1], block = shape[2], k = std::min(m, n), width = 6;
    const std::string what =
        std::to_string(m) + " x " + std::to_string(n) + ", blocks of " + std::to_string(block);
    const Plain<T> a = random_matrix<T>(m, n, ++seed), c = random_matrix<T>(m, width, seed + 100);
    Plain<T> v = a, t(block, n), turned = c, plain = c;
    on_device<T>(block * n, {&v, &t}, seed,
                 [m, n, block](const CudaQr<T>& qr, auto there, auto factor, auto, auto) {
                   qr.geqrt(static_cast<std::size_t>(m), static_cast<std::size_t>(n),
                            static_cast<std::size_t>(block), there, factor);
                 });
    const auto reflector = [&](int i, int j) {
      return i == j ? 1.0 : i > j ? static_cast<double>(v(i, j)) : 0.0;
    };
    expect_triangle(t, k, block);
    const Plain<double> q = q_of<T>(m, k, block, reflector, t);
    EXPECT_LT(orthogonality_of<T>(q), good) << what;
    EXPECT_LT(
        apart<T>(product(
                     q, false, [&](int i, int j) { return i <= j ? static_cast<double>(v(i, j)) : 0.0; }, n),
                 [&](int i, int j) { return static_cast<double>(a(i, j)); }),
        good)
        << what;
    on_device<T>(block * width, {&v, &t, &turned, &plain}, seed,
                 [m, k, block](const CudaQr<T>& qr, auto there, auto factor, auto first, auto second) {
                   const auto u = [](int count) { return static_cast<std::size_t>(count); };
                   qr.gemqrt(Transpose::yes, u(m), 6, u(k), u(block), there, factor, first);
                   qr.gemqrt(Transpose::no, u(m), 6, u(k), u(block), there, factor, second);
                 });
    const auto given = [&](int i, int j) { return static_cast<double>(c(i, j)); };
    EXPECT_LT(apart<T>(product(q, true, given, width),
                       [&](int i, int j) { return static_cast<double>(turned(i, j)); }),
              good)
        << what;
    EXPECT_LT(apart<T>(product(q, false, given, width),
                       [&](int i, int j) { return static_cast<double>(plain(i, j)); }),
              good)
        << what;
  }
}

// Whole tiles below a triangle, and triangles, whose elements below the diagonal must not change.
TYPED_TEST(OwnKernelsOf, FactorATriangleOnTopOfATile) {
  using T = TypeParam;
  std::uint64_t seed = 50;
  for (const bool triangle : {false, true})
    for (const auto& shape : {std::array{1, 1, 1},
                              {1, 6, 2},
                              {6, 6, 6},
                              {7, 7, 3},
                              {12, 12, 5},
                              {5, 11, 4},
                              {17, 9, 4},
                              {20, 20, 1},
                              {8, 21, 8}}) {
      const int m = shape[0], n = shape[1], block = shape[2], rows = triangle ? std::min(m, n) : m, width = 5,
                all = n + rows;
      const std::string what = std::to_string(m) + " x " + std::to_string(n) +
                               (triangle ? ", a triangle" : ", whole") + ", blocks of " +
                               std::to_string(block);
      const Plain<T> a = random_matrix<T>(n, n, ++seed), b = random_matrix<T>(m, n, seed + 100),
                     c1 = random_matrix<T>(n, width, seed + 200), c2 = random_matrix<T>(m, width, seed + 300);
      Plain<T> r = a, v = b, t(block, n);
      const CudaRowsBelow below{static_cast<std::size_t>(rows),
                                static_cast<std::size_t>(triangle ? rows : 0)};
      const auto u = [](int count) { return static_cast<std::size_t>(count); };
      on_device<T>(block * n, {&r, &v, &t}, seed,
                   [u, below, n, block](const CudaQr<T>& qr, auto top, auto there, auto factor, auto) {
                     qr.tpqrt(below, u(n), u(block), top, there, factor);
                   });
      const auto taken = [&](int i, int j) { return i < rows && (!triangle || i <= j); };
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          if (!taken(i, j)) {
            EXPECT_EQ(v(i, j), b(i, j)) << what << ": " << i << ", " << j;
          }
        }
        for (int i = j + 1; i < n; ++i) EXPECT_EQ(r(i, j), a(i, j)) << what << ": " << i << ", " << j;
      }
      const auto reflector = [&](int i, int j) {
        if (i < n) return i == j ? 1.0 : 0.0;
        return taken(i - n, j) ? static_cast<double>(v(i - n, j)) : 0.0;
      };
      const auto stacked = [&](const Plain<T>& top, const Plain<T>& under, int i, int j) {
        if (i < n) return i <= j ? static_cast<double>(top(i, j)) : 0.0;
        return taken(i - n, j) ? static_cast<double>(under(i - n, j)) : 0.0;
      };
      expect_triangle(t, n, block);
      const Plain<double> q = q_of<T>(all, n, block, reflector, t);
      EXPECT_LT(orthogonality_of<T>(q), good) << what;
      EXPECT_LT(apart<T>(product(
                             q, false, [&](int i, int j) { return i < n ? stacked(r, v, i, j) : 0.0; }, n),
                         [&](int i, int j) { return stacked(a, b, i, j); }),
                good)
          << what;
      for (const Transpose op : {Transpose::yes, Transpose::no}) {
        Plain<T> d1 = c1, d2 = c2;
        on_device<T>(
            block * width, {&v, &t, &d1, &d2}, seed,
            [u, op, below, n, block](const CudaQr<T>& qr, auto there, auto factor, auto top, auto under) {
              qr.tpmqrt(op, below, 5, u(n), u(block), there, factor, top, under);
            });
        const auto of = [&](const Plain<T>& top, const Plain<T>& under, int i, int j) {
          return static_cast<double>(i < n ? top(i, j) : under(i - n, j));
        };
        EXPECT_LT(
            apart<T>(product(
                         q, op == Transpose::yes, [&](int i, int j) { return of(c1, c2, i, j); }, width),
                     [&](int i, int j) { return of(d1, d2, i, j); }),
            good)
            << what;
      }
    }
}

// Squares do not overflow, tiny numbers keep their digits; zeros make no reflector; non-finite input shows in R.
TYPED_TEST(OwnKernelsOf, AcceptNumbersOfAnySize) {
  using T = TypeParam;
  const int n = 8;
  const auto factored = [&](const Plain<T>& a, Plain<T>& t) {
    Plain<T> v = a;
    on_device<T>(n * n, {&v, &t}, 3, [](const CudaQr<T>& qr, auto there, auto factor, auto, auto) {
      qr.geqrt(8, 8, 8, there, factor);
    });
    return v;
  };
  const Plain<T> a = random_matrix<T>(n, n, 7);
  Plain<T> t(n, n);
  const Plain<T> plain = factored(a, t);
  for (const T scale : {std::numeric_limits<T>::max() / 16, std::numeric_limits<T>::min() * 4}) {
    Plain<T> scaled = a;
    for (T& x : scaled.elements) x *= scale;
    const Plain<T> r = factored(scaled, t);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        EXPECT_NEAR(r(i, j) / (i <= j ? scale : 1), plain(i, j), 300 * std::numeric_limits<T>::epsilon())
            << i << ", " << j;
  }
  Plain<T> zeros = a;
  for (int i = 0; i < n; ++i) zeros(i, 2) = 0;
  EXPECT_EQ(factored(zeros, t)(2, 2), 0);
  EXPECT_EQ(t(2, 2), 0);
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (const int row : {0, 3, 7}) {
      Plain<T> spoiled = a;
      spoiled(row, 3) = bad;
      const Plain<T> r = factored(spoiled, t);
      bool shows = false;
      for (int j = 0; j < n; ++j) shows = shows || !std::isfinite(r(j, j)) || !std::isfinite(r(0, j));
      EXPECT_TRUE(shows) << row;
    }
  // The only nonzero element, in the last column.
  Plain<T> column(8, 1), factor(1, 1);
  column(5, 0) = std::numeric_limits<T>::quiet_NaN();
  on_device<T>(8, {&column, &factor}, 3, [](const CudaQr<T>& qr, auto there, auto of_it, auto, auto) {
    qr.geqrt(8, 1, 1, there, of_it);
  });
  EXPECT_TRUE(std::isnan(column(0, 0)));
}

}  // namespace fairlead::linalg::testing
