// Graphs of random sequential programs are sound, and a planted mistake is found anywhere. Warshall's
// algorithm computes the transitive closure that predicts whether a control makes a cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "front/unrolled/check.hpp"

namespace fairlead::unrolled::tests {
namespace {

using Closure = std::vector<std::vector<bool>>;

/// Tasks in order; each reads or changes some of a few tiles. Flows 0 to 2 carry data, flow 3 controls.
struct RandomProgram {
  TaskGraph graph;
  Closure flows;  ///< which task comes before which by flows and what they overwrite
  Closure all;    ///< the same with those who overwrite what was in memory
};

constexpr std::uint16_t data_flows = 3, control_flow = 3;

EdgeEnd end_at(TaskGraph& graph, TaskId task, std::uint16_t flow, EdgeEnd::Kind kind, std::uint32_t of,
               std::uint16_t of_flow, std::int32_t number) {
  graph.numbers.push_back(number);
  return {.task = task,
          .flow = flow,
          .kind = kind,
          .of = of,
          .of_flow = of_flow,
          .count = 1,
          .first_number = static_cast<std::uint32_t>(graph.numbers.size() - 1)};
}

void close(Closure& it) {
  const std::size_t n = it.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (it[i][k] && it[k][j]) it[i][j] = true;
}

/// Each task has a class of its own, since there are many sets of accesses.
RandomProgram random_program(Random& random) {
  RandomProgram out;
  TaskGraph& graph = out.graph;
  graph.collections = {"A"};
  const auto tasks = static_cast<TaskId>(2 + random.below(14));
  const std::size_t tiles = 1 + random.below(5);
  out.flows.assign(tasks, std::vector<bool>(tasks));
  struct Tile {
    std::optional<std::pair<TaskId, std::uint16_t>> writer;
    std::vector<TaskId> readers;
  };
  std::vector<Tile> state(tiles);
  Closure memory = out.flows;
  for (TaskId task = 0; task < tasks; ++task) {
    Class& of = graph.classes.emplace_back();
    of.name = "T" + std::to_string(task);
    of.parameters = {"k"};
    graph.tasks.push_back({task, static_cast<std::uint32_t>(graph.numbers.size()), 0});
    graph.numbers.push_back(0);
    std::vector<std::size_t> used;
    for (std::uint16_t flow = 0; flow < data_flows; ++flow) {
      const std::size_t tile = random.below(tiles);
      const bool unused = std::ranges::find(used, tile) != used.end();
      const bool writes = random.once_in(2);
      of.flows.push_back({"X" + std::to_string(flow),
                          unused   ? FlowAccess::control
                          : writes ? FlowAccess::read_write
                                   : FlowAccess::read,
                          "it:1:1"});
      if (unused) continue;
      used.push_back(tile);
      Tile& at = state[tile];
      if (at.writer) {
        graph.inputs.push_back(
            end_at(graph, task, flow, EdgeEnd::Kind::task, at.writer->first, at.writer->second, 0));
        graph.outputs.push_back(
            end_at(graph, at.writer->first, at.writer->second, EdgeEnd::Kind::task, task, flow, 0));
        out.flows[at.writer->first][task] = true;
      } else {
        graph.inputs.push_back(
            end_at(graph, task, flow, EdgeEnd::Kind::memory, 0, 0, static_cast<std::int32_t>(tile)));
      }
      if (writes) {
        for (const TaskId reader : at.readers) (at.writer ? out.flows : memory)[reader][task] = true;
        at.readers.clear();
        at.writer = {task, flow};
      } else {
        at.readers.push_back(task);
      }
    }
    of.flows.push_back({"C", FlowAccess::control, "it:1:1"});
  }
  for (std::size_t tile = 0; tile < tiles; ++tile)
    if (state[tile].writer)
      graph.outputs.push_back(end_at(graph, state[tile].writer->first, state[tile].writer->second,
                                     EdgeEnd::Kind::memory, 0, 0, static_cast<std::int32_t>(tile)));
  out.all = out.flows;
  for (TaskId i = 0; i < tasks; ++i)
    for (TaskId j = 0; j < tasks; ++j)
      if (memory[i][j]) out.all[i][j] = true;
  close(out.flows);
  close(out.all);
  return out;
}

/// The index in `ends` of a random end that leads to a task, if any.
std::optional<std::size_t> any_to_task(const std::vector<EdgeEnd>& ends, Random& random) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < ends.size(); ++i)
    if (ends[i].kind == EdgeEnd::Kind::task) found.push_back(i);
  if (found.empty()) return std::nullopt;
  return found[random.below(found.size())];
}

}  // namespace

TEST(RandomGraphs, OfSequentialProgramsAreSound) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Random random(seed);
    const RandomProgram program = random_program(random);
    ASSERT_EQ(check(program.graph).findings.text(), "") << seed;
  }
}

TEST(RandomGraphs, AMissingEndOfAnEdgeIsFound) {
  std::size_t planted = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Random random(seed);
    TaskGraph graph = random_program(random).graph;
    const bool output = random.once_in(2);
    std::vector<EdgeEnd>& ends = output ? graph.outputs : graph.inputs;
    const std::optional<std::size_t> lost = any_to_task(ends, random);
    if (!lost) continue;
    ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(*lost));
    const Findings findings = check(graph).findings;
    ASSERT_EQ(findings.count_of(Kind::one_sided), 1U) << seed << "\n" << findings.text();
    ASSERT_EQ(findings.count_of(Kind::no_input), output ? 0U : 1U) << seed << "\n" << findings.text();
    ++planted;
  }
  EXPECT_GT(planted, 1'000U);
}

TEST(RandomGraphs, ACycleByAControlMatchesTheTransitiveClosure) {
  std::size_t cycles = 0, sound = 0;
  for (std::uint64_t seed = 1; seed <= (::fairlead::tests::many_cases() ? 4'000 : 2'000); ++seed) {
    Random random(seed);
    RandomProgram program = random_program(random);
    TaskGraph& graph = program.graph;
    const auto tasks = static_cast<TaskId>(graph.tasks.size());
    const auto first = static_cast<TaskId>(random.below(tasks)),
               second = static_cast<TaskId>(random.below(tasks));
    if (first == second) continue;
    graph.outputs.push_back(end_at(graph, first, control_flow, EdgeEnd::Kind::task, second, control_flow, 0));
    graph.inputs.push_back(end_at(graph, second, control_flow, EdgeEnd::Kind::task, first, control_flow, 0));
    const Findings findings = check(graph).findings;
    if (program.flows[second][first]) {
      ASSERT_EQ(findings.count_of(Kind::cycle), 1U) << seed << "\n" << findings.text();
      ++cycles;
    } else if (!program.all[second][first]) {
      ASSERT_EQ(findings.text(), "") << seed;
      ++sound;
    }  // else it reads what has been written back, or races with that
  }
  EXPECT_GT(cycles, 300U);
  EXPECT_GT(sound, 300U);
}

}  // namespace fairlead::unrolled::tests
