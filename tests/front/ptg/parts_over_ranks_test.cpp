// Transfers of parts of tiles between ranks: only the bytes of the part are sent, they arrive at the right
// place, and a write-back changes only its part. Compared with loops that use only the indices.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "at_length.hpp"
#include "front/ptg/parts.hpp"
#include "on_ranks.hpp"

namespace fairlead::over_ranks {
namespace {

using ptg::Part;

struct Named {
  const char* name;
  Part part;
  bool (*has)(std::int64_t i, std::int64_t j);
};
const Named parts[] = {
    {"all", {}, [](std::int64_t, std::int64_t) { return true; }},
    {"lower", Part::lower(), [](std::int64_t i, std::int64_t j) { return i >= j; }},
    {"strictly lower", Part::lower(false), [](std::int64_t i, std::int64_t j) { return i > j; }},
    {"upper", Part::upper(), [](std::int64_t i, std::int64_t j) { return i <= j; }},
    {"strictly upper", Part::upper(false), [](std::int64_t i, std::int64_t j) { return i < j; }},
    {"block", Part::block(2, 5, 1, 4),
     [](std::int64_t i, std::int64_t j) { return i >= 2 && i < 7 && j >= 1 && j < 5; }},
    {"every third column", Part::block(0, 1000, 1, 1000, 3),
     [](std::int64_t, std::int64_t j) { return j % 3 == 1; }}};
struct Size {
  std::int32_t rows, columns;
};
const Size sizes[] = {{40, 40}, {40, 17}, {9, 33}, {1, 1}, {2, 1}};

std::size_t elements_of(const Named& part, Size size) {
  std::size_t count = 0;
  for (int j = 0; j < size.columns; ++j)
    for (int i = 0; i < size.rows; ++i) count += part.has(i, j);
  return count == 0 ? static_cast<std::size_t>(size.rows) * static_cast<std::size_t>(size.columns) : count;
}

TEST(PartsOfTiles, HaveTheOffsetsOfTheirRowsAndColumns) {
  for (const Named& named : parts)
    for (const Size size : sizes) {
      const std::string what = fmt::format("{} of {} x {}", named.name, size.rows, size.columns);
      std::vector<char> is_in(static_cast<std::size_t>(size.rows * size.columns));
      std::size_t count = 0;
      for (int j = 0; j < size.columns; ++j) {
        const Part::Rows rows = named.part.rows_of(j, size.rows);
        for (int i = 0; i < size.rows; ++i)
          EXPECT_EQ(i >= rows.first && i < rows.end, named.has(i, j)) << what << ": " << i << ", " << j;
      }
      const net::ValueLayout layout = ptg::layout_within({size.rows, size.columns, 1}, named.part);
      if (layout.whole()) {
        EXPECT_EQ(elements_of(named, size), is_in.size()) << what;
        continue;
      }
      for (std::uint32_t piece = 0; piece < layout.pieces; ++piece)
        for (Bytes k = 0; k < layout.bytes_of(piece); ++k) is_in.at(layout.offset(piece) + k) = 1;
      for (int j = 0; j < size.columns; ++j)
        for (int i = 0; i < size.rows; ++i) {
          EXPECT_EQ(is_in[static_cast<std::size_t>(i + j * size.rows)] == 1, named.has(i, j)) << what;
          count += named.has(i, j);
        }
      EXPECT_EQ(layout.bytes(), count) << what;
    }
}

template <class E>
const auto& fill() {
  static const auto it = codelet("fill").cpu([](Out<Tile<E>> t) {
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < t.rows(); ++i) t(i, j) = static_cast<E>(1 + i + 100 * j);
  });
  return it;
}

struct Case {
  Bytes eager = 0;
  std::size_t tree = 0;
  Bytes memory = Bytes{4} << 20;
};

/// A tile of rank 0 goes to tasks of all ranks, which record the values that they receive.
template <class E>
void sends_parts(const Named& named, Size size, const Case& how) {
  constexpr std::uint32_t ranks = 4;
  const auto config_of = [&](std::uint32_t i) {
    Config config;
    config.set("workers", 1 + i % 2);
    config.set("memory", how.memory);
    config.set("bind-threads", false);
    config.set("eager-limit", how.eager);
    if (how.tree != 0) config.set("broadcast-tree", static_cast<std::uint64_t>(how.tree));
    return config;
  };
  const auto thrown = tests::on_ranks(ranks, config_of, [&](Runtime& runtime) {
    const Distribution by_rows(
        [](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row); });
    auto a =
        runtime.tiled<E>("A", ranks * size.rows, size.columns, TileSize{size.rows, size.columns}, by_rows);
    auto b =
        runtime.tiled<E>("B", ranks * size.rows, size.columns, TileSize{size.rows, size.columns}, by_rows);
    const auto keep = codelet("keep").cpu([](In<Tile<E>> from, Out<Tile<E>> to) {
      for (int j = 0; j < to.columns(); ++j)
        for (int i = 0; i < to.rows(); ++i) to(i, j) = from(i, j);
    });
    ptg::Graph graph(runtime);
    const ptg::Index r("r");
    const auto A = graph.data(a), B = graph.data(b);
    auto make = graph.task("make");
    auto take = graph.task("take", r.in(0, ranks - 1));
    make.runs(fill<E>(), ptg::flow("T").from(A(0, 0))).at(A(0, 0));
    take.runs(keep, ptg::flow("from").from(make["T"]()).part(named.part), ptg::flow("to").from(B(r, 0)))
        .at(B(r, 0));
    graph.run();
    Flow flow(runtime);
    const auto rank = static_cast<std::int32_t>(runtime.rank());
    {
      auto hold = flow.acquire(read(b(rank, 0)));
      const auto got = hold.template get<0>();
      const bool all =
          rank == 0 || elements_of(named, size) == static_cast<std::size_t>(size.rows * size.columns);
      for (int j = 0; j < size.columns; ++j)
        for (int i = 0; i < size.rows; ++i) {
          const auto sent = static_cast<E>(1 + i + 100 * j);
          ASSERT_EQ(got(i, j), all || named.has(i, j) ? sent : E(0)) << rank << ": " << i << ", " << j;
        }
    }
    flow.wait();
    const auto network = runtime.statistics().network;
    const std::size_t bytes = elements_of(named, size) * sizeof(E), sends = rank == 0 ? 3 : 0;
    if (how.tree == 0 && bytes > how.eager) {
      EXPECT_EQ(network.payload_bytes, sends * bytes);
      EXPECT_EQ(network.payloads, sends);
    }
  });
  for (const std::string& text : thrown)
    EXPECT_EQ(text, "") << named.name << ", " << size.rows << " x " << size.columns;
}

TEST(PartsOverRanks, OnlyTheirBytesAreSent) {
  // Threads and addresses are the same for every element type.
  const bool of_both_types = tests::many_cases();
  constexpr std::size_t one_in = tests::thread_sanitized ? 8 : 4;
  std::size_t turn = 0;
  for (const Named& named : parts)
    for (const Size size : sizes) {
      ++turn;  // each way of sending has both types
      for (const Case& how :
           {Case{}, Case{.eager = 1 << 20}, Case{.tree = 2}, Case{.eager = 1 << 20, .tree = 2}}) {
        ++turn;
        if (of_both_types || turn % one_in == 0) sends_parts<double>(named, size, how);
        if (of_both_types || turn % one_in == 1) sends_parts<float>(named, size, how);
      }
    }
}

/// Each rank receives the value once: the whole tile if its tasks use different parts, otherwise their part.
TEST(PartsOverRanks, DifferentPartsOfOneValue) {
  const std::int32_t n = 30;
  const auto config_of = [](std::uint32_t) {
    Config config;
    config.set("workers", 1);
    config.set("memory", Bytes{4} << 20);
    config.set("eager-limit", Bytes{0});
    return config;
  };
  const auto thrown = tests::on_ranks(4, config_of, [&](Runtime& runtime) {
    const Distribution by_rows(
        [](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row); });
    auto a = runtime.tiled<double>("A", 4 * n, n, n, by_rows);
    const auto add_lower = codelet("add lower").cpu([](In<Tile<double>> from, InOut<Tile<double>> to) {
      for (int j = 0; j < to.columns(); ++j)
        for (int i = j; i < to.rows(); ++i) to(i, j) += from(i, j);
    });
    const auto add_upper = codelet("add upper").cpu([](In<Tile<double>> from, InOut<Tile<double>> to) {
      for (int j = 0; j < to.columns(); ++j)
        for (int i = 0; i < j; ++i) to(i, j) += from(i, j);
    });
    ptg::Graph graph(runtime);
    const ptg::Index r("r");
    const auto A = graph.data(a);
    auto make = graph.task("make", r.in(0, 3));
    auto low = graph.task("low", r.in(1, 2));    // on ranks 1 and 2
    auto high = graph.task("high", r.in(2, 3));  // on ranks 2 and 3
    make.runs(fill<double>(), ptg::flow("T").from(A(r, 0))).at(A(r, 0));
    low.runs(add_lower, ptg::flow("from").from(make["T"](0)).part(Part::lower()),
             ptg::flow("to").from(make["T"](r)))
        .at(A(r, 0));
    high.runs(add_upper, ptg::flow("from").from(make["T"](0)).part(Part::upper(false)),
              ptg::flow("to").from(low["to"](r)).when(r == 2).from(make["T"](r)))
        .at(A(r, 0));
    graph.run();
    Flow flow(runtime);
    const auto rank = static_cast<std::int32_t>(runtime.rank());
    {
      auto hold = flow.acquire(read(a(rank, 0)));
      const auto got = hold.get<0>();
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          const bool twice = (i >= j && (rank == 1 || rank == 2)) || (i < j && (rank == 2 || rank == 3));
          ASSERT_EQ(got(i, j), (twice ? 2 : 1) * (1 + i + 100 * j)) << rank << ": " << i << ", " << j;
        }
    }
    flow.wait();
    if (rank == 0) {
      EXPECT_EQ(runtime.statistics().network.payloads, 3u);
      EXPECT_EQ(runtime.statistics().network.payload_bytes,
                static_cast<Bytes>(8 * (n * (n + 1) / 2 + n * n + n * (n - 1) / 2)));
    }
  });
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
}

/// The triangles of a tile go to two other ranks, change there one after the other, and are written back as
/// parts. The other elements of these tiles are undefined and must not be stored.
TEST(PartsOverRanks, AreWrittenBackAsParts) {
  for (const std::int32_t n : {1, 2, 31})
    for (const std::int32_t steps : {1, 7}) {
      const auto config_of = [](std::uint32_t i) {
        Config config;
        config.set("workers", 1 + i % 2);
        config.set("memory", Bytes{2} << 20);
        return config;
      };
      const auto thrown = tests::on_ranks(3, config_of, [&](Runtime& runtime) {
        const Distribution by_rows(
            [](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row); });
        auto a = runtime.tiled<double>("A", 3 * n, n, n, by_rows);
        const auto twice_lower = codelet("twice lower").cpu([](InOut<Tile<double>> t) {
          for (int j = 0; j < t.columns(); ++j)
            for (int i = j + 1; i < t.rows(); ++i) t(i, j) *= 2;
        });
        const auto thrice_upper = codelet("thrice upper").cpu([](InOut<Tile<double>> t) {
          for (int j = 0; j < t.columns(); ++j)
            for (int i = 0; i <= j; ++i) t(i, j) *= 3;
        });
        ptg::Graph graph(runtime);
        const ptg::Index k("k");
        const auto A = graph.data(a);
        auto make = graph.task("make");
        auto low = graph.task("low", k.in(1, steps)), high = graph.task("high", k.in(1, steps));
        make.runs(fill<double>(), ptg::flow("T").from(A(0, 0))).at(A(0, 0));
        low.runs(twice_lower, ptg::flow("T")
                                  .from(make["T"]())
                                  .part(Part::lower(false))
                                  .when(k == 1)
                                  .from(low["T"](k - 1))
                                  .part(Part::lower(false))
                                  .to(A(0, 0))
                                  .part(Part::lower(false))
                                  .when(k == steps))
            .at(A(1, 0));
        high.runs(thrice_upper, ptg::flow("T")
                                    .from(make["T"]())
                                    .part(Part::upper())
                                    .when(k == 1)
                                    .from(high["T"](k - 1))
                                    .part(Part::upper())
                                    .to(A(0, 0))
                                    .part(Part::upper())
                                    .when(k == steps))
            .at(A(2, 0));
        graph.run();
        Flow flow(runtime);
        if (runtime.rank() != 0) return;
        auto hold = flow.acquire(read(a(0, 0)));
        const auto got = hold.get<0>();
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i) {
            double expected = 1 + i + 100 * j;
            for (int s = 0; s < steps; ++s) expected *= i > j ? 2 : 3;
            ASSERT_EQ(got(i, j), expected) << i << ", " << j;
          }
      });
      for (const std::string& text : thrown) EXPECT_EQ(text, "") << n;
    }
}

using Positions = std::vector<std::pair<std::int32_t, std::int32_t>>;
Positions positions(const Named& part, Size size) {
  Positions out;
  for (std::int32_t j = 0; j < size.columns; ++j)
    for (std::int32_t i = 0; i < size.rows; ++i)
      if (part.has(i, j)) out.emplace_back(i, j);
  return out;
}

/// Tiles are sent as one part and taken as another, by readers and by tasks that change and write them back.
template <class E>
void recuts(const Named& given, const Named& taken, Size size, std::uint32_t ranks, Bytes memory) {
  constexpr std::int32_t tiles = 24;
  const Positions from = positions(given, size), to = positions(taken, size);
  ASSERT_EQ(from.size(), to.size());
  const auto config_of = [&](std::uint32_t i) {
    Config config;
    config.set("workers", 1 + i % 2);
    config.set("memory", memory);
    config.set("bind-threads", false);
    config.set("eager-limit", Bytes{0});
    return config;
  };
  std::atomic<Bytes> payload{0};
  const auto rank = [&](Runtime& runtime) {
    const Distribution of_a(
        [&](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row) % ranks; });
    const Distribution of_b(
        [&](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row + 1) % ranks; });
    const TileSize tile{size.rows, size.columns};
    const auto matrix = [&](const char* name, const Distribution& owners) {
      return ranks == 1 ? runtime.tiled<E>(name, tiles * size.rows, size.columns, tile)
                        : runtime.tiled<E>(name, tiles * size.rows, size.columns, tile, owners);
    };
    auto a = matrix("A", of_a), b = matrix("B", of_b);
    const auto make_tile = codelet("make").cpu([](Out<Tile<E>> t, int k) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = static_cast<E>(1 + i + 100 * j + 5000 * k);
    });
    const auto keep = codelet("keep").cpu([](In<Tile<E>> it, Out<Tile<E>> there) {
      for (int j = 0; j < there.columns(); ++j)
        for (int i = 0; i < there.rows(); ++i) there(i, j) = it(i, j);
    });
    const auto twice = codelet("twice").cpu([](InOut<Tile<E>> t) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) *= 2;
    });
    ptg::Graph graph(runtime);
    const ptg::Index k("k");
    const auto A = graph.data(a), B = graph.data(b, "B");
    auto make = graph.task("make", k.in(0, tiles - 1)), take = graph.task("take", k.in(0, tiles - 1)),
         change = graph.task("change", k.in(0, tiles - 1));
    make.runs(make_tile,
              ptg::flow("T")
                  .from(A(k, 0))
                  .to(take["from"](k))
                  .part(given.part)
                  .to(change["T"](k))
                  .part(given.part),
              k)
        .at(A(k, 0));
    take.runs(keep, ptg::flow("from").from(make["T"](k)).part(taken.part), ptg::flow("to").from(B(k, 0)))
        .at(B(k, 0));
    change.runs(twice, ptg::flow("T").from(make["T"](k)).part(taken.part).to(A(k, 0)).part(taken.part))
        .at(B(k, 0));
    if (ranks == 1) {
      EXPECT_EQ(graph.check().text, "");
    }
    graph.run();
    payload += runtime.statistics().network.payload_bytes;
    Flow flow(runtime);
    for (std::int32_t row = 0; row < tiles; ++row)
      for (const bool in_a : {true, false}) {
        const auto handle = (in_a ? a : b).here_or_not(row, 0);
        if (handle.datum().datum == nullptr) continue;
        auto hold = flow.acquire(read(handle));
        const auto got = hold.template get<0>();
        const auto made = [&](std::int32_t i, std::int32_t j) {
          return static_cast<E>(1 + i + 100 * j + 5000 * row);
        };
        std::vector<E> expected;
        for (std::int32_t j = 0; j < size.columns; ++j)
          for (std::int32_t i = 0; i < size.rows; ++i) expected.push_back(in_a ? made(i, j) : E(0));
        for (std::size_t n = 0; n < from.size(); ++n)
          expected[static_cast<std::size_t>(to[n].first + to[n].second * size.rows)] =
              static_cast<E>(in_a ? 2 : 1) * made(from[n].first, from[n].second);
        for (std::int32_t j = 0; j < size.columns; ++j)
          for (std::int32_t i = 0; i < size.rows; ++i)
            ASSERT_EQ(got(i, j), expected[static_cast<std::size_t>(i + j * size.rows)])
                << (in_a ? "A " : "B ") << row << ": " << i << ", " << j;
      }
    flow.wait();
  };
  const std::string what =
      fmt::format("{} as {} of {} x {} on {}", given.name, taken.name, size.rows, size.columns, ranks);
  SCOPED_TRACE(what);
  if (ranks == 1) {
    Runtime runtime(config_of(1));
    return rank(runtime);
  }
  for (const std::string& text : tests::on_ranks(ranks, config_of, rank)) EXPECT_EQ(text, "") << what;
  EXPECT_EQ(payload.load(), 2 * tiles * to.size() * sizeof(E)) << what;
}

TEST(PartsOverRanks, DifferentPartsAtTheEndsMoveElements) {
  const Named corner{"a corner", Part::block(0, 4, 0, 5),
                     [](std::int64_t i, std::int64_t j) { return i < 4 && j < 5; }};
  const Named columns{"11 columns", Part::block(0, 9, 20, 11),
                      [](std::int64_t, std::int64_t j) { return j >= 20 && j < 31; }};
  struct Pair {
    const Named& given;
    const Named& taken;
    Size size;
  };
  const bool of_both_types = tests::many_cases();
  constexpr std::size_t one_in = tests::thread_sanitized ? 8 : 4;
  std::size_t turn = 0;
  for (const Pair& it : {Pair{parts[1], parts[3], {40, 40}},
                         {parts[3], parts[1], {17, 17}},
                         {parts[2], parts[4], {40, 40}},
                         {parts[5], corner, {40, 40}},
                         {corner, parts[5], {9, 33}},
                         {parts[6], columns, {9, 33}}})
    for (const std::uint32_t ranks : {1u, 2u, 3u})
      for (const Bytes memory : {Bytes{192} << 10, Bytes{16} << 20}) {
        ++turn;
        if (of_both_types || turn % one_in == 0) recuts<double>(it.given, it.taken, it.size, ranks, memory);
        if (of_both_types || turn % one_in == 1) recuts<float>(it.given, it.taken, it.size, ranks, memory);
      }
}

/// The error of a graph whose edge has these parts at its ends.
std::string said(const Part& given, const Part& taken) {
  Config config;
  config.set("memory", Bytes{2} << 20);
  Runtime runtime(config);
  auto a = runtime.tiled<double>("A", 8, 8, 8);
  ptg::Graph graph(runtime);
  const auto A = graph.data(a);
  auto make = graph.task("make"), take = graph.task("take");
  const auto look = codelet("look").cpu([](In<Tile<double>>) {});
  make.runs(fill<double>(), ptg::flow("T").from(A(0, 0)).to(take["T"]()).part(given));
  take.runs(look, ptg::flow("T").from(make["T"]()).part(taken));
  try {
    graph.run();
  } catch (const Error& error) {
    return error.what();
  }
  return "it ran";
}

TEST(PartsOverRanks, EndsOfDifferentSizesAreRefused) {
  EXPECT_NE(said({}, Part::upper()).find("the ends use different parts"), std::string::npos);
  EXPECT_NE(said(Part::upper(), {}).find("the ends use different parts"), std::string::npos);
  EXPECT_NE(said(Part::lower(), Part::upper(false)).find("different numbers of elements"), std::string::npos);
  EXPECT_NE(said(Part::block(0, 2, 0, 2), Part::block(0, 2, 0, 3)).find("different numbers of elements"),
            std::string::npos);
  EXPECT_EQ(said(Part::block(0, 2, 0, 2), Part::block(3, 4, 7, 9)), "it ran");  // of 8 x 8: 4 x 1
  EXPECT_THROW(static_cast<void>(ptg::flow("T").part(Part::lower())), UsageError);
}

}  // namespace
}  // namespace fairlead::over_ranks
