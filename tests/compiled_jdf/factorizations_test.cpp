// The compiled examples, compared with loops: in two precisions, for sizes that tiles do not divide, with
// enough memory and with memory for few tiles. Their tasks and edges are compared with the unrolled graph.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <type_traits>

#include "cholesky_double.hpp"
#include "cholesky_float.hpp"
#include "compiled_jdf/compiled.hpp"
#include "front/jdf/read.hpp"
#include "gemm_double.hpp"
#include "gemm_float.hpp"
#include "lu_double.hpp"
#include "lu_float.hpp"
#include "lu_incremental_double.hpp"

namespace fairlead::compiled_jdf {
namespace {

Config with_memory(const char* memory) {
  Config config;
  config.set("memory", memory);
  return config;
}

template <class T>
class CompiledJdf : public testing::Test {
 protected:
  static void cholesky(ptg::Graph& graph, void* a, int* info) {
    if constexpr (std::is_same_v<T, double>)
      cholesky_double(graph, a, info);
    else
      cholesky_float(graph, a, info);
  }
  static void lu(ptg::Graph& graph, void* a, int* info) {
    if constexpr (std::is_same_v<T, double>)
      lu_double(graph, a, info);
    else
      lu_float(graph, a, info);
  }
  static void gemm(ptg::Graph& graph, T alpha, T beta, void* a, void* b, void* c) {
    if constexpr (std::is_same_v<T, double>)
      gemm_double(graph, alpha, beta, a, b, c);
    else
      gemm_float(graph, alpha, beta, a, b, c);
  }
  static double tolerance(std::int64_t n) {
    return 10 * static_cast<double>(n) * std::numeric_limits<T>::epsilon();
  }
};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(CompiledJdf, Precisions);

struct Place {
  std::int64_t rows, columns;
  std::int32_t tile;
  const char* memory;
  Home home = Home::runtime;
};

}  // namespace

TYPED_TEST(CompiledJdf, CholeskyGivesFactorsWhoseProductIsTheMatrix) {
  using T = TypeParam;
  for (const Place& place : {Place{100, 100, 25, "64MiB"}, Place{101, 101, 24, "64MiB"},
                             Place{101, 101, 24, "64MiB", Home::caller}, Place{130, 130, 9, "256KiB"},
                             Place{7, 7, 100, "64MiB"}}) {
    SCOPED_TRACE(fmt::format("{} in tiles of {}", place.rows, place.tile));
    const std::int64_t n = place.rows;
    Plain<T> a = random_matrix<T>(n, n, 1, static_cast<T>(n));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    Runtime runtime(with_memory(place.memory));
    Described<T> described(runtime, a, place.tile, place.home);
    int info = 0;
    ptg::Graph graph(runtime);
    this->cholesky(graph, described.descriptor(), &info);
    graph.run();
    EXPECT_EQ(info, 0);
    const Plain<T> l = described.numbers();
    double worst = 0;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;
        if (i < j) {
          worst = std::max<double>(worst, std::abs(l(i, j) - a(i, j)) * static_cast<double>(n));  // untouched
          continue;
        }
        for (std::int64_t k = 0; k <= j; ++k)
          sum += static_cast<double>(l(i, k)) * static_cast<double>(l(j, k));
        worst = std::max(worst, std::abs(sum - static_cast<double>(a(i, j))));
      }
    EXPECT_LT(worst / static_cast<double>(n), this->tolerance(n));
  }
}

TYPED_TEST(CompiledJdf, CholeskyReportsWhereAMatrixIsNotPositiveDefinite) {
  using T = TypeParam;
  Plain<T> a = random_matrix<T>(50, 50, 2, T{50});
  for (std::int64_t j = 0; j < 50; ++j)
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  a(33, 33) = -1000;
  Runtime runtime(with_memory("64MiB"));
  Described<T> described(runtime, a, 12, Home::runtime);
  int info = 0;
  ptg::Graph graph(runtime);
  this->cholesky(graph, described.descriptor(), &info);
  graph.run();
  EXPECT_EQ(info, 34);
}

TYPED_TEST(CompiledJdf, LuGivesFactorsWhoseProductIsTheMatrix) {
  using T = TypeParam;
  for (const Place& place :
       {Place{90, 90, 30, "64MiB"}, Place{95, 61, 20, "64MiB"}, Place{61, 95, 20, "64MiB", Home::caller},
        Place{120, 117, 9, "256KiB"}, Place{5, 3, 8, "64MiB"}}) {
    SCOPED_TRACE(fmt::format("{} x {} in tiles of {}", place.rows, place.columns, place.tile));
    const Plain<T> a = random_matrix<T>(place.rows, place.columns, 3, T{100});
    Runtime runtime(with_memory(place.memory));
    Described<T> described(runtime, a, place.tile, place.home);
    int info = 0;
    ptg::Graph graph(runtime);
    this->lu(graph, described.descriptor(), &info);
    graph.run();
    EXPECT_EQ(info, 0);
    const Plain<T> f = described.numbers();
    double worst = 0;
    for (std::int64_t j = 0; j < a.columns; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i) {
        double sum = i <= j ? static_cast<double>(f(i, j)) : 0;
        for (std::int64_t k = 0; k < std::min(i, j + 1); ++k)
          sum += static_cast<double>(f(i, k)) * static_cast<double>(f(k, j));
        worst = std::max(worst, std::abs(sum - static_cast<double>(a(i, j))));
      }
    EXPECT_LT(worst / 100, this->tolerance(100));
  }
}

TYPED_TEST(CompiledJdf, GemmIsTheProduct) {
  using T = TypeParam;
  for (const char* memory : {"64MiB", "256KiB"})
    for (const Home home : {Home::runtime, Home::caller}) {
      const Plain<T> a = random_matrix<T>(75, 102, 4), b = random_matrix<T>(102, 58, 5),
                     c = random_matrix<T>(75, 58, 6);
      Runtime runtime(with_memory(memory));
      Described<T> da(runtime, a, 13, home), db(runtime, b, 13, home), dc(runtime, c, 13, home);
      ptg::Graph graph(runtime);
      this->gemm(graph, T{2}, T{-0.5}, da.descriptor(), db.descriptor(), dc.descriptor());
      graph.run();
      const Plain<T> product = dc.numbers();
      double worst = 0;
      for (std::int64_t j = 0; j < c.columns; ++j)
        for (std::int64_t i = 0; i < c.rows; ++i) {
          double sum = -0.5 * static_cast<double>(c(i, j));
          for (std::int64_t k = 0; k < a.columns; ++k)
            sum += 2 * static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
          worst = std::max(worst, std::abs(sum - static_cast<double>(product(i, j))));
        }
      EXPECT_LT(worst, this->tolerance(102));
    }
}

// A graph may run again, on the results of the first run.
TYPED_TEST(CompiledJdf, GraphsRunTwice) {
  using T = TypeParam;
  const Plain<T> a = random_matrix<T>(20, 20, 7), b = random_matrix<T>(20, 20, 8),
                 c = random_matrix<T>(20, 20, 9);
  Runtime runtime(with_memory("64MiB"));
  Described<T> da(runtime, a, 6, Home::runtime), db(runtime, b, 6, Home::runtime),
      dc(runtime, c, 6, Home::runtime);
  ptg::Graph graph(runtime);
  this->gemm(graph, T{1}, T{1}, da.descriptor(), db.descriptor(), dc.descriptor());
  graph.run();
  const Plain<T> once = dc.numbers();
  graph.run();
  const Plain<T> twice = dc.numbers();
  for (std::int64_t j = 0; j < 20; ++j)
    for (std::int64_t i = 0; i < 20; ++i)
      EXPECT_NEAR(twice(i, j) - once(i, j), once(i, j) - c(i, j), this->tolerance(20));
}

TEST(CompiledJdfGraphs, HaveTheTasksAndEdgesOfTheUnrolledGraph) {
  const auto written_out = [](const char* name, const std::vector<std::string>& matrices) {
    const std::string file = (jdf::tests::examples_folder() / name).string();
    const jdf::tests::ReadText it = jdf::tests::read_text(jdf::tests::text_of(file), file);
    jdf::Settings settings(it.file);
    for (const std::string& matrix : matrices) settings.describe(matrix);
    const unrolled::TaskGraph graph = jdf::unroll(it.file, settings).graph;
    return std::pair(graph.tasks.size(), unrolled::check(graph).edges);
  };
  const auto compiled = [](ptg::Graph& graph) {
    const ptg::Checked checked = graph.check();
    EXPECT_EQ(checked.text, "");
    return std::pair<std::size_t, std::size_t>(checked.tasks, checked.edges);
  };
  for (std::int32_t size = 1; size <= 10; ++size) {
    Runtime runtime(with_memory("64MiB"));
    const std::int32_t rows = 4 * size - 1, columns = 4 * (11 - size), depth = 8;
    const auto a = runtime.tiled<double>("A", rows, rows, 4), b = runtime.tiled<double>("B", rows, depth, 4),
               c = runtime.tiled<double>("C", depth, columns, 4),
               d = runtime.tiled<double>("D", rows, columns, 4), e = runtime.tiled<double>("E", rows, 4, 4),
               l = runtime.tiled<double>("L", 2 * size, rows, TileSize{2, 4});
    const auto p = runtime.tiled<int>("P", size, rows, TileSize{1, 4});
    parsec::Descriptor da(a), db(b), dc(c), dd(d), de(e), dl(l), dp(p);
    int info = 0;
    ptg::Graph cholesky(runtime), lu(runtime), gemm(runtime), by_pairs(runtime);
    cholesky_double(cholesky, da, &info);
    lu_double(lu, dd, &info);
    gemm_double(gemm, 1, 1, db, dc, dd);
    lu_incremental_double(by_pairs, da, de, dl, dp, &info);
    EXPECT_EQ(compiled(by_pairs),
              written_out("lu-incremental.jdf",
                          {fmt::format("descA={0},{0},4,4", rows), fmt::format("descD={},4,4,4", rows),
                           fmt::format("descL={},{},2,4", 2 * size, rows),
                           fmt::format("IPIV={},{},1,4", size, rows)}));
    EXPECT_EQ(compiled(cholesky), written_out("cholesky.jdf", {fmt::format("descA={0},{0},4,4", rows)}));
    EXPECT_EQ(compiled(lu), written_out("lu.jdf", {fmt::format("descA={},{},4,4", rows, columns)}));
    EXPECT_EQ(compiled(gemm), written_out("gemm.jdf", {fmt::format("descA={},{},4,4", rows, depth),
                                                       fmt::format("descB={},{},4,4", depth, columns),
                                                       fmt::format("descC={},{},4,4", rows, columns)}));
  }
}

TEST(CompiledJdfGraphs, RefuseAnInvalidDescriptor) {
  Runtime runtime(with_memory("64MiB"));
  parsec_tiled_matrix_t foreign{};
  foreign.mt = foreign.nt = 2;
  int info = 0;
  ptg::Graph graph(runtime);
  EXPECT_THROW(cholesky_double(graph, &foreign, &info), UsageError);
}

}  // namespace fairlead::compiled_jdf
