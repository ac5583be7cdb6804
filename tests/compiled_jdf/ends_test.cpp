// Edges of compiled graphs whose ends have different parts, compared with loops that use only the indices.
// tests/python/test_jdf_over_ranks.py covers interpreted graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compiled_jdf/compiled.hpp"
#include "compiled_jdf/dealt.hpp"
#include "ends.hpp"
#include "on_ranks.hpp"

namespace fairlead::compiled_jdf {
namespace {

using ptg::Part;
using ::testing::HasSubstr;
using Element = std::pair<std::int64_t, std::int64_t>;

struct EndsCase {
  std::int64_t rows;
  std::int32_t tile;
  Part given, taken;
  bool (*gives)(std::int64_t i, std::int64_t j);
  bool (*takes)(std::int64_t i, std::int64_t j);
};

struct EndsMatrices {
  Plain<double> a, b;
};

/// In column-major order.
std::vector<Element> places(std::int64_t rows, std::int64_t columns,
                            bool (*has)(std::int64_t, std::int64_t)) {
  std::vector<Element> all;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      if (has(i, j)) all.emplace_back(i, j);
  return all;
}

EndsMatrices expected_of(const EndsCase& of, const EndsMatrices& before) {
  EndsMatrices out = before;
  for (std::int64_t row = 0; row < of.rows; row += of.tile) {
    const std::int64_t rows = std::min<std::int64_t>(of.tile, of.rows - row);
    const auto from = places(rows, of.tile, of.gives), to = places(rows, of.tile, of.takes);
    EXPECT_EQ(from.size(), to.size());
    for (std::size_t n = 0; n < to.size(); ++n) {
      const double moved = before.a(row + from[n].first, from[n].second);
      out.b(row + to[n].first, to[n].second) += moved;
      out.a(row + to[n].first, to[n].second) = 2 * moved;
    }
  }
  return out;
}

/// Runs on `ranks` ranks; returns the thrown message, or an empty string.
std::string run_ends(const EndsCase& of, const char* memory, std::int32_t ranks, EndsMatrices& matrices) {
  const auto config = [&](std::uint32_t) { return config_of_rank(memory); };
  const EndsMatrices before = matrices;
  std::mutex mutex;
  for (const std::string& error :
       tests::on_ranks(static_cast<std::uint32_t>(ranks), config, [&](Runtime& runtime) {
         const Distribution owners(CyclicMap{ranks, 1});
         Dealt<double> a(runtime, before.a, of.tile, &owners), b(runtime, before.b, of.tile, &owners);
         ptg::Graph graph(runtime);
         ends(graph, a.descriptor(), b.descriptor(), {.type_GIVEN = of.given, .type_TAKEN = of.taken});
         graph.run();
         const std::lock_guard guard(mutex);
         a.take(matrices.a);
         b.take(matrices.b);
       }))
    if (!error.empty()) return error;
  return {};
}

EndsMatrices matrices_of(const EndsCase& of) {
  return {random_matrix<double>(of.rows, of.tile, 1), random_matrix<double>(of.rows, of.tile, 2)};
}

TEST(CompiledJdfEnds, WithDifferentPartsMoveElements) {
  for (const EndsCase& of :
       {EndsCase{48, 12, Part::lower(), Part::upper(), [](auto i, auto j) { return i >= j; },
                 [](auto i, auto j) { return i <= j; }},
        EndsCase{48, 12, Part::upper(false), Part::lower(false), [](auto i, auto j) { return i < j; },
                 [](auto i, auto j) { return i > j; }},
        EndsCase{60, 20, Part::block(0, 1, 0, 20), Part::block(0, 20, 3, 1),
                 [](auto i, auto) { return i == 0; }, [](auto, auto j) { return j == 3; }},
        // The last tile has five rows.
        EndsCase{53, 24, Part::block(1, 2, 0, 6, 4), Part::block(3, 2, 12, 6),
                 [](auto i, auto j) { return (i == 1 || i == 2) && j % 4 == 0; },
                 [](auto i, auto j) { return (i == 3 || i == 4) && j >= 12 && j < 18; }}}) {
    const EndsMatrices before = matrices_of(of), expected = expected_of(of, before);
    for (const std::int32_t ranks : {1, 2, 3})
      for (const char* memory : {"256KiB", "16MiB"}) {
        SCOPED_TRACE(fmt::format("tiles of {}, {} ranks, {}", of.tile, ranks, memory));
        EndsMatrices found = before;
        ASSERT_EQ(run_ends(of, memory, ranks, found), "");
        EXPECT_TRUE(found.a.numbers == expected.a.numbers);
        EXPECT_TRUE(found.b.numbers == expected.b.numbers);
      }
  }
}

TEST(CompiledJdfEnds, WithDifferentSizesAreAnError) {
  EndsCase of{48, 12, Part::lower(), Part::upper(false), nullptr, nullptr};
  for (const std::int32_t ranks : {1, 2}) {
    EndsMatrices matrices = matrices_of(of);
    const std::string error = run_ends(of, "16MiB", ranks, matrices);
    EXPECT_THAT(error, HasSubstr("ends.jdf:13: T of GIVE gives to U of TAKE: of a tile of 12 x 12 elements"));
  }
}

}  // namespace
}  // namespace fairlead::compiled_jdf
