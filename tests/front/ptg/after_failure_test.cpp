// A runtime created after a failed run receives only its own values, none that were still in flight between
// the ranks. Ranks are threads here, or MPI processes; MPI keeps sent messages until they are received.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "on_ranks.hpp"

namespace fairlead::after_failure {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using Numbers = Tile<double>;
constexpr std::int64_t side = 24;

/// C(r) := 3 C(r) + A(k) for all k in order. A(k) is filled with first + k, so that values of another program
/// are noticed.
struct Program {
  std::int64_t tiles = 0;  // of A and of C, dealt out to the ranks in turn
  double first = 0;
  std::int64_t fails_at = -1;  // the number k of a task that throws; -1: none does
  double expected() const {
    double c = 0;
    for (std::int64_t k = 0; k < tiles; ++k) c = 3 * c + first + static_cast<double>(k);
    return c;
  }
};

/// Runs the graph and checks the tiles of this rank.
void run(Runtime& runtime, const Program& program) {
  const Distribution dealt([ranks = runtime.ranks()](std::int32_t at, std::int32_t) {
    return static_cast<std::uint32_t>(at) % ranks;
  });
  const auto tiles = [&](const char* name) {
    return runtime.tiled<double>(name, program.tiles * side, side, TileSize{side, side}, dealt);
  };
  const TiledMatrix<double> a = tiles("A"), c = tiles("C");
  Flow flow(runtime);
  for (std::int64_t i = runtime.rank(); i < program.tiles; i += runtime.ranks()) {
    auto hold = flow.acquire(write(c(i, 0)));
    for (std::int64_t j = 0; j < side; ++j) std::fill_n(&hold.get<0>()(0, j), side, 0.0);
  }
  flow.wait();
  ptg::Graph graph(runtime);
  const ptg::Index k("k"), r("r");
  const auto A = graph.data(a, "A"), C = graph.data(c, "C");
  auto makes = graph.task("make", k.in(0, program.tiles - 1));
  auto takes = graph.task("take", k.in(0, program.tiles - 1), r.in(0, program.tiles - 1));
  makes
      .runs(codelet("make").cpu([&program](Out<Numbers> to, std::int64_t number) {
        for (std::int64_t j = 0; j < side; ++j)
          for (std::int64_t i = 0; i < side; ++i) to(i, j) = program.first + static_cast<double>(number);
      }),
            ptg::flow("v").from(A(k, 0)), k)
      .at(A(k, 0));
  takes
      .runs(codelet("take").cpu([&program](In<Numbers> from, InOut<Numbers> to, std::int64_t number) {
        if (number == program.fails_at) throw Error("asked to fail");
        for (std::int64_t j = 0; j < side; ++j)
          for (std::int64_t i = 0; i < side; ++i) to(i, j) = 3 * to(i, j) + from(i, j);
      }),
            ptg::flow("from").from(makes["v"](k)),
            ptg::flow("to").from(C(r, 0)).when(k == 0).from(takes["to"](k - 1, r)), k)
      .at(C(r, 0));
  graph.run();
  for (std::int64_t i = runtime.rank(); i < program.tiles; i += runtime.ranks()) {
    const auto hold = flow.acquire(read(c(i, 0)));
    const In<Numbers> value = hold.get<0>();
    EXPECT_EQ(value(0, 0), program.expected()) << "C" << i;
    EXPECT_EQ(value(side - 1, side - 1), program.expected()) << "C" << i;
  }
}

}  // namespace

TEST(AfterFailure, ANewRuntimeReceivesOnlyItsOwnValues) {
  double first = 1;
  for (const std::uint32_t ranks : {2u, 3u})
    for (std::uint64_t seed = 1; seed <= (tests::many_cases()       ? 20
                                          : tests::thread_sanitized ? 4
                                                                    : 6);
         ++seed) {
      Random random(seed);
      const bool eager = random.once_in(3);
      const auto config_of = [&](std::uint32_t) {
        Config config;
        config.set("workers", 1);
        config.set("memory", Bytes{1} << 20);
        config.set("bind-threads", false);
        if (!eager) config.set("eager-limit", Bytes{0});
        return config;
      };
      SCOPED_TRACE(fmt::format("{} ranks, seed {}", ranks, seed));
      const std::int64_t tiles = 4 * ranks;
      const Program fails{tiles, first, random.between(0, tiles - 1)}, runs{tiles, first + 500};
      first += 1000;
      const auto thrown = tests::on_ranks(ranks, config_of, [&](Runtime& runtime) { run(runtime, fails); });
      EXPECT_THAT(thrown, Each(AnyOf("", HasSubstr("asked to fail"))));  // "": of other processes
      const auto then = tests::on_ranks(ranks, config_of, [&](Runtime& runtime) { run(runtime, runs); });
      EXPECT_THAT(then, Each(""));
    }
}

}  // namespace fairlead::after_failure
