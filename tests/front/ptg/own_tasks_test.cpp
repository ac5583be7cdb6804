// The tasks of a rank, and those of them that receive a value: as found from the data of the rank, compared
// with a visit of all tasks.
#include "front/ptg/own_tasks.hpp"

#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <functional>
#include <set>
#include <tuple>

#include "front/ptg/own_steps.hpp"

namespace fairlead::ptg {
namespace {

using Name = std::pair<std::size_t, std::uint64_t>;  // class and task

/// The shape of a factorization, with classes placed by rows, by columns, at every second datum and at sums.
struct Shape {
  Runtime runtime;
  TiledMatrix<double> matrix;
  Graph graph{runtime};
  ClassTable table;

  static Config config() {
    Config config;
    config.set("workers", 1);
    config.set("memory", "64MiB");
    return config;
  }
  explicit Shape(const Distribution& distribution, std::int32_t nt = 9)
      : runtime(config()), matrix(runtime.tiled<double>("A", nt, nt, 1, distribution)) {
    const auto change = codelet("change").cpu([](InOut<Tile<double>>) {});
    const auto take = codelet("take").cpu([](In<Tile<double>>, InOut<Tile<double>>) {});
    const Index k("k"), m("m"), j("j");
    const Collection A = graph.data(matrix);
    auto diagonal = graph.task("diagonal", k.in(0, nt - 1));
    auto panel = graph.task("panel", k.in(0, nt - 2), m.in(k + 1, nt - 1));
    auto inner = graph.task("inner", k.in(0, nt - 2), m.in(k + 1, nt - 1), j.in(k + 1, nt - 1));
    auto strided = graph.task("strided", m.in(0, nt - 1, 2));
    auto summed = graph.task("summed", k.in(0, nt / 2 - 1), m.in(0, nt / 2));
    diagonal.runs(change, flow("T").from(A(k, k)).when(k == 0).from(inner["C"](k - 1, k, k))).at(A(k, k));
    panel
        .runs(take, flow("T").from(diagonal["T"](k)),
              flow("C").from(A(m, k)).when(k == 0).from(inner["C"](k - 1, m, k)))
        .at(A(m, k));
    inner
        .runs(take, flow("A").from(panel["C"](k, m)),
              flow("C").from(A(m, j)).when(k == 0).from(inner["C"](k - 1, m, j)))
        .at(A(m, j));
    strided
        .runs(take, flow("A").from(panel["C"](0, m)).when(m > 0).from(A(0, nt - 1)), flow("C").from(A(0, m)))
        .at(A(nt - 1 - m, m));
    summed.runs(take, flow("A").from(diagonal["T"](k)), flow("C").from(A(k, nt - 1))).at(A(k + m, k));
    table = make_class_table(graph.definitions(), true);
  }
};

std::set<Name> all_here(const ClassTable& table, const RankPlacement& placement) {
  std::set<Name> found;
  for (std::size_t i = 0; i < table.classes.size(); ++i) {
    const TableClass& of = table.classes[i];
    Numbers numbers{};
    Walk walk;
    for (bool more = walk.begin(of.loops, numbers.data()); more; more = walk.next(of.loops, numbers.data())) {
      if (!placement.is_here(of, numbers.data())) continue;
      std::array<std::int64_t, Walk::most_loops> parameters;
      for (std::size_t k = 0; k < of.parameters.size(); ++k) parameters[k] = numbers[of.parameters[k]];
      EXPECT_TRUE(found.insert({i, *of.key_of(parameters.data())}).second);
    }
  }
  return found;
}

std::set<Name> own(const ClassTable& table, const RankPlacement& placement) {
  OwnTasks tasks(table, placement);
  std::set<Name> found;
  const auto any = [](std::size_t) { return true; };
  const auto note = [&](std::size_t task_class, const std::int64_t* numbers) {
    const TableClass& of = table.classes[task_class];
    std::array<std::int64_t, Walk::most_loops> parameters;
    for (std::size_t k = 0; k < of.parameters.size(); ++k) parameters[k] = numbers[of.parameters[k]];
    EXPECT_TRUE(found.insert({task_class, *of.key_of(parameters.data())}).second);
    return true;
  };
  while (tasks.next(any, note)) {
  }
  EXPECT_EQ(tasks.count(), found.size());
  return found;
}

using Given = std::tuple<Name, std::size_t, std::size_t, Name>;  // giver, flow, edge, taker

/// `by_steps`: by the steps that notify receivers; otherwise by a visit of all receivers.
std::set<Given> given(const ClassTable& table, const RankPlacement& placement, bool by_steps) {
  const OwnSteps steps(table, placement);
  std::set<Given> found;
  for (std::size_t i = 0; i < table.classes.size(); ++i) {
    const TableClass& of = table.classes[i];
    Numbers numbers{};
    Walk tasks;
    for (bool more = tasks.begin(of.loops, numbers.data()); more;
         more = tasks.next(of.loops, numbers.data())) {
      std::array<std::int64_t, Walk::most_loops> parameters;
      for (std::size_t k = 0; k < of.parameters.size(); ++k) parameters[k] = numbers[of.parameters[k]];
      const Name giver{i, *of.key_of(parameters.data())};
      for (std::size_t flow = 0; flow < of.flows.size(); ++flow)
        for (std::size_t e = 0; e < of.flows[flow].edges.size(); ++e) {
          const ClassEdge& edge = of.flows[flow].edges[e];
          Numbers further = numbers;
          Walk walk;
          if (!edge.before(further.data())) continue;
          bool next = walk.begin(edge.loops, further.data());
          while (next) {
            std::int64_t off = 0;
            if (by_steps) {
              off = steps.steps_to_own(edge, walk, further.data());
            } else if (!edge.after.empty() && !edge.holds(further.data())) {
              off = 1;
            } else {
              edge.find_parameters(further.data(), parameters.data());
              off = *placement.rank_of_parameters(table.classes[edge.to_class], parameters.data()) !=
                    placement.own();
            }
            if (off != 0) {
              next = walk.skip(edge.loops, off, further.data());
              continue;
            }
            edge.find_parameters(further.data(), parameters.data());
            found.insert(
                {giver, flow, e, {edge.to_class, *table.classes[edge.to_class].key_of(parameters.data())}});
            next = walk.next(edge.loops, further.data());
          }
        }
    }
  }
  return found;
}

const std::vector<std::pair<const char*, Distribution>>& distributions() {
  static const std::vector<std::pair<const char*, Distribution>> all{
      {"one", Distribution::over(1)},
      {"2 x 3", Distribution::over(6)},
      {"3 x 1", Distribution(CyclicMap{.rank_rows = 3, .rank_columns = 1})},
      {"12 x 1", Distribution(CyclicMap{.rank_rows = 12, .rank_columns = 1})},
      {"blocks of rows", Distribution([](std::int32_t i, std::int32_t) { return i < 4 ? 0u : 1u; })},
      {"scattered", Distribution([](std::int32_t i, std::int32_t j) {
         return static_cast<std::uint32_t>((i * 7 + j * 5 + i * j) % 3);
       })}};
  return all;
}

TEST(OwnTasks, AreTheTasksOfThisRank) {
  for (const auto& [name, distribution] : distributions()) {
    const Shape shape(distribution);
    std::size_t all = 0;
    for (std::uint32_t rank = 0; rank < 12; ++rank) {
      const RankPlacement placement(shape.table, net::RankId{rank});
      const std::set<Name> expected = all_here(shape.table, placement);
      EXPECT_EQ(own(shape.table, placement), expected) << name << ", rank " << rank;
      all += expected.size();
    }
    std::size_t tasks = 0;
    for (const TableClass& of : shape.table.classes) tasks += of.count();
    EXPECT_EQ(all, tasks) << name;
  }
}

TEST(OwnTasks, AreFoundWithoutVisitingTasksOfOtherRanks) {
  const Shape shape(Distribution::over(6), 12);
  std::uint64_t looked_at = 0, tasks = 0;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    const RankPlacement placement(shape.table, net::RankId{rank});
    placement.count_in(&looked_at);
    tasks += OwnTasks(shape.table, placement).count();
  }
  // Only for the class placed at sums, the existence of the datum is unknown beforehand.
  EXPECT_LE(looked_at, tasks + 6 * 6 * 7);
}

TEST(OwnSteps, LeadToTheTasksOfThisRank) {
  for (const auto& [name, distribution] : distributions()) {
    const Shape shape(distribution);
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      const RankPlacement placement(shape.table, net::RankId{rank});
      EXPECT_EQ(given(shape.table, placement, true), given(shape.table, placement, false))
          << name << ", rank " << rank;
    }
  }
}

TEST(OwnSteps, SkipTasksOfOtherRanks) {
  const Shape shape(Distribution::over(9), 24);
  std::uint64_t by_steps = 0, one_by_one = 0, found = 0;
  for (std::uint32_t rank = 0; rank < 9; ++rank) {
    const RankPlacement placement(shape.table, net::RankId{rank});
    placement.count_in(&by_steps);
    found += given(shape.table, placement, true).size();
    placement.count_in(&one_by_one);
    static_cast<void>(given(shape.table, placement, false));
  }
  EXPECT_LT(by_steps, one_by_one * 2 / 3);  // a first look at each walk, on each rank
  EXPECT_GE(by_steps, found);
}

}  // namespace
}  // namespace fairlead::ptg
