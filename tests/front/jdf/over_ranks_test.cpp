// JDF files with interpreted bodies over ranks that are threads here: each task runs at its placement, and
// the results are bitwise equal to those of one rank. A task may read only memory of its own rank.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "algorithms/linalg/tile_functions.hpp"
#include "at_length.hpp"
#include "front/jdf/lowered.hpp"
#include "front/jdf_graph/codelets.hpp"
#include "front/unrolled/ranks.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::jdf::tests {
namespace {

using Elements = std::vector<double>;

struct MatrixShape {
  std::string name;
  std::int64_t rows, columns;
};
/// A file, its matrices and their initial values.
struct OverRanksCase {
  std::string text;
  std::vector<MatrixShape> matrices;
  std::vector<std::string> set{};
  std::int32_t tile = 16;
  std::size_t pages = 4000;
};

double element_of(std::size_t matrix, std::int64_t i, std::int64_t j, std::int64_t rows) {
  const std::int64_t low = std::min(i, j), high = std::max(i, j);  // symmetric, for those that are to be
  const double number =
      static_cast<double>((low * 7 + high * 13 + static_cast<std::int64_t>(matrix) * 5) % 19) - 9;
  return i == j ? number + static_cast<double>(10 * rows) : number;
}

/// The final matrices, as far as this rank owns them.
void run_on(Runtime& runtime, const OverRanksCase& of, const Distribution* distribution,
            std::vector<Elements>& after) {
  ReadText it = read_text(of.text, "it.jdf");
  if (it.errors != 0) throw InputError(it.messages);
  Diagnostics diagnostics;
  const auto program =
      std::make_shared<RunnableJdf>(std::move(it.file), linalg::tile_functions(), diagnostics);
  if (diagnostics.errors() != 0) throw InputError(shown(diagnostics, program->file.source));
  std::vector<TiledMatrix<double>> matrices;
  fairlead::Flow flow(runtime);
  const auto each_tile = [&](std::size_t number, const auto& f) {
    const TiledMatrix<double>& m = matrices[number];
    for (std::int32_t i = 0; i < m.tile_rows(); ++i)
      for (std::int32_t j = 0; j < m.tile_columns(); ++j)
        if (const auto handle = m.here_or_not(i, j); handle.datum().datum != nullptr)
          f(handle, std::int64_t{i} * m.tile(), std::int64_t{j} * m.tile());
  };
  for (std::size_t number = 0; number < of.matrices.size(); ++number) {
    const std::string& name = of.matrices[number].name;
    const std::int64_t rows = of.matrices[number].rows, columns = of.matrices[number].columns;
    program->settings.describe(fmt::format("{}={},{},{},{}", name, rows, columns, of.tile, of.tile));
    matrices.push_back(distribution == nullptr
                           ? runtime.tiled<double>(name, rows, columns, of.tile)
                           : runtime.tiled<double>(name, rows, columns, of.tile, *distribution));
    each_tile(number, [&](const auto& handle, std::int64_t row, std::int64_t column) {
      auto hold = flow.acquire(write(handle));
      const auto tile = hold.template get<0>();
      for (std::int32_t j = 0; j < tile.columns(); ++j)
        for (std::int32_t i = 0; i < tile.rows(); ++i)
          tile(i, j) = element_of(number, row + i, column + j, rows);
    });
  }
  flow.wait();
  for (const std::string& set : of.set) program->settings.set(set);
  {
    ptg::Graph graph(runtime);
    std::vector<BoundData> data(program->file.globals.size());
    for (std::size_t number = 0; number < matrices.size(); ++number)
      data[program->file.global_numbers.find(of.matrices[number].name)].collection =
          graph.data(matrices[number], of.matrices[number].name).definition();
    lower(program, data, {}, builder_for(graph, program, linalg::Kernels::load()));
    graph.run();
  }
  for (std::size_t number = 0; number < matrices.size(); ++number)
    each_tile(number, [&](const auto& handle, std::int64_t row, std::int64_t column) {
      auto hold = flow.acquire(read(handle));
      const auto tile = hold.template get<0>();
      for (std::int32_t j = 0; j < tile.columns(); ++j)
        for (std::int32_t i = 0; i < tile.rows(); ++i)
          after[number][static_cast<std::size_t>(row + i + (column + j) * of.matrices[number].rows)] =
              tile(i, j);
    });
}
Config config_of(const OverRanksCase& of) {
  Config config;
  config.set("workers", 1);
  config.set("bind-threads", false);
  config.set("memory", of.pages * 4096);
  return config;
}
std::vector<Elements> nothing_of(const OverRanksCase& of) {
  std::vector<Elements> out;
  for (const MatrixShape& it : of.matrices) out.emplace_back(static_cast<std::size_t>(it.rows * it.columns));
  return out;
}
std::vector<Elements> by_one(const OverRanksCase& of) {
  std::vector<Elements> after = nothing_of(of);
  Runtime runtime(config_of(of));
  run_on(runtime, of, nullptr, after);
  return after;
}
/// `thrown`: the errors of the ranks.
std::vector<Elements> by_grid(const OverRanksCase& of, const CyclicMap& grid,
                              std::vector<std::string>& thrown) {
  std::vector<Elements> after = nothing_of(of);
  const Distribution distribution(grid);
  thrown = fairlead::tests::on_ranks(
      static_cast<std::uint32_t>(grid.rank_rows * grid.rank_columns),
      [&](std::uint32_t) { return config_of(of); },
      [&](Runtime& runtime) { run_on(runtime, of, &distribution, after); });
  return after;
}
void expect_the_same_on_all_grids(const OverRanksCase& of) {
  const std::vector<Elements> expected = by_one(of);
  for (const CyclicMap& grid : {CyclicMap{1, 1}, CyclicMap{2, 1}, CyclicMap{2, 2}, CyclicMap{2, 3}}) {
    std::vector<std::string> thrown;
    EXPECT_TRUE(by_grid(of, grid, thrown) == expected) << grid.rank_rows << " x " << grid.rank_columns;
    for (const std::string& text : thrown) EXPECT_EQ(text, "");
  }
}

}  // namespace

TEST(JdfOverRanks, FactorizationsAreBitwiseEqualToOneRank) {
  if (::fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  std::size_t turn = 0;
  for (const char* name : {"cholesky.jdf", "lu.jdf"})
    for (const std::int64_t n : {16, 41, 96, 127})
      for (const std::size_t pages : {std::size_t{4000}, std::size_t{16}}) {
        if (::fairlead::tests::left_out(turn++, 3)) continue;
        SCOPED_TRACE(fmt::format("{}, {} in {} pages", name, n, pages));
        expect_the_same_on_all_grids(
            {.text = text_of(examples_folder() / name), .matrices = {{"descA", n, n}}, .pages = pages});
      }
}

TEST(JdfOverRanks, ProductsAreBitwiseEqualToOneRank) {
  if (::fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  for (const std::int64_t n : {16, 57, 90})
    expect_the_same_on_all_grids({.text = text_of(examples_folder() / "gemm.jdf"),
                                  .matrices = {{"descC", n, n + 9}, {"descA", n, 40}, {"descB", 40, n + 9}},
                                  .set = {"alpha=0.5", "beta=-2"}});
}

// Each row's value visits all rows and is stored in the datum of the next row, possibly on another rank,
// after all readers of the old value. Temporaries go to other ranks, too.
TEST(JdfOverRanks, ValuesVisitAllRanksAndReturn) {
  const std::string text = R"(
descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]

START(i)
i = 0 .. descA->mt-1
: descA(i, 0)
RW    A <- descA(i, 0)
        -> X ROUND(i, 1)
        -> Y KEEP(i)
WRITE T <- NEW
        -> T ROUND(i, descA->mt-1)
BODY
    tile_dlacpy('A', descA->mb, descA->nb, A, descA->mb, T, descA->mb);
END

ROUND(i, k)
i = 0 .. descA->mt-1
k = 1 .. descA->mt-1
: descA((i + k) % descA->mt, 0)
RW   X <- (k == 1) ? A START(i) : X ROUND(i, k-1)
       -> (k < descA->mt-1) ? X ROUND(i, k+1) : X LEAVE(i)
READ T <- (k == descA->mt-1) ? T START(i) : NULL
CTL after <- (k == 1) ? own KEEP(i)
BODY
{
    if (k == descA->mt-1) tile_dgeadd(descA->mb, descA->nb, 1.0, T, descA->mb, 2.0, X, descA->mb);
}
END

LEAVE(i)
i = 0 .. descA->mt-1
: descA(i, 0)
READ X <- X ROUND(i, descA->mt-1)
       -> descA(i, 0)
BODY
{
    /* Home again. */
}
END

KEEP(i)
i = 0 .. descA->mt-1
: descB(i, 0)
READ Y <- A START(i)
RW   B <- descB(i, 0)
       -> descB(i, 0)
CTL own -> after ROUND(i, 1)
BODY
    tile_dlacpy('A', descA->mb, descA->nb, Y, descA->mb, B, descA->mb);
END
)";
  const OverRanksCase of{.text = text, .matrices = {{"descA", 16 * 7, 16}, {"descB", 16 * 7, 16}}};
  const auto after = [&] {
    std::vector<Elements> all = nothing_of(of);
    for (std::int64_t j = 0; j < 16; ++j)
      for (std::int64_t i = 0; i < 16 * 7; ++i) {
        const double before = element_of(0, i, j, 16 * 7);
        all[0][static_cast<std::size_t>(i + j * 16 * 7)] = 3 * before;
        all[1][static_cast<std::size_t>(i + j * 16 * 7)] = before;
      }
    return all;
  }();
  for (const CyclicMap& grid :
       {CyclicMap{1, 1}, CyclicMap{2, 1}, CyclicMap{3, 1}, CyclicMap{2, 2}, CyclicMap{5, 1}}) {
    std::vector<std::string> thrown;
    EXPECT_TRUE(by_grid(of, grid, thrown) == after) << grid.rank_rows << " x " << grid.rank_columns;
    for (const std::string& error : thrown) EXPECT_EQ(error, "");
  }
}

TEST(JdfOverRanks, ReadingMemoryOfAnotherRankIsAnError) {
  const OverRanksCase of{.text = R"(
descA [ type = "tiled_matrix *" ]
SHIFT(i)
i = 0 .. descA->mt-2
: descA(i, 0)
READ A <- descA(i+1, 0)
RW   B <- descA(i, 1)
       -> descA(i, 1)
BODY
    tile_dlacpy('A', descA->mb, descA->nb, A, descA->mb, B, descA->mb);
END
)",
                         .matrices = {{"descA", 64, 32}}};
  std::vector<std::string> thrown;
  by_grid(of, {1, 1}, thrown);
  EXPECT_EQ(thrown[0], "");
  by_grid(of, {2, 1}, thrown);
  for (const std::string& error : thrown) {
    EXPECT_NE(error.find("\"A\" of SHIFT("), std::string::npos) << error;
    EXPECT_NE(error.find("which belongs to rank"), std::string::npos) << error;
  }
}

// Before the run, with the line. The graphs of the examples are sound on any grid.
TEST(JdfOverRanks, CheckReportsReadsFromAnotherRank) {
  const auto findings_of = [](const std::string& text, const std::vector<std::string>& matrices,
                              const CyclicMap& grid) {
    ReadText it = read_text(text, "it.jdf");
    Settings settings(it.file);
    for (const std::string& matrix : matrices) settings.describe(matrix);
    for (const Global& global : it.file.globals)
      if (global.name.text == "alpha" || global.name.text == "beta") settings.set(global.name.text + "=1");
    const unrolled::TaskGraph graph = unroll(it.file, settings, {.placements = true}).graph;
    unrolled::Findings findings;
    unrolled::check_placement(graph, grid, findings);
    return findings;
  };
  const std::string shift = R"(
descA [ type = "tiled_matrix *" ]
SHIFT(i)
i = 0 .. descA->mt-2
: descA(i, 0)
RW A <- (i % 2 == 0) ? descA(i+2, 0) : descA(i+1, 0)
     -> descA(i, 0)
BODY
END
)";
  const unrolled::Findings found = findings_of(shift, {"descA=70,10,10,10"}, {2, 1});
  EXPECT_EQ(found.errors(),
            3u);  // of 1, 3 and 5; the others read two rows further, which are on their own rank
  EXPECT_EQ(found.texts(unrolled::Kind::on_another_rank).at(0),
            "it.jdf:6:40: descA(2,0) is rank 0's, and is taken as A of SHIFT(1), which runs on rank 1, at "
            "descA(1,0): let a "
            "task there forward it");
  EXPECT_EQ(findings_of(shift, {"descA=70,10,10,10"}, {1, 3}).errors(), 0u);
  EXPECT_EQ(findings_of(shift, {"descA=70,10,10,10"}, {3, 1}).errors(), 6u);
  // A value that is written without an input starts in the datum where it is stored.
  const std::string column = R"(
descA [ type = "tiled_matrix *" ]
descD [ type = "tiled_matrix *" ]
PUT(k)
k = 0 .. descA->mt-1
: descA(k, k)
READ A <- descA(k, k)
WRITE D -> descD(k, 0)
BODY
END
)";
  const std::vector<std::string> both{"descA=60,60,10,10", "descD=60,10,10,10"};
  const unrolled::Findings elsewhere = findings_of(column, both, {2, 3});
  EXPECT_EQ(elsewhere.errors(), 4u) << elsewhere.text();
  EXPECT_EQ(elsewhere.texts(unrolled::Kind::on_another_rank).at(0),
            "it.jdf:8:12: descD(1,0) is rank 3's, and is taken as D of PUT(1), which runs on rank 4, at "
            "descA(1,1): let a task there forward it");
  EXPECT_EQ(findings_of(column, both, {6, 1}).errors(), 0u);
  for (const char* name :
       {"cholesky.jdf", "lu.jdf", "gemm.jdf", "trsm.jdf", "qr.jdf", "lu-incremental.jdf"}) {
    const std::string_view text(name);
    std::vector<std::string> matrices{"descA=100,100,16,16"};
    if (text == "gemm.jdf") matrices.insert(matrices.end(), {"descB=100,100,16,16", "descC=100,100,16,16"});
    if (text == "trsm.jdf") matrices.emplace_back("descB=100,50,16,16");
    if (text == "qr.jdf") matrices.emplace_back("descT=28,100,4,16");
    const bool by_pairs = text == "lu-incremental.jdf";
    if (by_pairs)
      matrices.insert(matrices.end(), {"descD=100,16,16,16", "descL=28,100,4,16", "IPIV=7,100,1,16"});
    const auto found_on = [&](CyclicMap grid) {
      return findings_of(text_of(examples_folder() / name), matrices, grid);
    };
    // The column D is next to the diagonal on one column of ranks only.
    EXPECT_EQ(found_on({2, 3}).errors(), by_pairs ? 4u : 0u) << name << found_on({2, 3}).text();
    EXPECT_EQ(found_on({6, 1}).errors(), 0u) << name << found_on({6, 1}).text();
  }
}

}  // namespace fairlead::jdf::tests
