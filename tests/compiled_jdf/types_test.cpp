// Types of dependencies in compiled graphs: only parts of tiles are sent to other ranks and stored in a
// datum. Compared with loops that use only the indices. tests/python/test_jdf_over_ranks.py runs the same
// file interpreted.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "at_length.hpp"
#include "compiled_jdf/compiled.hpp"
#include "compiled_jdf/dealt.hpp"
#include "on_ranks.hpp"
#include "types.hpp"

namespace fairlead::compiled_jdf {
namespace {

using ptg::Part;
using Numbers = Plain<double>;
using Has = bool (*)(std::int64_t i, std::int64_t j);

struct Mine {
  Part part;
  Has has;
};
const Mine mine[] = {{Part(), [](std::int64_t, std::int64_t) { return true; }},
                     {Part::upper(false), [](std::int64_t i, std::int64_t j) { return i < j; }},
                     {Part::block(1, 3, 2, 2, 3),
                      [](std::int64_t i, std::int64_t j) { return i >= 1 && i < 4 && (j == 2 || j == 5); }}};

struct TypesCase {
  std::int64_t n;
  std::int32_t tile;
  const char* memory;
  Numbers a = random_matrix<double>(n, n, 1), b = random_matrix<double>(n, tile, 2),
          c = random_matrix<double>(n, tile, 3);
};

Config config_of_types(const TypesCase& of) {
  Config config = config_of_rank(of.memory);
  config.set("eager-limit", Bytes{0});
  return config;
}

/// The computation of the file, in loops.
void expect(TypesCase& it, const Mine& part) {
  for (std::int64_t i = 0; i < it.n; ++i)
    for (std::int64_t j = 0; j < it.tile; ++j) {
      const std::int64_t k = i / it.tile, row = i % it.tile;
      const std::int64_t column = k * it.tile + j;
      if (column < it.n && row <= j) it.b(i, j) += it.a(i, column);
      if (column < it.n && row >= j) it.a(i, column) *= 2;
      const bool left = k % 2 == 0 ? row > j : part.has(row, j);
      if (left) it.c(i, j) = row == j ? 7 : 5;
    }
}

types_hidden with(const Mine& part) {
  return {.type_LOWER_TILE = Part::lower(), .type_UPPER_TILE = Part::upper(), .type_MINE = part.part};
}
void run(Runtime& runtime, Dealt<double>& a, Dealt<double>& b, Dealt<double>& c, const types_hidden& how) {
  ptg::Graph graph(runtime);
  types(graph, a.descriptor(), b.descriptor(), c.descriptor(), how);
  graph.run();
}

struct FoundTypes {
  TypesCase all;
  Bytes payload = 0;
  std::string thrown{};
};
FoundTypes on(const TypesCase& of, const CyclicMap* grid, const types_hidden& how) {
  FoundTypes out{of};
  out.all.a.numbers.assign(out.all.a.numbers.size(), 0);
  out.all.b.numbers.assign(out.all.b.numbers.size(), 0);
  out.all.c.numbers.assign(out.all.c.numbers.size(), 0);
  std::mutex mutex;
  const auto rank = [&](Runtime& runtime) {
    const Distribution distribution(grid == nullptr ? CyclicMap{1, 1} : *grid);
    const Distribution* const owners = grid == nullptr ? nullptr : &distribution;
    Dealt<double> a(runtime, of.a, of.tile, owners), b(runtime, of.b, of.tile, owners),
        c(runtime, of.c, of.tile, owners);
    run(runtime, a, b, c, how);
    const std::lock_guard guard(mutex);
    out.payload += runtime.statistics().network.payload_bytes;
    a.take(out.all.a);
    b.take(out.all.b);
    c.take(out.all.c);
  };
  const std::size_t ranks =
      grid == nullptr ? 1 : static_cast<std::size_t>(grid->rank_rows * grid->rank_columns);
  if (grid == nullptr) {
    try {
      Runtime runtime(config_of_types(of));
      rank(runtime);
    } catch (const Error& error) {
      out.thrown = error.what();
    }
    return out;
  }
  for (const std::string& text : tests::on_ranks(
           static_cast<std::uint32_t>(ranks), [&](std::uint32_t) { return config_of_types(of); }, rank))
    if (!text.empty()) out.thrown = text;
  return out;
}

/// The number of elements on the diagonal and on one side of it, in a square of n rows.
Bytes triangle(std::int64_t n) { return static_cast<Bytes>(n * (n + 1) / 2); }

TEST(CompiledJdfTypes, PartsAreSentAndWrittenBack) {
  for (const auto& [n, tile, memory] : {std::tuple<std::int64_t, std::int32_t, const char*>{96, 24, "16MiB"},
                                        {101, 24, "16MiB"},
                                        {101, 24, "256KiB"},
                                        {5, 8, "16MiB"},
                                        {41, 10, "256KiB"}})
    for (const Mine& part : mine) {
      const TypesCase of{n, tile, memory};
      TypesCase expected = of;
      expect(expected, part);
      std::vector<std::optional<CyclicMap>> grids{std::nullopt};
      for (const CyclicMap grid : {CyclicMap{1, 1}, CyclicMap{2, 1}, CyclicMap{4, 1}, CyclicMap{2, 2}})
        if (tests::many_cases() || grid.rank_rows * grid.rank_columns == 4) grids.emplace_back(grid);
      for (const auto& grid : grids) {
        SCOPED_TRACE(fmt::format("{} in tiles of {}, {} x {} ranks", n, tile, grid ? grid->rank_rows : 0,
                                 grid ? grid->rank_columns : 0));
        const FoundTypes found = on(of, grid ? &*grid : nullptr, with(part));
        ASSERT_EQ(found.thrown, "");
        EXPECT_TRUE(found.all.a.numbers == expected.a.numbers);
        EXPECT_TRUE(found.all.b.numbers == expected.b.numbers);
        EXPECT_TRUE(found.all.c.numbers == expected.c.numbers);
        if (!grid || grid->rank_rows != 4 || n / tile < 2) continue;
        // For each diagonal tile: two triangles are sent, one is written back; B's tile is sent and written
        // back. Local edges send nothing.
        Bytes elements = 0;
        const std::int64_t tiles = (n + tile - 1) / tile;
        for (std::int64_t k = 0; k < tiles; ++k) {
          const std::int64_t rows = std::min<std::int64_t>(tile, n - k * tile);
          const auto other = [&](std::int64_t at) { return at % tiles % 4 != k % 4; };
          if (other(k + 1)) elements += 2 * triangle(rows);
          if (other(k + 2)) elements += triangle(rows) + 2 * static_cast<Bytes>(rows * tile);
        }
        EXPECT_EQ(found.payload, elements * sizeof(double));
      }
    }
}

/// An undefined type: nothing is stored in a datum, since storing the whole tile would be wrong.
TEST(CompiledJdfTypes, AnUndefinedTypeCannotBeStored) {
  const TypesCase of{48, 12, "16MiB"};
  types_hidden how = with(mine[0]);
  how.type_MINE.reset();
  const CyclicMap grid{2, 1};
  for (const CyclicMap* const ranks : {static_cast<const CyclicMap*>(nullptr), &grid}) {
    const std::string said = on(of, ranks, how).thrown;
    EXPECT_NE(said.find("types.jdf:67:"), std::string::npos) << said;
    EXPECT_NE(said.find(".type_MINE"), std::string::npos) << said;
  }
  how = with(mine[0]);
  how.type_LOWER_TILE.reset();  // LOW changes a copy of that part
  for (const CyclicMap* const ranks : {static_cast<const CyclicMap*>(nullptr), &grid}) {
    const std::string said = on(of, ranks, how).thrown;
    EXPECT_NE(said.find("types.jdf:16:"), std::string::npos) << said;
    EXPECT_NE(said.find(".type_LOWER_TILE"), std::string::npos) << said;
  }
}

/// Tasks of other ranks receive the whole tile, which is correct as well.
TEST(CompiledJdfTypes, AnUndefinedTypeIsSentWhole) {
  const TypesCase of{48, 12, "16MiB"};
  types_hidden how = with(mine[0]);
  how.type_UPPER_TILE.reset();
  how.type_LOWER_TILE = Part();
  const CyclicMap grid{4, 1};
  const FoundTypes found = on(of, &grid, how);
  ASSERT_EQ(found.thrown, "");
  EXPECT_EQ(found.payload, 4 * 5 * 12 * 12 * sizeof(double));
}

}  // namespace
}  // namespace fairlead::compiled_jdf
