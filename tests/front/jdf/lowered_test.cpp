// A JDF file lowered to a parameterized graph has the tasks, edges and priorities that the unroller finds:
// for the examples, each construct, and random files.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "front/jdf/lowered.hpp"
#include "sanitized.hpp"

namespace fairlead::jdf::tests {
namespace {

std::map<std::string, std::int32_t> priorities_of(const unrolled::TaskGraph& graph) {
  std::map<std::string, std::int32_t> out;
  for (unrolled::TaskId i = 0; i < graph.tasks.size(); ++i)
    out[unrolled::label(graph, i)] = graph.tasks[i].priority;
  return out;
}

void expect_same_graph(const std::shared_ptr<RunnableJdf>& program, const KnownOutputs& known = {}) {
  const unrolled::TaskGraph expected = unroll(program->file, program->settings).graph;
  const unrolled::TaskGraph found = lowered(program, known);
  ASSERT_EQ(task_names(found), task_names(expected));
  EXPECT_EQ(found.tasks.size(), expected.tasks.size());
  EXPECT_EQ(ends_of(found, false), ends_of(expected, false));
  EXPECT_EQ(ends_of(found, true), ends_of(expected, true));
  EXPECT_EQ(priorities_of(found), priorities_of(expected));
}

void expect_same_example(const char* name, Assignments assignments,
                         const std::vector<std::string>& matrices) {
  const auto program = program_of(text_of(examples_folder() / name), assignments, matrices);
  expect_same_graph(program);
  const KnownOutputs known = known_outputs(unroll(program->file, program->settings).graph);
  EXPECT_TRUE(known.all_receivers_exist);
  EXPECT_TRUE(known.copied.empty());
  expect_same_graph(program, known);
}

std::string tiles(const char* name, int mt, int nt) {
  return fmt::format("{}={},{},100,100", name, 100 * mt - 30, 100 * nt - 70);
}

}  // namespace

TEST(JdfLowered, ExamplesMatchTheUnroller) {
  for (int size = 1; size <= 8; ++size) {
    expect_same_example("cholesky.jdf", {}, {tiles("descA", size, size)});
    expect_same_example("lu.jdf", {}, {tiles("descA", size, size % 3 == 0 ? size + 2 : size)});
    expect_same_example("lu.jdf", {}, {tiles("descA", size % 3 == 1 ? size + 2 : size, size)});
    expect_same_example("gemm.jdf", {},
                        {tiles("descA", size, 3), tiles("descB", 3, 2), tiles("descC", size, 2)});
    const std::string nt = fmt::format("NT={}", size);
    expect_same_example("pingpong.jdf", {nt.c_str(), "rowRANK=0"}, {});
  }
}

TEST(JdfLowered, RangesOfAllKinds) {
  for (const char* range : {"0 .. N", "N .. 0", "0 .. N .. 2", "N .. 1 .. -1", "N .. 0 .. -3", "1 .. N .. S",
                            "N .. 0 .. -S", "0 .. -1", "2 .. 1 .. -2", "3", "N / 2 .. N"})
    for (const char* n : {"N=7", "N=4"})
      expect_same_graph(program_of(
          fmt::format("N [type = int]\nS [type = int]\nA [type = \"tiled_matrix *\"]\nT(k)\nk = {}\n"
                      ": A(k, 0)\nRW X <- A(k, 0)\n -> A(k, 0)\n; N - k\nBODY\nEND\n",
                      range),
          {n, "S=2"}));
}

TEST(JdfLowered, StepsThatFollowFromIndices) {
  expect_same_graph(
      program_of("N [type = int]\nA [type = \"tiled_matrix *\"]\nT(k, m, j)\nk = 1 .. N\nm = 0 .. N .. k\nj "
                 "= m .. 0 .. -k\n"
                 ": A(k, 0)\nRW X <- A(k * 100 + m, j)\n -> A(k * 100 + m, j)\nBODY\nEND\n",
                 {"N=5"}));
}

TEST(JdfLowered, ConstantParametersAndDerivedLocals) {
  expect_same_graph(program_of(
      "N [type = int]\nA [type = \"tiled_matrix *\"]\n"
      "T(k, m, last)\nk = 0 .. N\nhalf = %{ if (k % 2 == 0) return k / 2; else return -1; %}\nm = k * k\n"
      "last = half < 0 ? 3 : half .. 3\n: A(k, m)\n"
      "RW X <- A(m, last)\n -> (half >= 0) ? Y U(k, last)\n -> A(m, last)\nBODY\nEND\n"
      "U(a, b)\na = 0 .. N .. 2\nb = a / 2 .. 3\n: A(a, b)\nREAD Y <- X T(a, a * a, b)\nBODY\nEND\n",
      {"N=6"}));
}

TEST(JdfLowered, LocalIndicesOnBothSides) {
  const std::string text =
      "N [type = int]\nA [type = \"tiled_matrix *\"]\n"
      "FROM(k)\nk = 0 .. N\n: A(k, 0)\n"
      "RW X <- A(k, 0)\n -> [ i = 0 .. N .. 2 ] (i > k) ? Y TO(i, k)\n -> [ i = 0 .. k, j = i .. k ] Z TO(i, "
      "j)\n"
      "CTL C -> [ i = 0 .. k ] C GATHER(i)\nBODY\nEND\n"
      "TO(i, k)\ni = 0 .. N\nk = 0 .. N\n: A(i, k)\n"
      "READ Y <- [ j = 0 .. N ] ((j == k) && (i > k) && (i % 2 == 0)) ? X FROM(j)\n"
      "READ Z <- (k >= i) ? [ j = k .. k ] X FROM(j)\nBODY\nEND\n"
      "GATHER(i)\ni = 0 .. N\n: A(i, 0)\nCTL C <- [ k = i .. N ] C FROM(k)\nBODY\nEND\n";
  for (const char* n : {"N=0", "N=1", "N=5"}) expect_same_graph(program_of(text, {n}));
}

TEST(JdfLowered, ParametersGivenByLocalIndices) {
  const std::string text =
      "N [type = int]\nA [type = \"tiled_matrix *\"]\n"
      "T(k, m)\nk = [ i = 0 .. N ] i * i\nm = k .. k + 1\n: A(k, 0)\n"
      "RW X <- A(k, m)\n -> Y U(k)\n -> A(k, m)\nBODY\nEND\n"
      "U(k)\nk = 0 .. N * N + 2\n: A(k, 0)\nREAD Y <- ((k == 1) || (k == 4)) ? X T(k, k) : NULL\nBODY\nEND\n";
  for (const char* n : {"N=0", "N=2", "N=4"}) expect_same_graph(program_of(text, {n}));
}

TEST(JdfLowered, ArbitraryExpressionsAreComputed) {
  expect_same_graph(
      program_of("N [type = int]\nA [type = \"tiled_matrix *\"]\n"
                 "T(k, j)\nk = 0 .. N\nj = 0 .. (1 << k) - 1\nhalf = k * 0.5\n: A(k, 0)\n"
                 "RW X <- (k / 2.0 == half) ? A(k, j) : A(j, k)\n"
                 " -> A(k, (j + 0u) % 3u)\n; 2.5 * k\nBODY\nEND\n",
                 {"N=5"}));
}

TEST(JdfLowered, OutputsToMissingTasksAreDropped) {
  const auto program = program_of(
      "N [type = int]\nA [type = \"tiled_matrix *\"]\n"
      "T(k)\nk = 0 .. N .. 2\n: A(k, 0)\nRW X <- (k == 0) ? A(0, 0) : X T(k - 2)\n -> X T(k + 2)\n -> Y U(k "
      "- 1 .. k + 1)\n"
      "BODY\nEND\nU(k)\nk = 0 .. N .. 2\n: A(k, 0)\nREAD Y <- X T(k)\nBODY\nEND\n",
      {"N=6"});
  expect_same_graph(program);
  EXPECT_FALSE(known_outputs(unroll(program->file, program->settings).graph).all_receivers_exist);
}

// A separate task copies a value to another datum.
TEST(JdfLowered, ValuesAreCopiedToOtherPlaces) {
  const auto program = program_of(
      "N [type = int]\nA [type = \"tiled_matrix *\"]\nB [type = \"tiled_matrix *\"]\n"
      "T(k)\nk = 0 .. N\n: A(k, 0)\nRW X <- A(k, 0)\n -> (k > 1) ? B(k, 0)\n -> A(k, 0)\nRW Y <- NEW\n -> "
      "B(0, k + 1)\n"
      "BODY\nEND\n",
      {"N=4"});
  const KnownOutputs known = known_outputs(unroll(program->file, program->settings).graph);
  EXPECT_EQ(known.copied.size(), 2U);
  const unrolled::TaskGraph graph = lowered(program, known);
  std::set<std::string> names = task_names(unroll(program->file, program->settings).graph);
  for (int k = 0; k <= 4; ++k) {
    if (k > 1) names.insert(fmt::format("T.X to B({},0)", k));
    names.insert(fmt::format("T.Y to B({},0)", k));
  }
  EXPECT_EQ(task_names(graph), names);
  const Ends inputs = ends_of(graph, false);
  EXPECT_TRUE(inputs.contains({"from of T.X to B(3,0)", "X of T(3)"}));
  EXPECT_TRUE(inputs.contains({"into of T.X to B(3,0)", "B(3,0)"}));
  EXPECT_TRUE(inputs.contains({"into of T.Y to B(3,0)", "B(0,4)"}));
  EXPECT_EQ(unrolled::check(graph).findings.text(), "");
}

TEST(JdfLowered, PrioritiesInCAreOmitted) {
  expect_same_graph(
      program_of("A [type = \"tiled_matrix *\"]\nT(k)\nk = 0 .. 3\n: A(k, 0)\nRW X <- A(k, 0)\n; %{ return "
                 "f(k); %}\nBODY\nEND\n",
                 {}));
}

namespace {

/// Files whose two ends of an edge need not agree: each end is lowered separately.
class DrawnFile {
 public:
  explicit DrawnFile(std::uint64_t seed) : random_(seed) {
    text_ =
        "N [type = int]\nM [type = int hidden = on default = \"N / 2 + 1\"]\nA [type = \"tiled_matrix *\"]\n";
    const int classes = static_cast<int>(random_.between(1, 3));
    for (int i = 0; i < classes; ++i) parameters_.push_back(static_cast<int>(random_.between(1, 3)));
    for (int i = 0; i < classes; ++i) add_class(i);
  }
  const std::string& text() const { return text_; }

 private:
  std::string number() {
    return random_.once_in(4)   ? "N"
           : random_.once_in(5) ? "M"
           : random_.once_in(6) ? "A->mt"
                                : std::to_string(random_.between(-1, 3));
  }
  std::string value(const std::vector<std::string>& names, int depth = 0) {
    const auto deeper = [&] { return value(names, depth + 1); };
    if (depth > 2 || random_.once_in(2))
      return names.empty() || random_.once_in(3) ? number() : names[random_.below(names.size())];
    switch (random_.below(9)) {
      case 0:
        return fmt::format("({} * {})", deeper(), random_.between(-2, 2));
      case 1:
        return fmt::format("({} / {})", deeper(), random_.between(1, 3));
      case 2:
        return fmt::format("({} % {})", deeper(), random_.between(1, 4));
      case 3:
        return fmt::format("({} ? {} : {})", condition(names, depth + 1), deeper(), deeper());
      case 4:
        return fmt::format("dplasma_i{}({}, {})", random_.once_in(2) ? "min" : "max", deeper(), deeper());
      case 5:
        return fmt::format("%{{ int t = {}; if ({}) return t; return t + {}; %}}", plain(names),
                           condition(names, 3), plain(names));
      case 6:
        return fmt::format("({} - {})", deeper(), deeper());
      case 7:
        return fmt::format("(({}) & 7)", deeper());
      default:
        return fmt::format("({} + {})", deeper(), deeper());
    }
  }
  std::string plain(const std::vector<std::string>& names) { return value(names, 3); }
  std::string condition(const std::vector<std::string>& names, int depth = 0) {
    static constexpr const char* signs[] = {"==", "!=", "<", "<=", ">", ">="};
    const std::string it =
        fmt::format("{} {} {}", value(names, depth + 1), signs[random_.below(6)], value(names, depth + 1));
    if (depth > 1 || random_.once_in(2)) return it;
    if (random_.once_in(3)) return fmt::format("!({})", condition(names, depth + 1));
    return fmt::format("({}) {} ({})", it, random_.once_in(2) ? "&&" : "||", condition(names, depth + 1));
  }
  std::string range(const std::vector<std::string>& names) {
    const std::string first = value(names, 2),
                      last = fmt::format("{} + {}", value(names, 2), random_.between(0, 3));
    if (random_.once_in(4)) return fmt::format("{} .. {} .. {}", first, last, random_.between(1, 3));
    if (random_.once_in(5)) return fmt::format("{} .. {} .. -{}", last, first, random_.between(1, 3));
    return fmt::format("{} .. {}", first, last);
  }
  std::string arguments(int of, const std::vector<std::string>& names, bool ranges) {
    std::string out;
    for (int i = 0; i < parameters_[static_cast<std::size_t>(of)]; ++i)
      out += (i == 0 ? "" : ", ") + (ranges && random_.once_in(3) ? range(names) : value(names));
    return out;
  }
  std::string target(const char* flow, int of, const std::vector<std::string>& names, bool ranges) {
    return fmt::format("{} C{}({})", flow, of, arguments(of, names, ranges));
  }
  void dependency(const char* arrow, const char* flow, int of, const std::vector<std::string>& own,
                  bool ranges) {
    std::vector<std::string> names = own;
    std::string indices;
    if (ranges && random_.once_in(3)) {
      indices = fmt::format("[ i = {} ] ", range(names));
      names.push_back("i");
    }
    const std::string first = target(flow, of, names, ranges);
    if (random_.once_in(2))
      text_ += fmt::format("  {} {}({}) ? {}\n", arrow, indices, condition(names), first);
    else if (random_.once_in(2))
      text_ += fmt::format("  {} {}({}) ? {} : {}\n", arrow, indices, condition(names), first,
                           target(flow, of, names, ranges));
    else
      text_ += fmt::format("  {} {}{}\n", arrow, indices, first);
  }

  void add_class(int number_of_class) {
    const int count = parameters_[static_cast<std::size_t>(number_of_class)];
    std::vector<std::string> names;
    std::string list, definitions;
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("p{}", i);
      list += (i == 0 ? "" : ", ") + name;
      definitions += fmt::format("{} = {}\n", name, random_.once_in(6) ? value(names, 2) : range(names));
      names.push_back(name);
      if (random_.once_in(3)) {
        const std::string local = fmt::format("l{}", i);
        definitions += fmt::format("{} = {}\n", local, value(names));
        names.push_back(local);
      }
    }
    text_ += fmt::format("C{}({})\n{}: A(0, 0)\n", number_of_class, list, definitions);
    const int classes = static_cast<int>(parameters_.size());
    text_ += fmt::format("READ X <- ({}) ? A({}, {})\n", condition(names), value(names), value(names));
    for (int other = 0; other < classes; ++other) {
      dependency("<-", "X", other, names, false);
      dependency("->", "X", other, names, true);
    }
    text_ += fmt::format("  <- A({}, {})\n", value(names), value(names));
    text_ += fmt::format("  -> ({}) ? A({}, {})\nCTL Y\n", condition(names), value(names), value(names));
    for (int other = 0; other < classes; ++other) {
      dependency("<-", "Y", other, names, true);
      dependency("->", "Y", other, names, true);
    }
    text_ += fmt::format("; {}\nBODY\nEND\n", value(names));
  }

  Random random_;
  std::vector<int> parameters_;  // of each class, how many
  std::string text_;
};

}  // namespace

TEST(JdfLowered, RandomFilesMatchTheUnroller) {
  std::size_t tasks = 0, ends = 0;
  for (std::uint64_t seed = 1; seed <= (::fairlead::tests::many_cases() ? 1500 : 100); ++seed) {
    const DrawnFile drawn(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, drawn.text()));
    std::shared_ptr<RunnableJdf> program;
    ASSERT_NO_THROW(program = program_of(drawn.text(), {"N=3"}, {"A=200,200,100,100"}));
    ASSERT_NO_FATAL_FAILURE(expect_same_graph(program));
    ASSERT_FALSE(HasFailure());
    const unrolled::TaskGraph graph = lowered(program);
    tasks += graph.tasks.size();
    ends += graph.inputs.size() + graph.outputs.size();
  }
  EXPECT_GT(tasks, 1000U);
  EXPECT_GT(ends, 4000U);
}

}  // namespace fairlead::jdf::tests
