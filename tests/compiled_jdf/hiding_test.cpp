// Flows with the names of declared collections.
#include <gtest/gtest.h>

#include "compiled_jdf/compiled.hpp"
#include "hiding.hpp"

namespace fairlead::compiled_jdf {

TEST(HidingJdf, BodiesSeeTheFlowAndDependenciesTheCollection) {
  for (const Home home : {Home::runtime, Home::caller}) {
    const Plain<double> a = random_matrix<double>(12, 1, 1), b = random_matrix<double>(12, 1, 2);
    Runtime runtime;
    Described<double> described_a(runtime, a, 4, home), described_b(runtime, b, 4, home);
    ptg::Graph graph(runtime);
    hiding(graph, described_a.descriptor(), described_b.descriptor(), 3);
    const ptg::Checked checked = graph.check();
    EXPECT_EQ(checked.errors, 0U) << checked.text;
    EXPECT_EQ(checked.tasks, 6U);
    graph.run();
    const Plain<double> after_a = described_a.numbers(), after_b = described_b.numbers();
    for (std::int64_t i = 0; i < 12; ++i) {
      const bool first = i % 4 == 0;
      EXPECT_DOUBLE_EQ(after_b(i, 0), first ? a(i, 0) + 1 : b(i, 0));
      EXPECT_DOUBLE_EQ(after_a(i, 0), first ? 2 * (a(i, 0) + 1) : a(i, 0));
    }
  }
}

}  // namespace fairlead::compiled_jdf
