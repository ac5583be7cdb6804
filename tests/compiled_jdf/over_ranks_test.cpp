// Compiled graphs over ranks, which are threads here: Cholesky, LU, QR and products run at the placements of
// the file and are bitwise equal to one rank, whose results are correct.
#include <gtest/gtest.h>
#include <fairlead/ranks.hpp>

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "at_length.hpp"
#include "cholesky_double.hpp"
#include "compiled_jdf/compiled.hpp"
#include "compiled_jdf/dealt.hpp"
#include "gemm_double.hpp"
#include "lu_double.hpp"
#include "lu_incremental_double.hpp"
#include "on_ranks.hpp"
#include "qr.hpp"

namespace fairlead::compiled_jdf {
namespace {

using Numbers = Plain<double>;

/// The matrices of a computation; the result is in the first.
using Compute = std::function<void(Runtime&, std::vector<std::unique_ptr<Dealt<double>>>&)>;

struct Case {
  std::vector<Numbers> matrices;
  std::int32_t tile;
  const char* memory;
  Compute compute;
};

void compute(Runtime& runtime, const Case& of, const Distribution* distribution, Numbers& result) {
  std::vector<std::unique_ptr<Dealt<double>>> dealt;
  for (const Numbers& numbers : of.matrices)
    dealt.push_back(std::make_unique<Dealt<double>>(runtime, numbers, of.tile, distribution));
  of.compute(runtime, dealt);
  dealt[0]->take(result);
}
Numbers by_one(const Case& of) {
  Numbers result{of.matrices[0].rows, of.matrices[0].columns};
  Runtime runtime(config_of_rank(of.memory));
  compute(runtime, of, nullptr, result);
  return result;
}
/// Returns the result of one rank; on every grid the result is bitwise equal.
Numbers the_same_on_all_grids(const Case& of) {
  const Numbers expected = by_one(of);
  for (const CyclicMap& grid :
       {CyclicMap{1, 1}, CyclicMap{1, 2}, CyclicMap{2, 1}, CyclicMap{2, 2}, CyclicMap{2, 3}}) {
    if (!tests::many_cases() && grid.rank_columns != 2) continue;
    const Distribution distribution(grid);
    Numbers result{expected.rows, expected.columns};
    const auto thrown = tests::on_ranks(
        static_cast<std::uint32_t>(grid.rank_rows * grid.rank_columns),
        [&](std::uint32_t) { return config_of_rank(of.memory); },
        [&](Runtime& runtime) { compute(runtime, of, &distribution, result); });
    for (const std::string& text : thrown) EXPECT_EQ(text, "");
    EXPECT_TRUE(result.numbers == expected.numbers) << grid.rank_rows << " x " << grid.rank_columns;
  }
  return expected;
}

/// By elimination with partial pivoting over whole columns.
double log_of_determinant(Numbers a) {
  double sum = 0;
  for (std::int64_t k = 0; k < a.rows; ++k) {
    std::int64_t largest = k;
    for (std::int64_t i = k; i < a.rows; ++i)
      if (std::abs(a(i, k)) > std::abs(a(largest, k))) largest = i;
    for (std::int64_t j = 0; j < a.rows; ++j) std::swap(a(k, j), a(largest, j));
    for (std::int64_t i = k + 1; i < a.rows; ++i)
      for (std::int64_t j = a.rows - 1; j >= k; --j) a(i, j) -= a(i, k) / a(k, k) * a(k, j);
    sum += std::log(std::abs(a(k, k)));
  }
  return sum;
}

struct Shape {
  std::int64_t rows, columns;
  std::int32_t tile;
  const char* memory;
};
constexpr Shape square[] = {
    {96, 96, 24, "16MiB"}, {101, 101, 24, "16MiB"}, {130, 130, 9, "256KiB"}, {7, 7, 100, "16MiB"}};

}  // namespace

TEST(CompiledJdfOverRanks, Cholesky) {
  for (const Shape& shape : square) {
    SCOPED_TRACE(fmt::format("{} in tiles of {}", shape.rows, shape.tile));
    Numbers a = random_matrix<double>(shape.rows, shape.rows, 1, static_cast<double>(shape.rows));
    for (std::int64_t j = 0; j < shape.rows; ++j)
      for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    const Numbers l = the_same_on_all_grids({{a}, shape.tile, shape.memory, [](Runtime& runtime, auto& of) {
                                               int info = 0;
                                               ptg::Graph graph(runtime);
                                               cholesky_double(graph, of[0]->descriptor(), &info);
                                               graph.run();
                                               EXPECT_EQ(info, 0);
                                             }});
    for (std::int64_t j = 0; j < shape.rows; ++j)
      for (std::int64_t i = j; i < shape.rows; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k <= j; ++k) sum += l(i, k) * l(j, k);
        ASSERT_NEAR(sum, a(i, j), 1e-11);
      }
  }
}

TEST(CompiledJdfOverRanks, Lu) {
  for (const Shape& shape : square) {
    SCOPED_TRACE(fmt::format("{} in tiles of {}", shape.rows, shape.tile));
    const Numbers a = random_matrix<double>(shape.rows, shape.rows, 3, static_cast<double>(shape.rows));
    const Numbers lu = the_same_on_all_grids({{a}, shape.tile, shape.memory, [](Runtime& runtime, auto& of) {
                                                int info = 0;
                                                ptg::Graph graph(runtime);
                                                lu_double(graph, of[0]->descriptor(), &info);
                                                graph.run();
                                              }});
    for (std::int64_t j = 0; j < shape.rows; ++j)
      for (std::int64_t i = 0; i < shape.rows; ++i) {
        double sum = i <= j ? lu(i, j) : 0;
        for (std::int64_t k = 0; k < i && k <= j; ++k) sum += lu(i, k) * lu(k, j);
        ASSERT_NEAR(sum, a(i, j), 1e-10);
      }
  }
}

TEST(CompiledJdfOverRanks, LuWithIncrementalPivoting) {
  for (const Shape& shape : square) {
    SCOPED_TRACE(fmt::format("{} in tiles of {}", shape.rows, shape.tile));
    const std::int64_t n = shape.rows;
    const std::int32_t tile = shape.tile, tiles = static_cast<std::int32_t>((n + tile - 1) / tile), block = 5;
    const Numbers a = random_matrix<double>(n, n, 3);
    const auto diagonal_of = [](const Distribution& owners) {
      return Distribution([owners](std::int32_t row, std::int32_t) { return owners.owner(row, row); });
    };
    const auto factor = [&](Runtime& runtime, std::vector<std::unique_ptr<Dealt<double>>>& of) {
      const Distribution* owners = of[0]->distribution();
      const auto dealt = [&](auto number, std::int64_t rows, std::int64_t columns, TileSize size,
                             const Distribution& whose) {
        using T = decltype(number);
        return owners == nullptr ? runtime.tiled<T>("of L", rows, columns, size)
                                 : runtime.tiled<T>("of L", rows, columns, size, whose);
      };
      const Distribution alone = Distribution::over(1), &all = owners == nullptr ? alone : *owners;
      const auto d = dealt(0.0, n, tile, {tile, tile}, diagonal_of(all)),
                 l = dealt(0.0, std::int64_t{tiles} * block, n, {block, tile}, all);
      const auto p = dealt(0, tiles, n, {1, tile}, all);
      parsec::Descriptor of_d(d), of_l(l), of_p(p);
      int info = 0;
      ptg::Graph graph(runtime);
      lu_incremental_double(graph, of[0]->descriptor(), of_d, of_l, of_p, &info);
      graph.run();
      EXPECT_EQ(info, 0);
    };
    const Numbers u = the_same_on_all_grids({{a}, tile, shape.memory, factor});
    double log_u = 0;  // U has the determinant of A, up to its sign; tests/python solves with it
    for (std::int64_t i = 0; i < n; ++i) log_u += std::log(std::abs(u(i, i)));
    EXPECT_NEAR(log_u, log_of_determinant(a), 1e-9 * static_cast<double>(n));
  }
}

TEST(CompiledJdfOverRanks, Qr) {
  for (const Shape& shape :
       {Shape{96, 96, 24, "16MiB"}, Shape{101, 61, 20, "16MiB"}, Shape{130, 100, 9, "512KiB"},
        Shape{50, 7, 8, "16MiB"}, Shape{7, 7, 100, "16MiB"}}) {
    SCOPED_TRACE(fmt::format("{} x {} in tiles of {}", shape.rows, shape.columns, shape.tile));
    const Numbers a = random_matrix<double>(shape.rows, shape.columns, 5);
    const auto whole = [&](std::int64_t size) { return (size + shape.tile - 1) / shape.tile * shape.tile; };
    const Numbers t{whole(shape.rows), whole(shape.columns)};
    const Numbers r =
        the_same_on_all_grids({{a, t}, shape.tile, shape.memory, [](Runtime& runtime, auto& of) {
                                 ptg::Graph graph(runtime);
                                 qr(graph, of[0]->descriptor(), of[1]->descriptor());
                                 graph.run();
                               }});
    // R^T R = A^T A
    for (std::int64_t j = 0; j < shape.columns; ++j)
      for (std::int64_t i = 0; i <= j; ++i) {
        double of_r = 0, of_a = 0;
        for (std::int64_t k = 0; k <= i; ++k) of_r += r(k, i) * r(k, j);
        for (std::int64_t k = 0; k < shape.rows; ++k) of_a += a(k, i) * a(k, j);
        ASSERT_NEAR(of_r, of_a, 1e-11) << i << ", " << j;
      }
  }
}

TEST(CompiledJdfOverRanks, Product) {
  for (const Shape& shape : square) {
    SCOPED_TRACE(fmt::format("{} in tiles of {}", shape.rows, shape.tile));
    const std::int64_t m = shape.rows, k = shape.rows / 2 + 3, n = shape.rows + 5;
    const Numbers c = random_matrix<double>(m, n, 7), a = random_matrix<double>(m, k, 8),
                  b = random_matrix<double>(k, n, 9);
    const Numbers sum = the_same_on_all_grids(
        {{c, a, b}, shape.tile, shape.memory, [](Runtime& runtime, auto& of) {
           ptg::Graph graph(runtime);
           gemm_double(graph, 2.0, -1.0, of[1]->descriptor(), of[2]->descriptor(), of[0]->descriptor());
           graph.run();
         }});
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double expected = -c(i, j);
        for (std::int64_t l = 0; l < k; ++l) expected += 2 * a(i, l) * b(l, j);
        ASSERT_NEAR(sum(i, j), expected, 1e-11);
      }
  }
}

}  // namespace fairlead::compiled_jdf
