// The policy that the page shows runs whole graphs, and does what the page says of it.
#include <gtest/gtest.h>

#include "schedule/graph_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

// 24 x 24 tiles in memory for 60.
TEST(PagePolicy, LoadsFarLessThanFirstComeFirstServed) {
  const auto shown = make_policy(PAGE_POLICY), eager = make_policy("eager");
  const auto by_page = cholesky(24, 60)->run(*shown);
  const auto by_eager = cholesky(24, 60)->run(*eager);
  EXPECT_EQ(by_page.tasks, by_eager.tasks);
  EXPECT_LT(static_cast<double>(by_page.loads), 0.8 * static_cast<double>(by_eager.loads));
}

}  // namespace
}  // namespace fairlead::schedule
