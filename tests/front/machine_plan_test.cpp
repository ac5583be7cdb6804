// The distances of workers bound to cores are those that hwloc reports for the cores; unbound workers have
// none.
#include "front/runtime/machine_plan.hpp"

#include <gtest/gtest.h>

#include "machine/machine.hpp"

namespace fairlead::front {
namespace {

MachinePlan plan_for(std::size_t workers, bool bind) {
  const machine::Machine machine{.processors = machine::detect_processors("pack:2 l2:2 core:2 pu:1"),
                                 .cpu_quota = {},
                                 .workers = 8,
                                 .workers_reason = {},
                                 .memory = {},
                                 .pages = {}};
  const Config config;
  MachinePlan plan{.workers = workers,
                   .capacity = 0,
                   .idle_cores = 0,
                   .processors = {},
                   .devices = {},
                   .profile = {config, machine}};
  plan.topology = out_of_core_topology(workers, Bytes{1} << 20, 1e9, Duration{});
  plan.bind_to(machine, bind);
  return plan;
}
std::uint32_t apart(const MachinePlan& plan, std::size_t a, std::size_t b) {
  return domain_distance(plan.topology.workers[a], plan.topology.workers[b]);
}

TEST(MachinePlan, BoundWorkersHaveTheDomainsOfTheirCores) {
  const MachinePlan plan = plan_for(8, true);
  EXPECT_EQ(plan.processors, (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(apart(plan, 2, 3), 0u);
  EXPECT_EQ(apart(plan, 2, 1), 1u);
  EXPECT_EQ(apart(plan, 2, 6), 2u);
}
TEST(MachinePlan, UnboundWorkersHaveNoDomains) {
  for (const MachinePlan& plan : {plan_for(8, false), plan_for(4, true)}) {
    EXPECT_TRUE(plan.processors.empty());
    EXPECT_EQ(apart(plan, 0, 3), 0u);
  }
}

}  // namespace
}  // namespace fairlead::front
