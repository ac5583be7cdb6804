// How often an affinity changes its mind between push and pop.
#include "schedule/heteroprio/affinity.hpp"

#include <gtest/gtest.h>

#include "schedule/heteroprio/uses.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

using Counts = std::array<std::uint64_t, 4>;

// The last row of Table 1, pushed by a worker of node 0. Before it is popped, D is copied to node 1.
TEST(BestNodeDifference, CountsFormulasWhoseWinnerChanged) {
  Situation situation{{{"A", 10, true}, {"B", 11, true}, {"C", 22, true}, {"D", 11, true}},
                      {"AD", "C", "BD"}};
  const auto at_push = BestNodeDifference::best_nodes(uses_of(situation), 3, 0, default_theta);
  EXPECT_EQ(at_push, (BestNodeDifference::Winners{1, 1, 2, 1}));
  situation.hosts[1] = "CD";
  const auto now = BestNodeDifference::best_nodes(uses_of(situation), 3, 0, default_theta);
  EXPECT_EQ(now, (BestNodeDifference::Winners{1, 1, 1, 1}));

  BestNodeDifference differences;
  differences.popped(at_push, now);
  EXPECT_EQ(differences.counts(), (Counts{0, 0, 1, 0}));
}

// A, read, is on nodes 0 and 1, and B, written, on node 1 only: LS_SDH and LS_SDH2 are as sure as can be.
// Then B is on both: for all formulas the nodes are equal, and the task goes to the pushing worker's node.
TEST(BestNodeDifference, ATieGoesToThePushingWorker) {
  Situation situation{{{"A", 1, false}, {"B", 1, true}}, {"A", "AB", ""}};
  EXPECT_EQ(BestNodeDifference::best_nodes(uses_of(situation), 3, 0, default_theta),
            (BestNodeDifference::Winners{1, 1, 1, 1}));
  situation.hosts[0] = "AB";
  EXPECT_EQ(BestNodeDifference::best_nodes(uses_of(situation), 3, 0, default_theta),
            (BestNodeDifference::Winners{0, 0, 0, 0}));
  EXPECT_EQ(BestNodeDifference::best_nodes(uses_of(situation), 3, 1, default_theta),
            (BestNodeDifference::Winners{1, 1, 1, 1}));
  EXPECT_EQ(BestNodeDifference::best_nodes(uses_of(situation), 3, std::nullopt, default_theta),
            (BestNodeDifference::Winners{0, 0, 0, 0}));
}

TEST(BestNodeDifference, TrustsTheSteadiestTheFirstOfEquals) {
  BestNodeDifference differences;
  EXPECT_EQ(differences.most_stable(), 0u);
  differences.popped({0, 0, 0, 0}, {1, 0, 1, 0});
  EXPECT_EQ(differences.most_stable(), 1u);
  differences.popped({0, 0, 0, 0}, {0, 2, 0, 0});
  EXPECT_EQ(differences.most_stable(), 3u);
  differences.popped({0, 0, 0, 0}, {0, 0, 0, 1});
  EXPECT_EQ(differences.most_stable(), 0u);
  EXPECT_EQ(differences.counts(), (Counts{1, 1, 1, 1}));
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
