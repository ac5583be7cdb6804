// JDF files with interpreted bodies, in little memory and under every policy, compared with loops: chains
// with steps, broadcasts, gathers, temporaries, values stored in other data.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/tile_functions.hpp"
#include "at_length.hpp"
#include "base/random.hpp"
#include "front/jdf/lowered.hpp"
#include "front/jdf_graph/body_run.hpp"
#include "front/jdf_graph/codelets.hpp"
#include "sanitized.hpp"
#include "schedule/policies.hpp"

namespace fairlead::jdf::tests {
namespace {

constexpr std::int32_t side = 64;  // eight pages
constexpr std::size_t largest_task = 3 * 8;

/// A matrix whose tiles are multiples of one number each.
using Numbers = std::map<std::pair<std::int32_t, std::int32_t>, double>;

struct Sizes {
  std::int32_t rows = 4, columns = 3, length = 5, step = 1, limit = 2;
};

/// Each row c of A is a chain over k: X := 0.5 X + Y of its source. Results are stored in A and B; GATHER
/// sums the temporaries T of all tasks.
const char* const chains = R"(
descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
LEN   [ type = int ]
STEP  [ type = int ]
LIM   [ type = int ]

SOURCE(s)
s = 0 .. descA->nt-2
: descA(0, s+1)
READ Y <- descA(0, s+1)
       -> [ c = s .. descA->mt-1 .. descA->nt-1 ] Y CHAIN(c, 0 .. LEN .. STEP)
BODY
END

CHAIN(c, k)
c = descA->mt-1 .. 0 .. -1
k = 0 .. LEN .. STEP
end = (LEN / STEP) * STEP
: descA(c, 0)
RW X <- (k == 0) ? descA(c, 0) : X CHAIN(c, k - STEP)
     -> (k < end) ? X CHAIN(c, k + STEP) : descA(c, 0)
     -> (k == end) ? descB(c, 0)
READ Y <- Y SOURCE(c % (descA->nt-1))
WRITE T <- NEW
        -> (k <= LIM) ? V GATHER(c, k)
CTL done -> (k > LIM) ? done GATHER(c, 0)
; k + c
BODY
{
    tile_dlacpy('A', descA->mb, descA->nb, X, descA->mb, T, descA->mb);
    tile_dgeadd(descA->mb, descA->nb, 1.0, Y, descA->mb, 0.5, X, descA->mb);
}
END

GATHER(c, k)
c = 0 .. descA->mt-1
last = %{ int most = LIM < LEN ? LIM : LEN; return (most / STEP) * STEP; %}
k = 0 .. last .. STEP
: descB(c, 1)
READ V <- T CHAIN(c, k)
RW W <- (k == 0) ? descB(c, 1) : W GATHER(c, k - STEP)
     -> (k < last) ? W GATHER(c, k + STEP) : descB(c, 1)
CTL done <- [ j = (LIM / STEP + 1) * STEP .. LEN .. STEP ] (k == 0) ? done CHAIN(c, j)
BODY
    tile_dgeadd(descA->mb, descA->nb, 2.0, V, descA->mb, -1.0, W, descA->mb);
END
)";

/// The final numbers of A and B, by loops.
std::pair<Numbers, Numbers> expected(const Sizes& sizes, Numbers a, Numbers b) {
  for (std::int32_t c = 0; c < sizes.rows; ++c) {
    const double y = a[{0, 1 + c % (sizes.columns - 1)}];
    double& x = a[{c, 0}];
    double& w = b[{c, 1}];
    for (std::int32_t k = 0; k <= sizes.length; k += sizes.step) {
      if (k <= sizes.limit) w = 2 * x - w;
      x = 0.5 * x + y;
    }
    b[{c, 0}] = x;
  }
  return {a, b};
}

struct World {
  explicit World(const Config& config) : runtime(config), flow(runtime) {}
  Runtime runtime;
  fairlead::Flow flow;

  TiledMatrix<double> matrix(const char* name, std::int32_t rows, std::int32_t columns,
                             const Numbers& numbers) {
    auto tiles = runtime.tiled<double>(name, rows * side, columns * side, side);
    const auto fill = codelet("fill").cpu([](Out<fairlead::Tile<double>> tile, double number) {
      for (std::int32_t j = 0; j < tile.columns(); ++j)
        for (std::int32_t i = 0; i < tile.rows(); ++i) tile(i, j) = number;
    });
    for (const auto& [at, number] : numbers) flow.submit(fill(tiles(at.first, at.second), number));
    flow.wait();
    return tiles;
  }
  Numbers numbers_of(const TiledMatrix<double>& tiles) {
    Numbers out;
    std::mutex mutex;
    const auto look =
        codelet("look").cpu([&](In<fairlead::Tile<double>> tile, std::int32_t i, std::int32_t j) {
          bool same = true;
          for (std::int32_t column = 0; column < tile.columns(); ++column)
            for (std::int32_t row = 0; row < tile.rows(); ++row) same &= tile(row, column) == tile(0, 0);
          const std::lock_guard guard(mutex);
          out[{i, j}] = same ? tile(0, 0) : -1e300;
        });
    for (std::int32_t i = 0; i < tiles.tile_rows(); ++i)
      for (std::int32_t j = 0; j < tiles.tile_columns(); ++j) flow.submit(look(tiles(i, j), i, j));
    flow.wait();
    return out;
  }
};

Numbers some_numbers(std::int32_t rows, std::int32_t columns, Random& random) {
  Numbers out;
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t j = 0; j < columns; ++j) out[{i, j}] = static_cast<double>(random.between(-8, 8));
  return out;
}

void expect_right(const Sizes& sizes, const Config& config, std::uint64_t seed, bool looked_at) {
  ReadText it = read_text(chains, "chains.jdf");
  ASSERT_EQ(it.messages, "");
  Diagnostics diagnostics;
  const auto program =
      std::make_shared<RunnableJdf>(std::move(it.file), linalg::tile_functions(), diagnostics);
  ASSERT_EQ(diagnostics.errors(), 0U) << shown(diagnostics, program->file.source);
  program->settings.describe(
      fmt::format("descA={},{},{},{}", sizes.rows * side, sizes.columns * side, side, side));
  program->settings.describe(fmt::format("descB={},{},{},{}", sizes.rows * side, 2 * side, side, side));
  program->settings.set(fmt::format("LEN={}", sizes.length));
  program->settings.set(fmt::format("STEP={}", sizes.step));
  program->settings.set(fmt::format("LIM={}", sizes.limit));
  const unrolled::TaskGraph graph = unroll(program->file, program->settings).graph;
  ASSERT_EQ(unrolled::check(graph).findings.text(), "");
  KnownOutputs known = known_outputs(graph);
  EXPECT_EQ(known.copied.size(), 1U);
  if (!looked_at) known.all_receivers_exist = false;

  Random random(seed);
  const Numbers a = some_numbers(sizes.rows, sizes.columns, random), b = some_numbers(sizes.rows, 2, random);
  World world(config);
  const TiledMatrix<double> tiles_a = world.matrix("A", sizes.rows, sizes.columns, a),
                            tiles_b = world.matrix("B", sizes.rows, 2, b);
  {
    ptg::Graph running(world.runtime);
    std::vector<BoundData> data(program->file.globals.size());
    data[program->file.global_numbers.find("descA")].collection = running.data(tiles_a, "A").definition();
    data[program->file.global_numbers.find("descB")].collection = running.data(tiles_b, "B").definition();
    lower(program, data, known, builder_for(running, program, linalg::Kernels::load()));
    running.run();
  }
  const auto [after_a, after_b] = expected(sizes, a, b);
  EXPECT_EQ(world.numbers_of(tiles_a), after_a);
  EXPECT_EQ(world.numbers_of(tiles_b), after_b);
}

Config config_with(std::string_view scheduler, std::size_t pages) {
  Config config;
  config.set("workers", 2);
  config.set("bind-threads", false);
  config.set("memory", pages * 4096);
  if (!scheduler.empty()) config.set("scheduler", scheduler);
  return config;
}

}  // namespace

TEST(JdfRuns, ChainsUnderEveryPolicyAndMemorySize) {
  std::size_t turn = 0;
  for (const std::string_view scheduler : schedule::policy_names())
    for (const std::size_t pages : {largest_task, largest_task + 3, 2 * largest_task, 40 * largest_task}) {
      if (!::fairlead::tests::many_cases() && ++turn % 3 != 0)
        continue;  // each policy, and each memory with some
      SCOPED_TRACE(fmt::format("{} with {} pages", scheduler, pages));
      ASSERT_NO_FATAL_FAILURE(
          expect_right({}, config_with(scheduler, pages), pages, pages == largest_task + 3));
      if (HasFailure()) return;
    }
}

TEST(JdfRuns, ChainsOfAllSizes) {
  Random random(3);
  for (int i = 0; i < (::fairlead::tests::sanitized ? 10 : 60); ++i) {
    Sizes sizes;
    sizes.rows = static_cast<std::int32_t>(random.between(1, 6));
    sizes.columns = static_cast<std::int32_t>(random.between(2, 4));
    sizes.length = static_cast<std::int32_t>(random.between(0, 9));
    sizes.step = static_cast<std::int32_t>(random.between(1, 3));
    sizes.limit = static_cast<std::int32_t>(random.between(0, 9));
    SCOPED_TRACE(fmt::format("{} x {}, to {} by {}, gathered to {}", sizes.rows, sizes.columns, sizes.length,
                             sizes.step, sizes.limit));
    ASSERT_NO_FATAL_FAILURE(expect_right(sizes, config_with("", largest_task + random.below(100)),
                                         static_cast<std::uint64_t>(i), i % 2 == 0));
    if (HasFailure()) return;
  }
}

// Each body is parsed or reported as C, and counting its operations terminates.
TEST(JdfRuns, MutatedBodiesDoNotCrash) {
  const std::string whole = text_of(examples_folder() / "cholesky.jdf");
  const std::size_t begin = whole.find("BODY"), end = whole.rfind("END");
  static constexpr std::string_view pieces[] = {
      "{",   "}",        "if (",        ") ",  "else ",       "int x = ",  "return",
      ";",   "*INFO = ", "T",           "'L'", "tile_dgemm(", "descA->mb", "-",
      "/ 0", "(void)",   "double y = ", ",",   "%{",          "\"",        "'"};
  Random random(11);
  std::size_t sound = 0;
  for (int i = 0; i < (::fairlead::tests::sanitized ? 300 : 3000); ++i) {
    std::string text = whole;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::size_t at = begin + random.below(end - begin);
      const std::string_view piece = pieces[random.below(std::size(pieces))];
      random.once_in(2) ? text.insert(at, piece) : text.replace(at, random.below(8), piece);
    }
    Diagnostics diagnostics;
    JdfFile file = read(SourceFile("it.jdf", text), diagnostics);
    if (diagnostics.errors() != 0) continue;
    RunnableJdf program(std::move(file), linalg::tile_functions(), diagnostics);
    if (diagnostics.errors() != 0) {
      EXPECT_NE(shown(diagnostics, program.file.source).find("it.jdf:"), std::string::npos);
      continue;
    }
    ++sound;
    program.settings.describe("descA=100,100,40,40");
    const Constants constants = constants_of(program);
    for (std::uint32_t k = 0; k < program.file.classes.size(); ++k) {
      const std::size_t flows = program.file.classes[k].flows.size();
      const std::vector<fairlead::detail::TileArgument> tiles(flows, {nullptr, 40, 40, 40});
      const std::vector<TilePrecision> elements(flows, TilePrecision::double_);
      const std::vector<std::int64_t> parameters(program.file.classes[k].parameters.size(), 1);
      const auto cost_or_error = [&](const Constants& known) -> std::string {
        try {
          const BodyRun::OperationCount amount =
              BodyRun(program, known, k, parameters, tiles, elements).count_operations();
          return fmt::format("{} {}", amount.flops, amount.side);
        } catch (const Error& error) {
          return error.what();  // a division by zero, a letter that is none
        }
      };
      EXPECT_EQ(cost_or_error(constants), cost_or_error(Constants(program.file))) << text;
    }
  }
  EXPECT_GT(sound, ::fairlead::tests::sanitized ? 5U : 50U);
}

}  // namespace fairlead::jdf::tests
