// Distributions: the tiles of each rank, checked by direct formulas and those of the literature; one graph under all
// distributions. ScaLAPACK's layout, checked by an index computation from the owners of rows and columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/parameterized_linalg.hpp>
#include <fairlead/scalapack.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::linalg::testing::distributions {
namespace {

/// Number of tiles of each rank, for the given rows and columns of tiles.
std::vector<int> tiles_of(const Distribution& distribution, std::uint32_t ranks, std::int32_t rows,
                          std::int32_t columns) {
  std::vector<int> count(ranks);
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t j = 0; j < columns; ++j) ++count.at(distribution.owner(i, j));
  return count;
}

/// NUMROC by counting: how many of n elements in blocks of nb the process owns.
int counted(int n, int nb, int process, int source, int processes) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += (i / nb + source) % processes == process;
  return count;
}

TEST(Distributions, NumrocCountsTheElementsOfAProcess) {
  for (const int n : {0, 1, 7, 64, 100, 131})
    for (const int nb : {1, 3, 16, 200})
      for (const int processes : {1, 2, 5})
        for (int source = 0; source < processes; ++source)
          for (int process = 0; process < processes; ++process) {
            EXPECT_EQ(scalapack::numroc(n, nb, process, source, processes),
                      counted(n, nb, process, source, processes));
            int local = 0;
            for (int i = 0; i < n; ++i) {
              if (scalapack::indxg2p(i, nb, source, processes) != process) continue;
              EXPECT_EQ(scalapack::indxg2l(i, nb, processes), local);
              EXPECT_EQ(scalapack::indxl2g(local, nb, process, source, processes), i);
              ++local;
            }
          }
}

TEST(Distributions, BlockCyclicMatchesNumroc) {
  for (const auto& [p, q] : {std::pair(1, 1), {1, 4}, {2, 2}, {2, 3}, {3, 2}})
    for (const auto& [block_rows, block_columns] : {std::pair(1, 1), {2, 1}, {3, 4}})
      for (const auto& [rows, columns] : {std::pair(1, 1), {5, 9}, {17, 17}, {40, 3}})
        for (const int first : {0, 1}) {
          const BlockCyclic map{p, q, block_rows, block_columns, first % p, first % q};
          const auto owned = tiles_of(Distribution(map), static_cast<std::uint32_t>(p * q), rows, columns);
          for (int row = 0; row < p; ++row)
            for (int column = 0; column < q; ++column)
              EXPECT_EQ(owned[static_cast<std::size_t>(row * q + column)],
                        counted(rows, block_rows, row, first % p, p) *
                            counted(columns, block_columns, column, first % q, q));
        }
  // With one tile per block, those of PaRSEC and ScaLAPACK are the cyclic map.
  const Distribution cyclic(CyclicMap{2, 3}), blocks(BlockCyclic{2, 3});
  for (std::int32_t i = 0; i < 7; ++i)
    for (std::int32_t j = 0; j < 7; ++j) EXPECT_EQ(cyclic.owner(i, j), blocks.owner(i, j));
}

TEST(Distributions, OverOneDimensionAreRowsOrColumns) {
  EXPECT_EQ(tiles_of(Distribution::by_rows(3), 3, 7, 5), (std::vector<int>{15, 10, 10}));
  EXPECT_EQ(tiles_of(Distribution::by_rows(3, 2), 3, 7, 5), (std::vector<int>{15, 10, 10}));
  EXPECT_EQ(tiles_of(Distribution::by_rows(3, 2), 3, 9, 5), (std::vector<int>{20, 15, 10}));
  EXPECT_EQ(tiles_of(Distribution::by_columns(4), 4, 3, 6), (std::vector<int>{6, 6, 3, 3}));
  const Distribution rows = Distribution::by_rows(3, 2);
  for (std::int32_t j = 0; j < 4; ++j) EXPECT_EQ(rows.owner(5, j), 2u);
}

// Cyclic over nodes; the rows and columns of each node are then cyclic over its ranks.
TEST(Distributions, OverNodesAreCyclicTwice) {
  const CyclicMap map{.rank_rows = 2, .rank_columns = 3, .device_rows = 2, .device_columns = 2};
  const Distribution nodes(CyclicMap{2, 3}), both = Distribution::of_nodes(map);
  const auto owned = tiles_of(both, 24, 24, 36);
  EXPECT_THAT(owned, ::testing::Each(36));
  for (std::int32_t i = 0; i < 24; ++i)
    for (std::int32_t j = 0; j < 36; ++j) {
      EXPECT_EQ(both.owner(i, j) / 4, nodes.owner(i, j));
      EXPECT_EQ(both.owner(i, j) % 4, static_cast<std::uint32_t>(i / 2 % 2 * 2 + j / 3 % 2));
    }
}

// Of a pattern of r x r each rank is in at most two rows and columns of it together, and has as many tiles of the triangle as
// the others but for the diagonal: Beaumont et al. 2022, section 3.1.
TEST(Distributions, SymmetricOnesShareRowsAndColumns) {
  for (const std::int32_t r : {2, 4, 6}) {
    const auto ranks = static_cast<std::uint32_t>(r * r / 2);
    const Distribution symmetric = Distribution::symmetric(r);
    EXPECT_THAT(tiles_of(symmetric, ranks, 5 * r, 5 * r), ::testing::Each(50));
    for (std::int32_t line = 0; line < r; ++line) {
      std::set<std::uint32_t> met;
      for (std::int32_t k = 0; k < 6 * r; ++k) {
        EXPECT_EQ(symmetric.owner(line, k), symmetric.owner(k, line));
        met.insert(symmetric.owner(line, k));
        met.insert(symmetric.owner(k, line));
      }
      EXPECT_EQ(met.size(), static_cast<std::size_t>(r));  // 2D cyclic over as many: P + Q - 1, about 1.4 r
    }
  }
}

TEST(Distributions, ATableListsOwnersPerTileAndRepeats) {
  const Distribution table = Distribution::table(2, 3, {0, 1, 2, 2, 0, 1});
  EXPECT_EQ(table.owner(1, 0), 2u);
  EXPECT_EQ(table.owner(3, 5), 1u);
  EXPECT_EQ(tiles_of(table, 3, 4, 6), (std::vector<int>{8, 8, 8}));
}

TEST(Distributions, RejectInvalidParameters) {
  EXPECT_THROW(Distribution(BlockCyclic{0, 1}), UsageError);
  EXPECT_THROW(Distribution(BlockCyclic{2, 2, 1, 0}), UsageError);
  EXPECT_THROW(Distribution(BlockCyclic{2, 2, 1, 1, 2}), UsageError);
  EXPECT_THROW(Distribution::by_rows(0), UsageError);
  EXPECT_THROW(Distribution::symmetric(3), UsageError);
  EXPECT_THROW(Distribution::table(2, 2, {0, 1, 2}), UsageError);
  EXPECT_THROW(Distribution::of_nodes(CyclicMap{.device_rows = 0}), UsageError);
}

double number_at(std::int64_t i, std::int64_t j) {
  return static_cast<double>(1000 * i + j) + (i == j ? 1e6 : 0);
}

Config little() { return config_of({.workers = 1, .memory = Bytes{2} << 20}); }

/// Copies each tile of this rank into a matrix shared by all ranks.
template <class F>
void each_own_tile(const TiledMatrix<double>& a, const F& f) {
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j)
      if (const auto handle = a.here_or_not(i, j); handle.datum().datum != nullptr)
        f(handle, std::int64_t{i} * a.tile(), std::int64_t{j} * a.tile());
}

/// LU and a solve whose right-hand sides have another distribution.
Dense<double> solved(std::uint32_t ranks, const Distribution& of_a, const Distribution& of_b,
                     const TileSize& tile = 16) {
  constexpr std::int64_t n = 150;
  Dense<double> x{n, 3, std::vector<double>(3 * n)};
  std::vector<std::size_t> owned(ranks);
  const auto thrown = tests::on_ranks(
      ranks, [](std::uint32_t) { return little(); },
      [&](Runtime& runtime) {
        const auto a = runtime.tiled<double>("A", n, n, tile, of_a),
                   b = runtime.tiled<double>("b", n, 3, tile, of_b);
        Flow flow(runtime);
        const auto fill = [&](const TiledMatrix<double>& m, const MatrixSource<double>& source) {
          each_own_tile(m, [&](const auto& handle, std::int64_t row, std::int64_t column) {
            auto hold = flow.acquire(write(handle));
            const auto t = hold.template get<0>();
            source.read(row, handle.rows(), column, handle.columns(), t.data(), t.leading_dimension());
          });
        };
        fill(a, GeneratedUniform<double>(n, n, 5, n));
        fill(b, GeneratedUniform<double>(n, 3, 6));
        flow.wait();
        ptg::Graph factorization(runtime), solve(runtime);
        lu(factorization, kernels(), a);
        solve_lu_factored(solve, kernels(), a, b);
        run_for_results(factorization);
        run_for_results(solve);
        each_own_tile(b, [&](const auto& handle, std::int64_t row, std::int64_t column) {
          auto hold = flow.acquire(read(handle));
          const auto t = hold.template get<0>();
          for (std::int32_t j = 0; j < t.columns(); ++j)
            for (std::int32_t i = 0; i < t.rows(); ++i) x(row + i, column + j) = t(i, j);
        });
      });
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
  return x;
}

TEST(Distributions, DoNotChangeTheResultOfAGraph) {
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  const Distribution two_dimensions = Distribution::over(4), rows = Distribution::by_rows(4, 2),
                     columns = Distribution::by_columns(4),
                     nodes = Distribution::of_nodes({.rank_columns = 2, .device_rows = 2}),
                     blocks(BlockCyclic{2, 2, 3, 2, 1, 1}),
                     table = Distribution::table(3, 3, {3, 0, 1, 2, 2, 0, 1, 1, 3}),
                     function([](std::int32_t i, std::int32_t j) {
                       return static_cast<std::uint32_t>((i * i + 3 * j) % 4);
                     });
  const Dense<double> expected = solved(1, Distribution::over(1), Distribution::over(1));
  EXPECT_LT(solution_residual(dense<double>(GeneratedUniform<double>(150, 150, 5, 150)), expected,
                              dense<double>(GeneratedUniform<double>(150, 3, 6))),
            30);
  for (const Distribution* of_a : {&two_dimensions, &rows, &columns, &nodes, &blocks, &table, &function})
    for (const Distribution* of_b : {&two_dimensions, &table})
      if (fairlead::tests::many_cases() || (of_b == &table) == (of_a == &two_dimensions)) {
        EXPECT_TRUE(solved(4, *of_a, *of_b) == expected) << "distribution " << of_a - &two_dimensions;
      }
  EXPECT_TRUE(solved(8, Distribution::symmetric(4), Distribution::by_rows(8)) == expected);
  for (const Distribution* of_a : {&two_dimensions, &rows, &nodes, &table})
    EXPECT_TRUE(solved(4, *of_a, columns, TileSize(16).padded()) == expected)
        << "padded " << of_a - &two_dimensions;
}

/// 40 x 37 elements in tiles of 16 x 12; the last ones have 8 rows and one column. A flow and a graph send each tile to the
/// rank after its owner. A padded tile takes the bytes of a whole one.
TEST(Distributions, PaddedTilesAreSentWhole) {
  for (const bool is_padded : {false, true})
    for (const bool as_graph : {false, true}) {
      const auto thrown = tests::on_ranks(
          2,
          [](std::uint32_t) {
            Config config = little();
            config.set("eager-limit", Bytes{0});
            return config;
          },
          [&](Runtime& runtime) {
            const Distribution here(
                [](std::int32_t i, std::int32_t) { return static_cast<std::uint32_t>(i % 2); }),
                there([](std::int32_t i, std::int32_t) { return static_cast<std::uint32_t>((i + 1) % 2); });
            const TileSize tile(16, 12);
            const auto generated =
                generated_by([](TileView<double> piece, std::int64_t row, std::int64_t column) {
                  for (std::int32_t j = 0; j < piece.columns(); ++j)
                    for (std::int32_t i = 0; i < piece.rows(); ++i)
                      piece(i, j) = number_at(row + i, column + j);
                });
            const auto a = runtime.tiled<double>("A", 40, 37, is_padded ? tile.padded() : tile, here,
                                                 generated),
                       b = runtime.tiled<double>("B", 40, 37, is_padded ? tile.padded() : tile, there);
            const auto twice = codelet("twice").cpu([](In<Tile<double>> from, Out<Tile<double>> to) {
              ASSERT_EQ(from.rows(), to.rows());
              ASSERT_EQ(from.columns(), to.columns());
              for (std::int32_t j = 0; j < to.columns(); ++j)
                for (std::int32_t i = 0; i < to.rows(); ++i) to(i, j) = 2 * from(i, j);
            });
            Flow flow(runtime);
            if (as_graph) {
              ptg::Graph graph(runtime);
              const ptg::Index i("i"), j("j");
              const auto A = graph.data(a), B = graph.data(b);
              const auto keep = codelet("keep").cpu([](InOut<Tile<double>>) {});
              auto give = graph.task("give", i.in(0, a.tile_rows() - 1), j.in(0, a.tile_columns() - 1));
              auto take = graph.task("take", i.in(0, a.tile_rows() - 1), j.in(0, a.tile_columns() - 1));
              give.runs(keep, ptg::flow("T").from(A(i, j))).at(A(i, j));
              take.runs(twice, ptg::flow("from").from(give["T"](i, j)), ptg::flow("to").from(B(i, j)))
                  .at(B(i, j));
              graph.run();
            } else {
              for (std::int32_t i = 0; i < a.tile_rows(); ++i)
                for (std::int32_t j = 0; j < a.tile_columns(); ++j) flow.submit(twice(a(i, j), b(i, j)));
              flow.wait();
            }
            std::uint64_t given = 0;
            Bytes elements = 0;
            for (std::int32_t i = 0; i < a.tile_rows(); ++i)
              for (std::int32_t j = 0; j < a.tile_columns(); ++j) {
                if (here.owner(i, j) == runtime.rank()) {
                  ++given;
                  elements += is_padded ? 16 * 12 : static_cast<Bytes>(a.rows_of(i) * a.columns_of(j));
                  continue;
                }
                const auto hold = flow.acquire(read(b(i, j)));
                const auto& t = hold.template get<0>();
                for (std::int32_t l = 0; l < t.columns(); ++l)
                  for (std::int32_t k = 0; k < t.rows(); ++k)
                    ASSERT_EQ(t(k, l), 2 * number_at(16 * i + k, 12 * j + l));
              }
            const auto network = runtime.statistics().network;
            EXPECT_EQ(network.payloads, given);
            EXPECT_EQ(network.payload_bytes, elements * sizeof(double));
          });
      for (const std::string& text : thrown) EXPECT_EQ(text, "");
    }
}

TEST(Distributions, AMissingRankIsRejected) {
  const auto thrown = tests::on_ranks(
      2, [](std::uint32_t) { return little(); },
      [&](Runtime& runtime) {
        const auto a = runtime.tiled<double>("A", 64, 64, 16, Distribution(CyclicMap{2, 2}));
        ptg::Graph graph(runtime);
        cholesky(graph, kernels(), a);
        graph.run();
      });
  for (const std::string& text : thrown)
    EXPECT_NE(text.find("gives a datum to rank 2; there are 2"), std::string::npos) << text;
}

// ---- ScaLAPACK

struct Layout {
  int m, n, mb, nb, tile, rows, columns, first_row, first_column;
};

/// The rows or columns of a process, from the owner of each.
std::vector<int> own_of(int size, int block, int process, int source, int processes) {
  std::vector<int> out;
  for (int i = 0; i < size; ++i)
    if ((i / block + source) % processes == process) out.push_back(i);
  return out;
}

TEST(ScalapackLayout, ConvertsInBothDirections) {
  for (const Layout& of : {Layout{100, 70, 16, 16, 16, 2, 2, 0, 0}, Layout{100, 70, 32, 16, 16, 2, 3, 1, 2},
                           Layout{97, 131, 24, 36, 12, 3, 2, 2, 0}, Layout{5, 5, 8, 8, 8, 2, 2, 1, 0},
                           Layout{64, 64, 64, 64, 16, 1, 2, 0, 1}, Layout{41, 23, 1, 1, 1, 2, 2, 0, 0}})
    for (const scalapack::Order order : {scalapack::Order::row_major, scalapack::Order::column_major}) {
      const auto ranks = static_cast<std::uint32_t>(of.rows * of.columns);
      const auto thrown = tests::on_ranks(
          ranks, [](std::uint32_t) { return config_of({.workers = 1, .memory = Bytes{1} << 20}); },
          [&](Runtime& runtime) {
            const int rank = static_cast<int>(runtime.rank());
            scalapack::Grid grid{of.rows, of.columns, rank / of.columns, rank % of.columns};
            if (order == scalapack::Order::column_major) {
              grid.row = rank % of.rows;
              grid.column = rank / of.rows;
            }
            const auto rows = own_of(of.m, of.mb, grid.row, of.first_row, of.rows),
                       columns = own_of(of.n, of.nb, grid.column, of.first_column, of.columns);
            const auto lld = static_cast<int>(rows.size()) + 3;
            const auto described =
                scalapack::descinit(of.m, of.n, of.mb, of.nb, of.first_row, of.first_column, 7, lld, grid);
            EXPECT_EQ(described, (scalapack::Descriptor{1, 7, of.m, of.n, of.mb, of.nb, of.first_row,
                                                        of.first_column, lld}));
            std::vector<double> array(
                static_cast<std::size_t>(lld) * std::max<std::size_t>(columns.size(), 1), -5);
            for (std::size_t j = 0; j < columns.size(); ++j)
              for (std::size_t i = 0; i < rows.size(); ++i)
                array[i + j * static_cast<std::size_t>(lld)] = number_at(rows[i], columns[j]);
            const auto before = array;
            const auto a = runtime.tiled<double>("A", of.m, of.n, of.tile,
                                                 scalapack::distribution(described, grid, of.tile, order));
            Flow flow(runtime);
            scalapack::take_in(flow, described, grid, array.data(), a);
            flow.wait();
            std::size_t seen = 0;
            each_own_tile(a, [&](const auto& handle, std::int64_t row, std::int64_t column) {
              auto hold = flow.acquire(read(handle));
              const auto t = hold.template get<0>();
              for (std::int32_t j = 0; j < t.columns(); ++j)
                for (std::int32_t i = 0; i < t.rows(); ++i, ++seen)
                  ASSERT_EQ(t(i, j), number_at(row + i, column + j));
            });
            EXPECT_EQ(seen, rows.size() * columns.size());
            const auto twice = codelet("twice").cpu([](InOut<Tile<double>> t) {
              for (std::int32_t j = 0; j < t.columns(); ++j)
                for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) *= 2;
            });
            for (std::int32_t i = 0; i < a.tile_rows(); ++i)
              for (std::int32_t j = 0; j < a.tile_columns(); ++j) flow.submit(twice(a(i, j)));
            scalapack::give_back(flow, a, described, grid, array.data());
            flow.wait();
            for (std::size_t k = 0; k < array.size(); ++k)
              ASSERT_EQ(array[k], before[k] == -5 ? -5 : 2 * before[k]);  // padding is unchanged
          });
      for (const std::string& text : thrown) EXPECT_EQ(text, "");
    }
}

TEST(ScalapackLayout, RejectsWhatDescinitRejects) {
  const scalapack::Grid grid{.rows = 2, .columns = 3, .row = 1, .column = 2};
  const auto said = [&](int m, int n, int mb, int nb, int irsrc, int icsrc, int lld) -> std::string {
    try {
      scalapack::descinit(m, n, mb, nb, irsrc, icsrc, 0, lld, grid);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(said(10, 10, 2, 2, 1, 2, 6), "");
  EXPECT_THAT(said(-1, 10, 2, 2, 0, 0, 5), HasSubstr("argument 2 of descinit, M, is -1"));
  EXPECT_THAT(said(10, -1, 2, 2, 0, 0, 5), HasSubstr("argument 3 of descinit, N"));
  EXPECT_THAT(said(10, 10, 0, 2, 0, 0, 5), HasSubstr("argument 4 of descinit, MB"));
  EXPECT_THAT(said(10, 10, 2, 0, 0, 0, 5), HasSubstr("argument 5 of descinit, NB"));
  EXPECT_THAT(said(10, 10, 2, 2, 2, 0, 5), HasSubstr("argument 6 of descinit, IRSRC"));
  EXPECT_THAT(said(10, 10, 2, 2, 0, 3, 5), HasSubstr("argument 7 of descinit, ICSRC"));
  EXPECT_THAT(said(10, 10, 2, 2, 0, 0, 3), HasSubstr("argument 9 of descinit, LLD, is 3: at least 4"));
  const auto described = scalapack::descinit(10, 10, 4, 4, 0, 0, 0, 6, grid);
  EXPECT_THROW(scalapack::distribution(described, grid, 3), UsageError);
  EXPECT_NO_THROW(scalapack::distribution(described, grid, 2));
  EXPECT_THROW(scalapack::require_described(described, grid, 10, 11, 2, false), UsageError);
  EXPECT_THROW(scalapack::require_described(described, grid, 10, 10, 2, true), UsageError);
}

}  // namespace
}  // namespace fairlead::linalg::testing::distributions
