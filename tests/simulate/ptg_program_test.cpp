// Algorithms as parameterized graphs, for the simulator: the flow's tasks in the order of the unrolled graph, which
// gives every tile the same history; on a machine, the same bytes without evictions.
#include "simulate/ptg_program.hpp"

#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <string>
#include <utility>

#include "machine/machine_files.hpp"
#include "simulate/same_program.hpp"
#include "simulate/simulation.hpp"

namespace fairlead::simulate {
namespace {

Program as_graph(const std::string& workload, const WorkloadSize& size) {
  return in_order_of(graph_of(workload, size), make_workload(workload, size));
}

TEST(PtgProgram, HasTheTasksOfTheFlow) {
  for (const char* workload : {"cholesky", "lu", "gemm"})
    for (const std::int64_t n : {100, 256, 700, 1000}) {
      SCOPED_TRACE(workload + (" of " + std::to_string(n)));
      const WorkloadSize size{n, 128, Precision::double_};
      const Program flow = make_workload(workload, size), graph = as_graph(workload, size);
      expect_same(graph, flow);
    }
}

TEST(PtgProgram, HasThePrioritiesOfTheFlow) {
  for (const char* workload : {"cholesky", "lu"}) {
    const WorkloadSize size{1000, 128, Precision::double_};
    std::multiset<std::tuple<std::size_t, std::int32_t, std::int32_t>> of_flow, of_graph;
    const auto all = [](const Program& program, auto& into) {
      for (const ProgramTask& task : program.tasks)
        into.emplace(static_cast<std::size_t>(task.kernel), task.iteration, task.priority);
    };
    all(make_workload(workload, size), of_flow);
    all(as_graph(workload, size), of_graph);
    EXPECT_TRUE(of_flow == of_graph) << workload;
  }
}

TEST(PtgProgram, MovesTheSameBytesWithoutEvictions) {
  const WorkloadSize size{9600, 960, Precision::single};
  const machine::MachineDescription description = machine::load_machine("k40");
  for (const char* policy : {"eager", "dmdas", "darts", "blocks"}) {
    const auto bytes = [&](const Program& program) {
      MachineConfig use;
      use.devices = 1;
      use.cores = 0;
      const SimulatedMachine machine(description, use, program, size.precision);
      const SimulationResult result = simulate(program, machine, policy, {});
      EXPECT_EQ(result.tasks, program.tasks.size());
      return std::pair(result.bytes_to_devices, result.bytes_from_devices);
    };
    EXPECT_EQ(bytes(as_graph("cholesky", size)), bytes(make_workload("cholesky", size))) << policy;
  }
}

// Policies are notified of the same tasks in another order: the plan of blocks follows from the graph. 24 x 24 tiles.
TEST(PtgProgram, BlocksLoadsTheSameIfAQuarterFits) {
  const WorkloadSize size{23'040, 960, Precision::single};
  const Bytes matrix = Bytes{23'040} * 23'040 * 4;
  const machine::MachineDescription description = machine::load_machine("k40");
  for (const auto& [workload, memory] : {std::pair{"cholesky", matrix / 8}, std::pair{"lu", matrix / 4}}) {
    MachineConfig use;
    use.devices = 1;
    use.cores = 0;
    use.device_memory = memory;
    const auto loaded = [&](const Program& program) {
      const SimulatedMachine machine(description, use, program, size.precision);
      return static_cast<double>(simulate(program, machine, "blocks", {}).bytes_to_devices);
    };
    const double flow = loaded(make_workload(workload, size));
    EXPECT_GT(flow, static_cast<double>(memory)) << workload;
    EXPECT_NEAR(loaded(as_graph(workload, size)), flow, 0.01 * flow) << workload;
  }
}

TEST(PtgProgram, IsOfThreeWorkloadsAndNotTooLarge) {
  EXPECT_THROW(graph_of("qr", {1000, 100, Precision::double_}), ConfigError);
  EXPECT_THROW(graph_of("gemm", {25700, 100, Precision::double_}), ConfigError);
}

}  // namespace
}  // namespace fairlead::simulate
