// Conditions that follow from others, and stated edges that are valid for every task: compared with an
// enumeration of all numbers and of every edge of every task.
#include "front/ptg/proven_edges.hpp"

#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "at_length.hpp"
#include "front/ptg/edge_ends.hpp"
#include "front/ptg/facts.hpp"

namespace fairlead::ptg {
namespace {

/// Draws ranges, conditions and graphs of two classes.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution(least, most)(random_);
  }
  bool one_in(std::int64_t many) { return number(1, many) == 1; }
  const Expression& one_of(const std::vector<Expression>& all) {
    return all[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(all.size()) - 1))];
  }
  Expression sum(const std::vector<Expression>& of) {
    if (of.empty() || one_in(4)) return number(-2, 5);
    Expression all = one_of(of) + number(-2, 2);
    if (one_in(5)) all = all + (one_in(2) ? 1 : -1) * one_of(of);
    return all;
  }
  Expression end(const std::vector<Expression>& of,
                 Expression (*several)(const Expression&, const Expression&)) {
    return one_in(3) ? several(sum(of), sum(of)) : sum(of);
  }
  Expression condition(const std::vector<Expression>& of, int depth = 2) {
    const std::int64_t kind = depth == 0 ? number(0, 4) : number(0, 8);
    switch (kind) {
      case 0:
        return sum(of) < sum(of);
      case 1:
        return sum(of) <= sum(of);
      case 2:
      case 3:
        return sum(of) == sum(of);
      case 4:
        return sum(of) != sum(of);
      case 5:
        return !condition(of, depth - 1);
      case 6:
        return condition(of, depth - 1) || condition(of, depth - 1);
      default:
        return condition(of, depth - 1) && condition(of, depth - 1);
    }
  }

 private:
  std::mt19937 random_;
};

Expression larger(const Expression& a, const Expression& b) { return max(a, b); }
Expression smaller(const Expression& a, const Expression& b) { return min(a, b); }

/// Calls f with the numbers of every task in the ranges.
template <class F>
void for_each_task(const std::vector<Range>& ranges, const Places& places, const F& f) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    Loop& loop = loops.emplace_back();
    loop.place = static_cast<std::uint8_t>(i);
    loop.first.push_back({Formula(ranges[i].first, places)});
    loop.last.push_back({Formula(ranges[i].last, places)});
  }
  Numbers numbers{};
  Walk walk;
  for (bool more = walk.begin(loops, numbers.data()); more; more = walk.next(loops, numbers.data()))
    f(numbers.data());
}

TEST(Facts, AreProvenOnlyIfTheyHoldForAllNumbers) {
  Draw draw(11);
  int proven = 0, holding = 0;
  for (int run = 0; run < (tests::many_cases() ? 20'000 : 2'000); ++run) {
    Places places;
    std::vector<Range> ranges;
    std::vector<Expression> indices;
    for (const char* name : {"i", "j", "k"}) {
      const Index index(name);
      ranges.push_back(index.in(draw.end(indices, larger), draw.end(indices, smaller)));
      places.add(index);
      indices.push_back(index);
    }
    Facts facts(ranges, places);
    std::vector<std::pair<Formula, bool>> known;
    for (std::int64_t i = draw.number(0, 2); i-- > 0;) {
      const Expression condition = draw.condition(indices);
      const bool holds = !draw.one_in(3);
      facts.add(condition, holds);
      known.emplace_back(Formula(condition, places), holds);
    }
    const Expression asked = draw.condition(indices), a = draw.sum(indices), b = draw.sum(indices);
    bool always = true, never = true, at_least = true, equal = true;
    for_each_task(ranges, places, [&](const std::int64_t* numbers) {
      for (const auto& [condition, holds] : known)
        if ((condition(numbers) != 0) != holds) return;
      (Formula(asked, places)(numbers) != 0 ? never : always) = false;
      const std::int64_t difference = Formula(a - b, places)(numbers);
      at_least &= difference >= 0;
      equal &= difference == 0;
    });
    ASSERT_LE(facts.proves(asked, true), always) << "run " << run;
    ASSERT_LE(facts.proves(asked, false), never) << "run " << run;
    ASSERT_LE(facts.at_least(a, b), at_least) << "run " << run;
    ASSERT_LE(facts.equal(a, b), equal) << "run " << run;
    proven += facts.proves(asked, true) + facts.proves(asked, false);
    holding += always + never;
  }
  EXPECT_GT(proven, holding / 2);  // else it would be of no use
}

/// Two classes of two indices each. The stated edge is the inverse of the receiver's, with a mistake in some
/// graphs.
void draw_graph(Draw& draw, const Collection& data, Graph& graph) {
  const auto read = codelet("read").cpu([](In<double>) {});
  const Index i("i"), j("j"), k("k"), l("l"), m("m");
  const std::int64_t n = draw.number(1, 6), a = draw.number(-1, 2), b = draw.number(-1, 2);
  const auto mistake = [&] { return draw.one_in(8) ? draw.number(-1, 1) : 0; };
  const bool triangle = draw.one_in(2), whole_row = draw.one_in(4);
  auto giver = graph.task("giver", i.in(0, n + mistake()), j.in(triangle ? Expression(i) : Expression(0), n));
  auto taker =
      graph.task("taker", k.in(a, n + a), l.in(triangle ? k - a + b : Expression(b), n + b + mistake()));
  if (whole_row) {
    giver.runs(read, flow("x")
                         .from(data())
                         .to(taker["y"](i + a, m), m.in((triangle ? Expression(i) : 0) + b, n + b))
                         .when(j == (triangle ? Expression(i) : Expression(0)) + mistake()));
    taker.runs(read, flow("y").from(giver["x"](k - a, triangle ? k - a : Expression(0))));
    return;
  }
  const Expression off = draw.number(0, 2), at_giver = draw.one_in(2) ? i > off + mistake() : !(i <= off),
                   at_taker = draw.one_in(2) ? k - a > off : k != a && k - a >= off + 1 && k - a > mistake();
  giver.runs(read, flow("x").from(data()).to(taker["y"](i + a + mistake(), j + b)).when(at_giver));
  if (draw.one_in(2))
    taker.runs(read, flow("y").from(giver["x"](k - a, l - b)).when(at_taker).from(data()));
  else
    taker.runs(read, flow("y").from(data()).when(!at_taker).from(giver["x"](k - a, l - b + mistake())));
}

/// The number of edges that are valid for every producer, and the number of these that are proven.
struct Counted {
  int right = 0, proven = 0;
};
void count_edges(const ClassTable& table, Counted& counted) {
  for (std::uint32_t number = 0; number < table.classes.size(); ++number) {
    const TableClass& of = table.classes[number];
    for (std::uint16_t flow = 0; flow < of.flows.size(); ++flow)
      for (const ClassEdge& edge : of.flows[flow].edges) {
        ASSERT_NE(edge.definition, nullptr);
        bool right = true, named = true;
        Numbers numbers{};
        Walk tasks, walk;
        for (bool more = tasks.begin(of.loops, numbers.data()); more;
             more = tasks.next(of.loops, numbers.data())) {
          if (!edge.before(numbers.data())) continue;
          std::array<std::int32_t, Walk::most_loops> own{};
          for (std::size_t i = 0; i < of.parameters.size(); ++i)
            own[i] = static_cast<std::int32_t>(numbers[of.parameters[i]]);
          for (bool on = walk.begin(edge.loops, numbers.data()); on;
               on = walk.next(edge.loops, numbers.data())) {
            if (!edge.holds(numbers.data())) continue;
            std::array<std::int64_t, Walk::most_loops> to{};
            edge.find_parameters(numbers.data(), to.data());
            right &= wrong_end(table, {number, flow, own.data()}, edge, to.data()).empty();
            const auto name = table.classes[edge.to_class].key_of(to.data());
            if (edge.key) named &= name && *name == static_cast<std::uint64_t>((*edge.key)(numbers.data()));
          }
        }
        if (edge.key) {
          EXPECT_TRUE(right) << "an invalid edge was considered proven";
          EXPECT_TRUE(named);
        }
        counted.right += right;
        counted.proven += edge.key.has_value();
      }
  }
}

TEST(ProvenEdges, AreValidForEveryTask) {
  Config config;
  config.set("workers", 1);
  config.set("memory", "64MiB");
  Runtime runtime(config);
  double value = 0;
  const auto handle = runtime.value("value", value);
  Counted counted;
  const int graphs = tests::many_cases() ? 5'000 : 500;
  for (int seed = 0; seed < graphs; ++seed) {
    Draw draw(static_cast<std::uint32_t>(seed));
    Graph graph(runtime);
    draw_graph(draw, graph.data(handle, "value"), graph);
    count_edges(make_class_table(graph.definitions()), counted);
    ASSERT_FALSE(HasFailure()) << "graph " << seed;
  }
  EXPECT_GT(counted.right, graphs / 3);
  EXPECT_LT(counted.right, graphs - graphs / 10);  // some have mistakes
  EXPECT_GT(counted.proven, counted.right * 3 / 4);
}

}  // namespace
}  // namespace fairlead::ptg
