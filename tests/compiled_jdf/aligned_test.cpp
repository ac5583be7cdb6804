// A graph with two globals for the same data; one is hidden and aligned with the other.
#include <gtest/gtest.h>

#include "aligned.hpp"
#include "compiled_jdf/compiled.hpp"

namespace fairlead::compiled_jdf {

TEST(AlignedJdf, AHiddenGlobalUsesTheDataItIsAlignedWith) {
  for (const Home home : {Home::runtime, Home::caller}) {
    const Plain<double> before = random_matrix<double>(33, 21, 1);
    Runtime runtime;
    Described<double> described(runtime, before, 8, home);
    ptg::Graph graph(runtime);
    aligned(graph, described.descriptor());
    const ptg::Checked checked = graph.check();
    EXPECT_EQ(checked.errors, 0U) << checked.text;
    EXPECT_EQ(checked.tasks, 15U);
    graph.run();
    const Plain<double> after = described.numbers();
    for (std::int64_t j = 0; j < 21; ++j)
      for (std::int64_t i = 0; i < 33; ++i) EXPECT_DOUBLE_EQ(after(i, j), before(i, j) + 121);  // -1 and 122
  }
}

}  // namespace fairlead::compiled_jdf
