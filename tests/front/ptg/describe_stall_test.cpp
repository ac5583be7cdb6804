// The search for tasks without inputs evaluates formulas that the run has not evaluated. A division by zero
// there does not change the error.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <string>

#include "front/ptg/numbers_under_policy.hpp"

namespace fairlead {
namespace {

class NeverFed : public tests::NumbersUnderPolicy {
 protected:
  /// tree(2) gets its "x" but never its "a", whose formula is undefined there. The other direction is stated,
  /// so the run never evaluates the formula. `another_waits`: a second task waits too.
  std::string error(bool another_waits) {
    ptg::Graph graph(*runtime);
    const ptg::Collection data = graph.data(handles, "data");
    auto leaf = graph.task("leaf", i.in(0, 3));
    auto tree = graph.task("tree", i.in(0, 3));
    const ptg::Index k("k");
    leaf.runs(add, ptg::flow("x").from(data(i)).to(tree["a"](k), k.in(0, 3)).when(i == k && k != 2));
    tree.runs(take, ptg::flow("a").from(leaf["x"](i + 4 / (i - 2) * 0)),
              ptg::flow("x").from(data(4)).when(i == 0).from(tree["x"](i - 1)));
    if (another_waits) {
      auto giver = graph.task("giver", i.in(0, 1));
      auto taker = graph.task("taker", i.in(0, 2));
      giver.runs(add, ptg::flow("x").from(data(i + 5)).to(taker["a"](i)));
      taker.runs(take, ptg::flow("a").from(giver["x"](i)), ptg::flow("x").from(data(i + 7)));
    }
    try {
      graph.run();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing";
  }
};

TEST_P(NeverFed, IsReportedAlthoughTheSearchDividesByZero) {
  for (const bool another_waits : {false, true}) {
    const std::string text = error(another_waits);
    EXPECT_NE(text.find(another_waits ? "3 of 13 tasks wait for inputs that no task provides"
                                      : "2 of 8 tasks wait for inputs that no task provides"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("division by 0"), std::string::npos) << text;
  }
  int number = 0;
  const auto handle = runtime->value("other", number);
  Flow flow(*runtime);
  flow.submit(add(handle));
  flow.wait();
  EXPECT_EQ(number, 1) << "the runtime continues";
}

INSTANTIATE_TEST_SUITE_P(UnderPolicies, NeverFed, testing::Values("lws", "darts"));

}  // namespace
}  // namespace fairlead
