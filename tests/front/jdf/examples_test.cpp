// The examples, unrolled for ten sizes each, compared with the tasks and edges that loops find.
#include <fairlead/incremental_lu.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "algorithms/linalg/incremental_lu_tasks.hpp"
#include "front/jdf/read.hpp"

namespace fairlead::jdf::tests {
namespace {

/// A sequential program: every task states what it reads and changes, in order; the edges follow.
class Sequence {
 public:
  void task(const std::string& name) {
    name_ = name;
    tasks_.insert(name);
  }
  void reads(const std::string& flow, const std::string& tile) {
    edges_.emplace(source(tile), flow + " of " + name_);
  }
  void changes(const std::string& flow, const std::string& tile) {
    reads(flow, tile);
    last_[tile] = flow + " of " + name_;
  }
  void makes(const std::string& flow, const std::string& tile) { last_[tile] = flow + " of " + name_; }
  /// The last access of a value: it is written back.
  void goes_home(const std::string& tile) { edges_.emplace(last_.at(tile), tile); }

  const std::set<std::string>& tasks() const { return tasks_; }
  const EdgeNames& edges() const { return edges_; }
  std::vector<std::string> tiles() const {
    std::vector<std::string> out;
    for (const auto& [tile, who] : last_) out.push_back(tile);
    return out;
  }

 private:
  std::string source(const std::string& tile) const {
    const auto found = last_.find(tile);
    return found == last_.end() ? tile : found->second;
  }
  std::string name_;
  std::set<std::string> tasks_;
  EdgeNames edges_;
  std::map<std::string, std::string> last_;
};

std::string tile(const char* matrix, int m, int n) { return fmt::format("{}({},{})", matrix, m, n); }

/// Both ends together state the edges of the sequence: consumers state reads, producers write-backs.
void expect_same(const unrolled::TaskGraph& graph, Sequence& sequence, bool home) {
  EdgeNames inputs, outputs;
  for (const auto& edge : sequence.edges()) {
    inputs.insert(edge);
    if (edge.first.find(" of ") != std::string::npos) outputs.insert(edge);
  }
  if (home) {
    Sequence last = sequence;
    for (const std::string& it : sequence.tiles()) last.goes_home(it);
    for (const auto& edge : last.edges())
      if (edge.second.find(" of ") == std::string::npos) outputs.insert(edge);
  }
  EXPECT_EQ(task_names(graph), sequence.tasks());
  EXPECT_EQ(edge_names(graph, false), inputs);
  EXPECT_EQ(edge_names(graph, true), outputs);
  EXPECT_EQ(unrolled::check(graph).findings.text(), "");
}

std::string task_of(const std::string& flow_of_task) {
  const auto at = flow_of_task.find(" of ");
  return at == std::string::npos ? "" : flow_of_task.substr(at + 4);
}

/// As in the flows and parameterized graphs of the library, so that policies treat all of them alike: a
/// task's priority is the number of tasks on the longest path from it to the end.
void expect_longest_way_first(const unrolled::TaskGraph& graph) {
  std::map<std::string, std::set<std::string>> next;
  for (const auto& [from, to] : edge_names(graph, false))
    if (!task_of(from).empty()) next[task_of(from)].insert(task_of(to));
  std::map<std::string, int> ways;
  const std::function<int(const std::string&)> way = [&](const std::string& task) {
    if (const auto known = ways.find(task); known != ways.end()) return known->second;
    int longest = 0;
    for (const std::string& other : next[task]) longest = std::max(longest, way(other));
    return ways[task] = longest + 1;
  };
  const int least = graph.tasks[0].priority - way(unrolled::label(graph, 0));
  for (unrolled::TaskId task = 0; task < graph.tasks.size(); ++task)
    EXPECT_EQ(graph.tasks[task].priority, way(unrolled::label(graph, task)) + least)
        << unrolled::label(graph, task);
}

unrolled::TaskGraph example(const char* name, Assignments assignments,
                            const std::vector<std::string>& matrices) {
  const ReadText it = read_text(text_of(examples_folder() / name), name);
  EXPECT_EQ(it.messages, "");
  Settings settings = settings_of(it.file, assignments);
  for (const std::string& matrix : matrices) settings.describe(matrix);
  return unroll(it.file, settings).graph;
}

std::string matrix(const char* name, int mt, int nt) {
  return fmt::format("{}={},{},100,100", name, 100 * mt - 30, 100 * nt - 70);
}

}  // namespace

TEST(JdfExamples, CholeskyMatchesLoops) {
  for (int nt = 1; nt <= 10; ++nt) {
    Sequence loops;
    const auto a = [](int m, int n) { return tile("descA", m, n); };
    for (int k = 0; k < nt; ++k) {
      loops.task(fmt::format("POTRF({})", k));
      loops.changes("T", a(k, k));
      for (int m = k + 1; m < nt; ++m) {
        loops.task(fmt::format("TRSM({},{})", m, k));
        loops.reads("T", a(k, k));
        loops.changes("C", a(m, k));
      }
      for (int m = k + 1; m < nt; ++m) {
        loops.task(fmt::format("SYRK({},{})", k, m));
        loops.reads("A", a(m, k));
        loops.changes("T", a(m, m));
        for (int n = k + 1; n < m; ++n) {
          loops.task(fmt::format("GEMM({},{},{})", m, n, k));
          loops.reads("A", a(m, k));
          loops.reads("B", a(n, k));
          loops.changes("C", a(m, n));
        }
      }
    }
    const unrolled::TaskGraph graph = example("cholesky.jdf", {}, {matrix("descA", nt, nt)});
    expect_same(graph, loops, true);
    expect_longest_way_first(graph);
  }
}

TEST(JdfExamples, LuMatchesLoops) {
  for (int size = 1; size <= 10; ++size) {
    const int mt = size % 3 == 1 ? size + 2 : size, nt = size % 3 == 2 ? size + 3 : size,
              steps = std::min(mt, nt);
    Sequence loops;
    const auto a = [](int m, int n) { return tile("descA", m, n); };
    for (int k = 0; k < steps; ++k) {
      loops.task(fmt::format("GETRF({})", k));
      loops.changes("A", a(k, k));
      for (int n = k + 1; n < nt; ++n) {
        loops.task(fmt::format("TRSM_U({},{})", k, n));
        loops.reads("L", a(k, k));
        loops.changes("C", a(k, n));
      }
      for (int m = k + 1; m < mt; ++m) {
        loops.task(fmt::format("TRSM_L({},{})", m, k));
        loops.reads("U", a(k, k));
        loops.changes("C", a(m, k));
      }
      for (int m = k + 1; m < mt; ++m)
        for (int n = k + 1; n < nt; ++n) {
          loops.task(fmt::format("GEMM({},{},{})", m, n, k));
          loops.reads("A", a(m, k));
          loops.reads("B", a(k, n));
          loops.changes("C", a(m, n));
        }
    }
    const unrolled::TaskGraph graph = example("lu.jdf", {}, {matrix("descA", mt, nt)});
    expect_same(graph, loops, true);
    if (mt == nt) expect_longest_way_first(graph);
  }
}

TEST(JdfExamples, QrMatchesLoops) {
  for (int size = 1; size <= 10; ++size) {
    const int mt = size % 3 == 1 ? size + 2 : size, nt = size % 3 == 2 ? size + 3 : size;
    Sequence loops;
    const auto a = [](int m, int n) { return tile("descA", m, n); };
    const auto t = [](int m, int n) { return tile("descT", m, n); };
    for (int k = 0; k < std::min(mt, nt); ++k) {
      loops.task(fmt::format("GEQRT({})", k));
      loops.changes("A", a(k, k));
      loops.changes("T", t(k, k));
      for (int n = k + 1; n < nt; ++n) {
        loops.task(fmt::format("UNMQR({},{})", k, n));
        loops.reads("V", a(k, k));
        loops.reads("T", t(k, k));
        loops.changes("C", a(k, n));
      }
      for (int m = k + 1; m < mt; ++m) {
        loops.task(fmt::format("TSQRT({},{})", m, k));
        loops.changes("A1", a(k, k));
        loops.changes("A2", a(m, k));
        loops.changes("T", t(m, k));
        for (int n = k + 1; n < nt; ++n) {
          loops.task(fmt::format("TSMQR({},{},{})", m, n, k));
          loops.changes("A1", a(k, n));
          loops.changes("A2", a(m, n));
          loops.reads("V", a(m, k));
          loops.reads("T", t(m, k));
        }
      }
    }
    const std::string of_t = fmt::format("descT={},{},8,100", 8 * mt, 100 * nt - 70);
    expect_same(example("qr.jdf", {}, {matrix("descA", mt, nt), of_t}), loops, true);
  }
}

/// The tasks of a flow, by the loop that submits them.
struct PairwiseLoops {
  Sequence& loops;
  static std::string a(int m, int n) { return tile("descA", m, n); }

  void getrf(int k, int) {
    loops.task(fmt::format("GETRF({})", k));
    loops.changes("A", a(k, k));
    loops.makes("L", tile("descD", k, 0));
    loops.makes("P", tile("IPIV", k, k));
  }
  void gessm(int k, int n, int) {
    loops.task(fmt::format("GESSM({},{})", k, n));
    loops.reads("L", tile("descD", k, 0));
    loops.reads("P", tile("IPIV", k, k));
    loops.changes("C", a(k, n));
  }
  void tstrf(int m, int k, int) {
    loops.task(fmt::format("TSTRF({},{})", m, k));
    loops.changes("U", a(k, k));
    loops.changes("A", a(m, k));
    loops.makes("L", tile("descL", m, k));
    loops.makes("P", tile("IPIV", m, k));
  }
  void ssssm(int m, int n, int k, int) {
    loops.task(fmt::format("SSSSM({},{},{})", m, n, k));
    loops.reads("A", a(m, k));
    loops.reads("L", tile("descL", m, k));
    loops.reads("P", tile("IPIV", m, k));
    loops.changes("A1", a(k, n));
    loops.changes("A2", a(m, n));
  }
};

TEST(JdfExamples, LuWithIncrementalPivotingMatchesTheFlow) {
  for (int nt = 1; nt <= 10; ++nt) {
    Sequence loops;
    linalg::for_each_incremental_lu_task(nt, PairwiseLoops{loops});
    EXPECT_EQ(loops.tasks().size(), linalg::lu_incremental_tasks(nt));
    const int n = 100 * nt - 30;
    expect_same(
        example("lu-incremental.jdf", {},
                {fmt::format("descA={0},{0},100,100", n), fmt::format("descD={},100,100,100", n),
                 fmt::format("descL={},{},8,100", 8 * nt, n), fmt::format("IPIV={},{},1,100", nt, n)}),
        loops, true);
  }
}

TEST(JdfExamples, TrsmMatchesLoops) {
  for (int mt = 1; mt <= 10; ++mt) {
    const int nt = 1 + mt % 4;
    Sequence loops;
    for (int k = 0; k < mt; ++k)
      for (int n = 0; n < nt; ++n) {
        loops.task(fmt::format("TRSM({},{})", k, n));
        loops.changes("B", tile("descB", k, n));
        for (int m = k + 1; m < mt; ++m) {
          loops.task(fmt::format("GEMM({},{},{})", m, n, k));
          loops.reads("X", tile("descB", k, n));
          loops.changes("C", tile("descB", m, n));
        }
      }
    Sequence last = loops;
    for (const std::string& it : loops.tiles()) last.goes_home(it);
    EdgeNames inputs = loops.edges(), outputs;
    for (const auto& edge : last.edges())
      if (!task_of(edge.first).empty()) outputs.insert(edge);
    // Tasks that forward tiles of A provide them.
    std::set<std::string> names = loops.tasks();
    for (int k = 0; k < mt; ++k)
      for (int m = k; m < mt; ++m) {
        names.insert(fmt::format("READ_A({},{})", m, k));
        inputs.emplace(tile("descA", m, k), fmt::format("A of READ_A({},{})", m, k));
        for (int n = 0; n < nt; ++n) {
          const std::pair between{
              fmt::format("A of READ_A({},{})", m, k),
              m == k ? fmt::format("L of TRSM({},{})", k, n) : fmt::format("A of GEMM({},{},{})", m, n, k)};
          inputs.insert(between);
          outputs.insert(between);
        }
      }
    const auto graph = example("trsm.jdf", {}, {matrix("descA", mt, mt), matrix("descB", mt, nt)});
    EXPECT_EQ(task_names(graph), names);
    EXPECT_EQ(edge_names(graph, false), inputs);
    EXPECT_EQ(edge_names(graph, true), outputs);
    EXPECT_EQ(unrolled::check(graph).findings.text(), "");
  }
}

TEST(JdfExamples, GemmMatchesLoops) {
  for (int size = 1; size <= 10; ++size) {
    const int mt = size, nt = 1 + size / 2, kt = 11 - size;
    Sequence loops;
    for (int k = 0; k < kt; ++k) {
      for (int m = 0; m < mt; ++m) {
        loops.task(fmt::format("READ_A({},{})", m, k));
        loops.reads("A", tile("descA", m, k));
      }
      for (int n = 0; n < nt; ++n) {
        loops.task(fmt::format("READ_B({},{})", k, n));
        loops.reads("B", tile("descB", k, n));
      }
    }
    std::set<std::string> names = loops.tasks();
    EdgeNames expected_inputs = loops.edges(), expected_outputs;
    for (int m = 0; m < mt; ++m)
      for (int n = 0; n < nt; ++n)
        for (int k = 0; k < kt; ++k) {
          const std::string name = fmt::format("GEMM({},{},{})", m, n, k);
          names.insert(name);
          const EdgeNames between{{fmt::format("A of READ_A({},{})", m, k), "A of " + name},
                                  {fmt::format("B of READ_B({},{})", k, n), "B of " + name}};
          expected_inputs.insert(between.begin(), between.end());
          expected_outputs.insert(between.begin(), between.end());
          const std::string before = fmt::format("C of GEMM({},{},{})", m, n, k - 1);
          expected_inputs.emplace(k == 0 ? tile("descC", m, n) : before, "C of " + name);
          if (k > 0) expected_outputs.emplace(before, "C of " + name);
          if (k == kt - 1) expected_outputs.emplace("C of " + name, tile("descC", m, n));
        }
    const auto graph =
        example("gemm.jdf", {}, {matrix("descA", mt, kt), matrix("descB", kt, nt), matrix("descC", mt, nt)});
    EXPECT_EQ(task_names(graph), names);
    EXPECT_EQ(edge_names(graph, false), expected_inputs);
    EXPECT_EQ(edge_names(graph, true), expected_outputs);
    EXPECT_EQ(unrolled::check(graph).findings.text(), "");
  }
}

TEST(JdfExamples, PingPongMatchesThePaper) {
  for (int nt = 1; nt <= 10; ++nt) {
    const std::string set = fmt::format("NT={}", nt);
    const auto graph = example("pingpong.jdf", {set.c_str(), "rowRANK=0"}, {});
    std::set<std::string> names;
    EdgeNames inputs{{"A(0)", "T of PING(0)"}}, outputs{{fmt::format("T of PING({})", nt), "A(0)"}};
    for (int k = 0; k <= nt; ++k) {
      names.insert(fmt::format("PING({})", k));
      if (k == nt) break;
      names.insert(fmt::format("PONG({})", k));
      const EdgeNames both{{fmt::format("T of PING({})", k), fmt::format("I of PONG({})", k)},
                           {fmt::format("I of PONG({})", k), fmt::format("T of PING({})", k + 1)}};
      inputs.insert(both.begin(), both.end());
      outputs.insert(both.begin(), both.end());
    }
    EXPECT_EQ(task_names(graph), names);  // 2 NT + 1 of them
    EXPECT_EQ(edge_names(graph, false), inputs);
    EXPECT_EQ(edge_names(graph, true), outputs);
    EXPECT_EQ(unrolled::check(graph).findings.text(), "");
  }
}

// Worked out by hand: 4 POTRF, 6 TRSM, 6 SYRK, 4 GEMM.
TEST(JdfExamples, CholeskyOfFourTilesHasTwentyTasks) {
  const auto graph = example("cholesky.jdf", {}, {"descA=400,400,100,100"});
  std::map<std::string, int> counted;
  for (const unrolled::Task& task : graph.tasks) ++counted[graph.classes[task.of].name];
  EXPECT_EQ(counted, (std::map<std::string, int>{{"POTRF", 4}, {"TRSM", 6}, {"SYRK", 6}, {"GEMM", 4}}));
}

}  // namespace fairlead::jdf::tests
