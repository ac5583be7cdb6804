// Products from sources to sinks, compared with sums element by element, in core and out of core.
#include <fairlead/factorization.hpp>
#include <fairlead/literals.hpp>
#include <fairlead/product.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <stop_token>
#include <tuple>
#include <vector>

#include "base/scalar.hpp"
#include "solver/product_tiling.hpp"
#include "temporary_directory.hpp"

namespace fairlead::linalg {
namespace {

template <class T>
std::vector<T> drawn_elements(std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> elements;
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (is_complex_number<T>)
      elements.emplace_back(static_cast<RealOf<T>>(uniform(random)), static_cast<RealOf<T>>(uniform(random)));
    else
      elements.push_back(static_cast<T>(uniform(random)));
  }
  return elements;
}

ProductOptions product_options(Bytes memory = 64_MiB, std::int32_t tile = 0) {
  return {.memory = memory, .tile = tile, .workers = 2, .config = Config()};
}

/// The largest difference of the elements from their sums, relative to the roundings of a sum.
template <class T>
double worst_difference(const std::vector<T>& a, const std::vector<T>& b, std::int64_t m, std::int64_t k,
                        std::int64_t n, const auto& element_of_c) {
  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      std::complex<double> sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += std::complex<double>(a[static_cast<std::size_t>(i + l * m)]) *
               std::complex<double>(b[static_cast<std::size_t>(l + j * k)]);
      worst = std::max(worst, std::abs(sum - std::complex<double>(element_of_c(i, j))));
    }
  return worst / (static_cast<double>(k) * epsilon_of_scalar<T>);
}

template <class T>
class Product : public testing::Test {};
using ElementsOfProducts = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Product, ElementsOfProducts);

TYPED_TEST(Product, MatchesTheSumsForAnyShapeAndOrder) {
  using T = TypeParam;
  for (const auto& [m, k, n] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>(1, 1, 1),
                                {17, 1, 5},
                                {1, 300, 1},
                                {64, 64, 64},
                                {130, 7, 140},
                                {257, 190, 1},
                                {3, 1000, 2}})
    for (const std::int32_t tile : {0, 16})
      for (const StorageOrder order : {StorageOrder::c, StorageOrder::fortran}) {
        const auto a = drawn_elements<T>(m * k, 1), b = drawn_elements<T>(k * n, 2);
        const std::int64_t line = order == StorageOrder::c ? n : m, ld = line + 3;
        std::vector<T> c(static_cast<std::size_t>((order == StorageOrder::c ? m : n) * ld), T(-7));
        const auto sink = sink_in_memory(c.data(), m, n, order, ld);
        multiply(*matrix_in_memory(a.data(), m, k), *matrix_in_memory(b.data(), k, n), *sink,
                 product_options(64_MiB, tile));
        const auto at = [&](std::int64_t i, std::int64_t j) {
          return c[static_cast<std::size_t>(order == StorageOrder::c ? i * ld + j : i + j * ld)];
        };
        EXPECT_LT(worst_difference(a, b, m, k, n, at), 10) << m << " x " << k << " x " << n << ", " << tile;
        EXPECT_EQ(std::ranges::count(c, T(-7)), std::ssize(c) - m * n);  // nothing between the lines
      }
}

// Nothing is stored but C, so memory may be much smaller than any matrix.
TYPED_TEST(Product, FitsInLittleMemory) {
  using T = TypeParam;
  const std::int64_t m = 240, k = 150, n = 201;
  const auto a = drawn_elements<T>(m * k, 3), b = drawn_elements<T>(k * n, 4);
  std::vector<T> in_core(static_cast<std::size_t>(m * n)), small = in_core;
  const auto product = [&](std::vector<T>& c, const ProductOptions& options) {
    const auto sink = sink_in_memory(c.data(), m, n);
    multiply(*matrix_in_memory(a.data(), m, k), *matrix_in_memory(b.data(), k, n), *sink, options);
  };
  product(in_core, product_options(64_MiB, 32));
  product(small, product_options(500_KiB, 32));
  EXPECT_EQ(small, in_core);
  product(small, product_options(600_KiB));
  EXPECT_LT(worst_difference(
                a, b, m, k, n,
                [&](std::int64_t i, std::int64_t j) { return small[static_cast<std::size_t>(i + j * m)]; }),
            10);
}

TYPED_TEST(Product, GoesFromFilesToAFile) {
  using T = TypeParam;
  const tests::TemporaryDirectory directory;
  const std::string path_a = directory.path() / "A.npy", path_b = directory.path() / "B.npy",
                    path_c = directory.path() / "C.npy";
  const std::int64_t m = 90, k = 70, n = 110;
  const auto a = drawn_elements<T>(m * k, 5), b = drawn_elements<T>(k * n, 6);
  const auto save = [](const std::string& path, const std::vector<T>& elements, std::int64_t rows) {
    const std::int64_t columns = std::ssize(elements) / rows;
    const auto sink = npy_sink<T>(path, rows, columns, StorageOrder::fortran);
    sink->write(0, rows, 0, columns, elements.data(), rows);
    sink->commit();
  };
  save(path_a, a, m);
  save(path_b, b, k);
  multiply(path_a, path_b, path_c, product_options(1_MiB, 16));
  const auto c = open_complex_matrix(path_c);
  EXPECT_EQ(c->element_bytes(), 2 * sizeof(RealOf<T>));
  EXPECT_EQ(c->rows(), m);
  EXPECT_LT(worst_difference(a, b, m, k, n,
                             [&](std::int64_t i, std::int64_t j) {
                               std::complex<double> element;
                               c->read(i, 1, j, 1, &element, 1);
                               return element;
                             }),
            10);
}

TEST(ProductOfDoubles, FollowsArithmeticForElementsThatAreNotFinite) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::int64_t n = 40;
  for (const std::int64_t columns : {1, 20}) {
    std::vector<double> a(n * n, 1.0), b(static_cast<std::size_t>(n * columns), 0.0);
    a[3] = nan;               // row 3
    a[5 + 7 * n] = infinity;  // row 5: times 0 this is NaN
    std::vector<double> c(static_cast<std::size_t>(n * columns), 9.0);
    const auto sink = sink_in_memory(c.data(), n, columns);
    // Rows 0 to 15 are a block of their own, in the memory of those that follow.
    multiply(*matrix_in_memory(a.data(), n, n), *matrix_in_memory(b.data(), n, columns), *sink,
             product_options(150_KiB, 16));
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const double element = c[static_cast<std::size_t>(i + j * n)];
        EXPECT_TRUE(i == 3 || i == 5 ? std::isnan(element) : element == 0)
            << i << ", " << j << ": " << element;
      }
  }
}

TEST(ProductOfDoubles, RefusesMistakes) {
  std::vector<double> a(12, 1.0), c(16, 0.0);
  const auto three_by_four = matrix_in_memory(a.data(), 3, 4),
             four_by_three = matrix_in_memory(a.data(), 4, 3);
  const auto sink = sink_in_memory(c.data(), 3, 3), wrong = sink_in_memory(c.data(), 4, 4);
  EXPECT_THROW(multiply(*three_by_four, *three_by_four, *sink, product_options()), UsageError);
  EXPECT_THROW(multiply(*three_by_four, *four_by_three, *wrong, product_options()), UsageError);
  EXPECT_THROW(multiply(*three_by_four, *four_by_three, *sink, product_options(1_KiB)), ConfigError);
  EXPECT_THROW(sink_in_memory(c.data(), 0, 3), UsageError);
  EXPECT_THROW(sink_in_memory(c.data(), 4, 4, StorageOrder::c, 3), UsageError);
  EXPECT_THROW(npy_sink<double>("/no/folder/C.npy", 3, 3), SystemError);
  const auto broken = matrix_from<double>(4, 3, [](std::int64_t, std::int64_t) -> double {
    throw InputError("element (0, 0) cannot be computed");
  });
  EXPECT_THROW(multiply(*three_by_four, *broken, *sink, product_options()), InputError);
  multiply(*three_by_four, *four_by_three, *sink, product_options());
  EXPECT_EQ(c[0], 4);
}

TEST(ProductOfDoubles, StopsOnRequestAndLeavesNoFile) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory.path() / "C.npy";
  std::stop_source stop;
  const auto a = matrix_from<double>(2000, 2000, [&stop](std::int64_t i, std::int64_t j) {
    if (i == 1000 && j == 1000) stop.request_stop();
    return 1.0;
  });
  ProductOptions options = product_options(4_MiB, 64);
  options.stop = stop.get_token();
  {
    const auto sink = npy_sink<double>(path, 2000, 2000);
    EXPECT_THROW(multiply(*a, *a, *sink, options), CancelledError);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// Bytes that a tiling needs, as product_tiling.hpp states it.
Bytes bytes_of(const solver::ProductTiling& it, std::size_t element_bytes, std::size_t workers) {
  const auto rows = static_cast<Bytes>(it.block_rows), columns = static_cast<Bytes>(it.block_columns);
  const Bytes a = it.tile_bytes(it.rows, it.inner, element_bytes),
              b = it.tile_bytes(it.inner, it.columns, element_bytes);
  return rows * columns * it.tile_bytes(it.rows, it.columns, element_bytes) + 2 * (rows * a + columns * b) +
         workers * (a + b);
}

TEST(ProductTilings, FitInMemoryAndKeepWorkersBusy) {
  for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>(40'000, 40'000, 40'000),
                                {2'000'000, 200, 200},
                                {200, 200, 2'000'000},
                                {1000, 1000, 1000},
                                {1, 1, 1},
                                {50'000, 1, 50'000}})
    for (const Bytes memory : {64_MiB, 2_GiB, 64_GiB})
      for (const std::size_t workers : {1u, 2u, 64u}) {
        const solver::ProductTiling it = solver::product_tiling({m, n, k, 8}, memory, workers, 0, false);
        EXPECT_LE(bytes_of(it, 8, workers), memory);
        const std::int64_t down = (m + it.rows - 1) / it.rows, across = (n + it.columns - 1) / it.columns;
        EXPECT_LE(it.block_rows, down);
        EXPECT_LE(it.block_columns, across);
        EXPECT_TRUE(down * across >= static_cast<std::int64_t>(4 * workers) ||
                    (it.rows <= 128 && it.columns <= 128));
      }
}

TEST(ProductTilings, HaveSquareBlocksAsLargeAsPossible) {
  const solver::ProductTiling it = solver::product_tiling({40'000, 40'000, 40'000, 8}, 2_GiB, 2, 0, false);
  const double height = static_cast<double>(it.block_rows * it.rows),
               width = static_cast<double>(it.block_columns * it.columns);
  EXPECT_GT(height * width * 8, 0.5 * 2_GiB);
  EXPECT_NEAR(height / width, 1, 0.35);
}

}  // namespace
}  // namespace fairlead::linalg
