// Random graphs with one planted mistake each, in JDF and in C++, on one to three ranks, with and without a
// check before the run: each run ends with correct values or with an error that states the line of the edge.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/linalg/tile_functions.hpp"
#include "at_length.hpp"
#include "base/random.hpp"
#include "front/jdf/lowered.hpp"
#include "front/jdf_graph/codelets.hpp"
#include "front/ptg/describe_stall.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::jdf::tests {
namespace {

enum class Mistake {
  none,
  surplus,
  surplus_control,
  missing,
  missing_control,
  shifted,
  twice,
  short_range,
  long_range,
  wrong_type
};
constexpr std::string_view mistakes[] = {
    "none",    "surplus edge", "surplus control", "missing edge", "missing control",
    "shifted", "stated twice", "short range",     "long range",   "wrong type"};

/// Rows of tasks step(i, k); each changes its row's value and reads a source(s). sink(i) runs after its whole
/// row, by a control, and reads the last value.
struct Planted {
  std::int32_t rows = 2, bits = 1;      // 1 << bits steps
  std::int32_t factor = 1, offset = 0;  // step(i, k) reads source((i + factor k + offset) % rows)
  Mistake mistake = Mistake::none;
  std::int32_t row = 0, step = 0;  // where it is planted
  bool in_cpp = false, looked_at = false;
  std::uint32_t ranks = 1;
  std::string_view scheduler = "lws";
  int bound = 0;  // how the last step is written

  std::int32_t steps() const { return 1 << bits; }
  std::string text() const {
    return fmt::format(
        "{} in {}, {} x {} steps, reads (i + {} k + {}), at {}, {}, {}, {} ranks, {}, bound {}",
        mistakes[static_cast<std::size_t>(mistake)], in_cpp ? "C++" : "JDF", rows, steps(), factor, offset,
        row, step, looked_at ? "looked at" : "not looked at", ranks, scheduler, bound);
  }
};

constexpr std::int32_t tile_side = 2;  // of a tile

struct Numbers3 {
  std::vector<double> a, b;  // by row
};
double first_a(std::int32_t i) { return 1.0 + i; }
double first_b(std::int32_t i) { return 10.0 - 3 * i; }
double source(std::int32_t i) { return 5.0 * i - 7; }

Numbers3 by_plain_loops(const Planted& of) {
  Numbers3 out;
  for (std::int32_t i = 0; i < of.rows; ++i) {
    double x = first_a(i);
    for (std::int32_t k = 0; k < of.steps(); ++k)
      x = 0.5 * x + source((i + of.factor * k + of.offset) % of.rows);
    out.a.push_back(x);
    out.b.push_back(2 * first_b(i) + x);
  }
  return out;
}

std::string jdf_of(const Planted& of) {
  static constexpr std::string_view bounds[] = {
      "(1 << E) - 1",       "((2 << E) - 1) >> 1", "(1 << E) ^ ((2 << E) - 1)",
      "((1 << E) - 1) | 0", "(L * 3) / 3 - 1",     "(L - 1) % (L + 1)"};
  const std::string last(bounds[static_cast<std::size_t>(of.bound)]);
  const auto is = [&](Mistake mistake) { return of.mistake == mistake; };
  const std::string here = fmt::format("(s == {} && k == {})", of.row, of.step);
  std::string out = R"(descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
descS [ type = "tiled_matrix *" ]
R [ type = int ]
L [ type = int ]
E [ type = int ]

SOURCE(s)
s = 0 .. R-1
: descS(s, 0)
READ Y <- descS(s, 0)
)";
  out += fmt::format("       -> [ k = 0 .. ({}){} ] {}Y STEP(((s - {} * k - {}{}) % R + R) % R, k){}\n", last,
                     is(Mistake::short_range)  ? " - 1"
                     : is(Mistake::long_range) ? " + 1"
                                               : "",
                     is(Mistake::missing) ? "!" + here + " ? " : "", of.factor, of.offset + 64 * of.rows,
                     is(Mistake::shifted) ? " + 1" : "", is(Mistake::wrong_type) ? " [ type = lower ]" : "");
  if (is(Mistake::surplus) || is(Mistake::twice)) {
    // One row beyond the correct one, or the same row.
    const int more = is(Mistake::surplus) ? 1 : 0;
    out += fmt::format("       -> (s == {0}) ? Y STEP(((s - {1} * {2} - {3} + {4}) % R + R) % R, {2})\n",
                       of.row, of.factor, of.step, of.offset + 64 * of.rows, more);
  }
  out += "BODY\nEND\n\n";
  out += fmt::format(R"(STEP(i, k)
i = 0 .. R-1
k = 0 .. {0}
: descA(i, 0)
RW   X <- (k == 0) ? descA(i, 0) : X STEP(i, k-1)
       -> (k < L-1) ? X STEP(i, k+1) : descA(i, 0)
       -> (k == L-1) ? V SINK(i)
READ Y <- Y SOURCE((i + {1} * k + {2}) % R){3}
)",
                     last, of.factor, of.offset, is(Mistake::wrong_type) ? " [ type = strictly_upper ]" : "");
  if (is(Mistake::missing_control))
    out += fmt::format("CTL go -> (i != {} || k != {}) ? go SINK(i)\n", of.row, of.step);
  else
    out += "CTL go -> go SINK(i)\n";
  if (is(Mistake::surplus_control))
    out += fmt::format("       -> (i == {} && k == {}) ? go SINK((i + 1) % R)\n", of.row, of.step);
  out += fmt::format(R"(BODY
  tile_dgeadd(descA->mb, descA->nb, 1.0, Y, descA->mb, 0.5, X, descA->mb);
END

SINK(i)
i = 0 .. R-1
: descB(i, 0)
READ V <- X STEP(i, L-1)
RW   W <- descB(i, 0)
       -> descB(i, 0)
CTL go <- go STEP(i, 0 .. {})
BODY
  tile_dgeadd(descB->mb, descB->nb, 1.0, V, descB->mb, 2.0, W, descB->mb);
END
)",
                     last);
  return out;
}

using Tiles = TiledMatrix<double>;
using DTile = fairlead::Tile<double>;

/// Positions in the JDF file, or in this file.
bool names_a_place(const std::string& text) {
  return text.find("it.jdf:") != std::string::npos ||
         text.find("planted_mistakes_test.cpp:") != std::string::npos;
}

void add_jdf(const Planted& of, const Tiles& a, const Tiles& b, const Tiles& s, ptg::Graph& graph) {
  ReadText it = read_text(jdf_of(of), "it.jdf");
  if (it.errors != 0) throw InputError(it.messages);
  Diagnostics diagnostics;
  const auto program =
      std::make_shared<RunnableJdf>(std::move(it.file), linalg::tile_functions(), diagnostics);
  if (diagnostics.errors() != 0) throw InputError(shown(diagnostics, program->file.source));
  for (const char* name : {"descA", "descB", "descS"})
    program->settings.describe(
        fmt::format("{}={},{},{},{}", name, of.rows * tile_side, tile_side, tile_side, tile_side));
  program->settings.set(fmt::format("R={}", of.rows));
  program->settings.set(fmt::format("L={}", of.steps()));
  program->settings.set(fmt::format("E={}", of.bits));
  bool too_large = false;
  if (of.looked_at) {
    std::optional<UnrolledGraph> unrolled;
    try {
      unrolled = unroll(program->file, program->settings, {.tasks = 100'000});
    } catch (const InputError&) {
      too_large = true;
    }
    if (unrolled) {
      const unrolled::CheckResult checked = unrolled::check(unrolled->graph);
      if (checked.findings.errors() != 0) throw InputError(checked.findings.text());
    }
  }
  std::vector<BoundData> data(program->file.globals.size());
  const auto bind = [&](const char* name, const Tiles& tiles) {
    data[program->file.global_numbers.find(name)].collection = graph.data(tiles, name).definition();
  };
  bind("descA", a);
  bind("descB", b);
  bind("descS", s);
  lower(program, data, {}, builder_for(graph, program, linalg::Kernels::load()));
  if (!too_large) return;
  const ptg::EdgeSample checked = ptg::sample_edges(ptg::make_class_table(graph.definitions()), 64);
  if (checked.errors != 0) throw InputError(checked.text);
}

ptg::Expression last_of(const Planted& of) {
  const ptg::Expression one = 1, bits = of.bits, steps = of.steps();
  switch (of.bound) {
    case 0:
      return (one << bits) - 1;
    case 1:
      return (((one + 1) << bits) - 1) >> 1;
    case 2:
      return (one << bits) ^ (((one + 1) << bits) - 1);
    case 3:
      return ((one << bits) - 1) | 0;
    case 4:
      return steps * 3 / 3 - 1;
    default:
      return ptg::computed("last", [](std::span<const std::int64_t> given) { return given[0] - 1; }, {steps});
  }
}

void add_cpp(const Planted& of, const Tiles& tiles_a, const Tiles& tiles_b, const Tiles& tiles_s,
             ptg::Graph& graph) {
  const auto is = [&](Mistake mistake) { return of.mistake == mistake; };
  const ptg::Index s("s"), i("i"), k("k");
  const auto A = graph.data(tiles_a, "A"), B = graph.data(tiles_b, "B"), S = graph.data(tiles_s, "S");
  const ptg::Expression rows = of.rows, last = last_of(of), zero = 0;
  const std::int64_t end = of.steps() - 1;
  const auto pass = codelet("pass").cpu([](In<DTile>) {});
  const auto add = codelet("add").cpu([](InOut<DTile> x, In<DTile> y) {
    for (std::int32_t at = 0; at < tile_side; ++at)
      for (std::int32_t row = 0; row < tile_side; ++row) x(row, at) = 0.5 * x(row, at) + y(row, at);
  });
  const auto other_add = codelet("add").cpu([](InOut<DTile>, In<fairlead::Tile<float>>) {});
  const auto finish = codelet("finish").cpu([](InOut<DTile> w, In<DTile> v) {
    for (std::int32_t at = 0; at < tile_side; ++at)
      for (std::int32_t row = 0; row < tile_side; ++row) w(row, at) = 2 * w(row, at) + v(row, at);
  });
  auto sources = graph.task("SOURCE", s.in(0, rows - 1));
  auto steps = graph.task("STEP", i.in(0, rows - 1), k.in(0, last));
  auto sinks = graph.task("SINK", i.in(0, rows - 1));
  const auto reader = [&](const ptg::Expression& at, int more) {
    return ((s - of.factor * at - (of.offset + 64 * of.rows) + more) % rows + rows) % rows;
  };
  const int shift = is(Mistake::short_range) ? -1 : is(Mistake::long_range) ? 1 : 0;
  auto y =
      ptg::flow("Y").from(S(s, 0)).to(steps["Y"](reader(k, is(Mistake::shifted)), k), k.in(0, last + shift));
  if (is(Mistake::missing)) y = std::move(y).when(s != of.row || k != of.step);
  if (is(Mistake::surplus) || is(Mistake::twice))
    y = std::move(y).to(steps["Y"](reader(of.step, is(Mistake::surplus)), of.step)).when(s == of.row);
  sources.at(S(s, 0)).runs(pass, std::move(y));
  auto go = ptg::control("go").to(sinks["go"](i));
  if (is(Mistake::missing_control)) go = std::move(go).when(i != of.row || k != of.step);
  if (is(Mistake::surplus_control))
    go = std::move(go).to(sinks["go"]((i + 1) % rows)).when(i == of.row && k == of.step);
  auto x = ptg::flow("X").from(A(i, 0)).when(k == 0).from(steps["X"](i, k - 1)).to(A(i, 0)).when(k == end);
  auto taken = ptg::flow("Y").from(sources["Y"]((i + of.factor * k + of.offset) % rows));
  steps.at(A(i, 0));
  if (is(Mistake::wrong_type))
    steps.runs(other_add, std::move(x), std::move(taken), std::move(go));
  else
    steps.runs(add, std::move(x), std::move(taken), std::move(go));
  sinks.at(B(i, 0)).runs(finish, ptg::flow("W").from(B(i, 0)), ptg::flow("V").from(steps["X"](i, end)),
                         ptg::control("go").from(steps["go"](i, k), k.in(0, last)));
  if (!of.looked_at) return;
  constexpr std::int64_t most_looked_at = 100'000;
  if (std::int64_t{of.rows} * of.steps() <= most_looked_at) {
    const ptg::Checked checked = graph.check();
    if (checked.errors != 0) throw InputError(checked.text);
  } else {
    const ptg::EdgeSample checked = ptg::sample_edges(ptg::make_class_table(graph.definitions()), 64);
    if (checked.errors != 0) throw InputError(checked.text);
  }
}

void run_on(Runtime& runtime, const Planted& of, const Distribution* distribution, Numbers3& after) {
  const auto matrix = [&](const char* name) {
    return distribution == nullptr
               ? runtime.tiled<double>(name, of.rows * tile_side, tile_side, tile_side)
               : runtime.tiled<double>(name, of.rows * tile_side, tile_side, tile_side, *distribution);
  };
  const Tiles a = matrix("A"), b = matrix("B"), s = matrix("S");
  fairlead::Flow flow(runtime);
  const auto each = [&](const Tiles& tiles, const auto& f) {
    for (std::int32_t i = 0; i < of.rows; ++i)
      if (const auto handle = tiles.here_or_not(i, 0); handle.datum().datum != nullptr) f(handle, i);
  };
  const auto fill = [&](const Tiles& tiles, double (*number)(std::int32_t)) {
    each(tiles, [&](const auto& handle, std::int32_t row) {
      auto hold = flow.acquire(write(handle));
      const auto tile = hold.template get<0>();
      for (std::int32_t j = 0; j < tile_side; ++j)
        for (std::int32_t i = 0; i < tile_side; ++i) tile(i, j) = number(row);
    });
  };
  fill(a, first_a);
  fill(b, first_b);
  fill(s, source);
  flow.wait();
  {
    ptg::Graph graph(runtime);
    of.in_cpp ? add_cpp(of, a, b, s, graph) : add_jdf(of, a, b, s, graph);
    graph.run();
  }
  const auto look = [&](const Tiles& tiles, std::vector<double>& into) {
    each(tiles, [&](const auto& handle, std::int32_t row) {
      auto hold = flow.acquire(read(handle));
      const auto tile = hold.template get<0>();
      into[static_cast<std::size_t>(row)] = tile(tile_side - 1, 0);
    });
  };
  look(a, after.a);
  look(b, after.b);
}

/// Whether the run ended with an error. Fails unless the run ends correctly in time.
bool run_and_judge(const Planted& of) {
  SCOPED_TRACE(of.text());
  // A hang ends the program. Processor time is measured, because the machine may be busy.
  constexpr unsigned hung_after_seconds = 300, most_seconds = 30;
  ::alarm(hung_after_seconds);
  const std::clock_t began = std::clock();
  Config config;
  config.set("workers", 2);
  config.set("bind-threads", false);
  config.set("memory", "4MiB");
  config.set("scheduler", of.scheduler);
  const auto size = static_cast<std::size_t>(of.rows);
  Numbers3 after{std::vector<double>(size), std::vector<double>(size)};
  std::vector<std::string> thrown(1);
  if (of.ranks == 1) {
    try {
      Runtime runtime(config);
      run_on(runtime, of, nullptr, after);
    } catch (const std::exception& error) {
      thrown[0] = error.what();
    }
  } else {
    const Distribution distribution(CyclicMap{static_cast<std::int32_t>(of.ranks), 1});
    thrown = fairlead::tests::on_ranks(
        of.ranks, [&](std::uint32_t) { return config; },
        [&](Runtime& runtime) { run_on(runtime, of, &distribution, after); });
  }
  ::alarm(0);
  EXPECT_LT((std::clock() - began) / CLOCKS_PER_SEC,
            ::fairlead::tests::sanitized ? 10 * most_seconds : most_seconds);
  bool failed = false, named = false;
  std::string all;
  for (const std::string& text : thrown) {
    failed |= !text.empty();
    named |= names_a_place(text);
    all += text + "\n";
  }
  if (failed) {
    EXPECT_TRUE(named) << all;
    EXPECT_NE(of.mistake, Mistake::none) << all;
    return true;
  }
  const Numbers3 expected = by_plain_loops(of);
  EXPECT_EQ(after.a, expected.a);
  EXPECT_EQ(after.b, expected.b);
  return false;
}

Planted drawn(std::uint64_t seed) {
  Random random(seed);
  static constexpr std::string_view schedulers[] = {"lws", "eager", "darts", "what-if"};
  Planted of;
  of.mistake = static_cast<Mistake>(seed % std::size(mistakes));
  of.rows = static_cast<std::int32_t>(random.between(2, 7));
  of.bits = static_cast<std::int32_t>(random.between(0, 5));
  of.factor = static_cast<std::int32_t>(random.between(0, 3));
  of.offset = static_cast<std::int32_t>(random.between(0, 5));
  of.in_cpp = random.once_in(2);
  of.looked_at = random.once_in(3);
  of.ranks = static_cast<std::uint32_t>(random.between(1, 3));
  of.scheduler = schedulers[random.below(std::size(schedulers))];
  of.bound = static_cast<int>(random.below(6));
  // Some are above the size limit for unrolling.
  constexpr std::uint64_t few = 40;
  if (random.once_in(few)) {
    of.rows = 7;
    of.bits = 14;
    of.scheduler = "lws";
  }
  of.row = static_cast<std::int32_t>(random.between(0, of.rows - 1));
  of.step = static_cast<std::int32_t>(random.between(0, of.steps() - 1));
  return of;
}

void run_drawn(std::uint64_t from, std::uint64_t to) {
  std::size_t errors = 0, right = 0;
  for (std::uint64_t seed = from; seed < to; ++seed) {
    const Planted of = drawn(seed);
    const bool error = run_and_judge(of);
    ++(error ? errors : right);
    // JDF, like PaRSEC, skips edges to missing tasks.
    const bool may_be_harmless =
        of.mistake == Mistake::none || (of.mistake == Mistake::long_range && !of.in_cpp);
    EXPECT_TRUE(error || may_be_harmless) << of.text();
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      break;
    }
  }
  testing::Test::RecordProperty("errors", static_cast<int>(errors));
  testing::Test::RecordProperty("right", static_cast<int>(right));
}

}  // namespace

TEST(PlantedMistakes, GiveCorrectValuesOrAnErrorThatNamesTheEdge) {
  run_drawn(0, ::fairlead::tests::at_length() ? 3000 : ::fairlead::tests::sanitized ? 20 : 60);
}

TEST(PlantedMistakes, InGraphsTooLargeToUnroll) {
  if (!::fairlead::tests::at_length()) GTEST_SKIP() << "each has 100,000 tasks: given --long";
  for (const bool in_cpp : {false, true})
    for (const Mistake mistake :
         {Mistake::none, Mistake::surplus, Mistake::surplus_control, Mistake::missing}) {
      if (::fairlead::tests::sanitized && mistake != Mistake::surplus) continue;
      Planted of;
      of.rows = 7;
      of.bits = 14;
      of.mistake = mistake;
      of.row = 3;
      of.step = 7'000;
      of.in_cpp = in_cpp;
      of.looked_at = true;
      EXPECT_EQ(run_and_judge(of), mistake != Mistake::none);
    }
}

}  // namespace fairlead::jdf::tests
