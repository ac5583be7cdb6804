// Every construct of the language, compiled and run: the tasks are those of the unrolled graph, and each
// reads the expected values.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "compiled_jdf/compiled.hpp"
#include "compiled_jdf/record.h"
#include "constructs.hpp"
#include "front/jdf/read.hpp"
#include "operators.hpp"

struct diary {
  std::mutex mutex;
  std::map<std::string, double> found{};  // by task
  std::vector<std::string> twice{};
};

extern "C" void record(diary* diary, const char* task_class, int indices, int first, int second,
                       double found) {
  std::string name = fmt::format("{}({}", task_class, indices > 0 ? std::to_string(first) : "");
  if (indices == 2) name += fmt::format(",{}", second);
  if (indices == 3) name += fmt::format(",{},{}", second, first + second);
  const std::lock_guard guard(diary->mutex);
  if (!diary->found.emplace(name + ")", found).second) diary->twice.push_back(name);
}

namespace fairlead::compiled_jdf {
namespace {

constexpr int last = 8;

class CompiledConstructs : public testing::Test {
 protected:
  CompiledConstructs() {
    for (int i = 0; i < 8; ++i) {
      in_a_.emplace_back(4, 0.0);
      in_b_.emplace_back(4, 1000.0 + i);
    }
    for (int i = 0; i < 8; ++i) {
      a_.push_back(runtime_.vector("A", in_a_[i].data(), 4));
      b_.push_back(runtime_.vector("B", in_b_[i].data(), 4));
    }
  }

  std::vector<std::vector<double>> in_a_, in_b_;
  diary diary_;
  Runtime runtime_;
  std::vector<Handle<Vector<double>>> a_, b_;
};

jdf::tests::ReadText the_file(const char* name) {
  const auto path = jdf::tests::test_folder().parent_path().parent_path() / "compiled_jdf" / name;
  return jdf::tests::read_text(jdf::tests::text_of(path), name);
}

}  // namespace

TEST_F(CompiledConstructs, RunTheTasksOfTheUnrolledGraph) {
  parsec::Collection a(a_), b(b_);
  ptg::Graph graph(runtime_);
  constructs(graph, &diary_, last + 1, a, 3, b, 0.75, mode_other);
  const ptg::Checked checked = graph.check();
  EXPECT_EQ(checked.text, "");
  graph.run();
  EXPECT_EQ(diary_.twice, std::vector<std::string>{});

  const jdf::tests::ReadText it = the_file("constructs.jdf");
  EXPECT_EQ(it.errors, 0U) << it.messages;
  // The unroller gets the value of the C expression: skip is the next power of two.
  std::set<std::string> expected, found;
  for (int k = 0; k <= last + 1; k += 2)
    for (int m = 4; m >= 0; m -= 2) expected.insert(fmt::format("STEPS({},{})", k, m));
  for (int i = 1; i < 8; i += 2) expected.insert(fmt::format("ODD({})", i));
  for (int i = 0; i <= 3; ++i)
    for (int k = i; k <= 3; ++k) expected.insert(fmt::format("WORDS({},{},{})", k, i, i + k));
  for (int k = 0; k <= last; ++k) expected.insert(fmt::format("CHAIN({})", k));
  for (int k = 1; k <= last; ++k) expected.insert(fmt::format("SEEN({})", k));
  for (int k = 0; k < 3; ++k) {
    for (const char* name : {"FILL", "CHANGE", "AFTER", "NEWS"})
      expected.insert(fmt::format("{}({})", name, k));
    for (int i = 0; i < 4; ++i) expected.insert(fmt::format("LOOK({},{})", k, i));
  }
  expected.insert({"MOVE(5)", "MOVE(6)", "GATHER()", fmt::format("END_({})", last), "FAN(0)", "LEAF(0,1)",
                   "LEAF(2,1)", "LEAF(2,2)", "LEAF(2,3)"});
  for (const auto& [name, number] : diary_.found) found.insert(name);
  EXPECT_EQ(found, expected);
  // PASS states no destination; values of NEWS and MOVE are written back by either branch, if any applies.
  EXPECT_EQ(checked.tasks, expected.size() + 3 + 2 * 3 + 2);
}

TEST_F(CompiledConstructs, ReadTheExpectedValues) {
  parsec::Collection a(a_), b(b_);
  ptg::Graph graph(runtime_);
  constructs(graph, &diary_, last + 1, a, 3, b, 0.75, mode_other);
  graph.run();
  const auto& found = diary_.found;
  EXPECT_EQ(found.at("STEPS(8,2)"), 9);  // the hidden size: 2 N, and 9 at most
  EXPECT_EQ(found.at("GATHER()"), 2);
  for (int i = 1; i < 8; i += 2) EXPECT_EQ(found.at(fmt::format("ODD({})", i)), 1000 + i);
  EXPECT_EQ(found.at("WORDS(3,1,4)"), 4);
  double x = 0.75;
  for (int k = 0; k <= last; ++k) {
    const int deep = (k % 2 == 0 ? 1 : -1) * 2 * k + mode_other;
    if (k > 0) x += deep;
    EXPECT_EQ(found.at(fmt::format("CHAIN({})", k)), deep);
    const bool power_of_two = k == 1 || k == 2 || k == 4 || k == 8;
    if (k == 0) continue;
    EXPECT_EQ(found.at(fmt::format("SEEN({})", k)), power_of_two ? x : -1) << k;
  }
  EXPECT_EQ(found.at(fmt::format("END_({})", last)), x);
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(found.at(fmt::format("LOOK({},{})", k, i)), 10 * k + i);
    EXPECT_EQ(found.at(fmt::format("AFTER({})", k)), 11 * k + 100);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(in_a_[k][i], 10 * k + i + 100);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(in_a_[k < 2 ? k + 3 : 7][i], 7 * k + i);
  }
  EXPECT_EQ(in_a_[5], in_b_[5]);
  EXPECT_EQ(in_a_[6], std::vector<double>(4, 1006.0));
}

TEST_F(CompiledConstructs, HiddenGlobalsMayBeSet) {
  parsec::Collection a(a_), b(b_);
  ptg::Graph graph(runtime_);
  constructs(graph, &diary_, 3, a, 0, b, 0.25, mode_plain, {.STEP = 3, .size = 7});
  graph.run();
  EXPECT_EQ(diary_.found.at("STEPS(3,0)"), 7);
  EXPECT_FALSE(diary_.found.contains("STEPS(2,0)"));
  EXPECT_EQ(diary_.found.at("GATHER()"), 3);
  EXPECT_EQ(diary_.found.at("WORDS(0,0,0)"), -1);  // its guard does not hold: there is no datum
}

// The unroller evaluates the operators itself.
TEST_F(CompiledConstructs, OperatorsAreThoseOfC) {
  const jdf::tests::ReadText it = the_file("operators.jdf");
  EXPECT_EQ(it.errors, 0U) << it.messages;
  std::uint64_t edges = 0;
  for (const auto& [n, m] : {std::pair(2, 3), std::pair(4, -2), std::pair(1, 1), std::pair(5, 2)}) {
    const std::string set_n = fmt::format("N={}", n), set_m = fmt::format("M={}", m);
    const unrolled::TaskGraph written_out =
        jdf::unroll(it.file, jdf::tests::settings_of(it.file, {set_n.c_str(), set_m.c_str()})).graph;
    diary_.found.clear();
    ptg::Graph graph(runtime_);
    operators(graph, &diary_, n, m);
    const ptg::Checked checked = graph.check();
    EXPECT_EQ(checked.text, "");
    EXPECT_EQ(checked.tasks, written_out.tasks.size());
    EXPECT_EQ(checked.edges, unrolled::check(written_out).edges);
    edges += checked.edges;
    graph.run();
    std::set<std::string> found;
    for (const auto& [name, number] : diary_.found)
      found.insert(fmt::format("{},{})", name.substr(0, name.size() - 1), static_cast<int>(number)));
    EXPECT_EQ(found, jdf::tests::task_names(written_out));
  }
  EXPECT_GT(edges, 10U);
}

}  // namespace fairlead::compiled_jdf
