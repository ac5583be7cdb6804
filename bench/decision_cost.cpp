// What one task costs a policy, in ns, with many tasks ready at once: a grid of independent tasks, each
// reading a row and a column, an eighth of the data in memory. The cost of the fake machine around it
// (eager's) is in the figures. Run: decision_cost [policy ...]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "schedule/graph_world.hpp"
#include "schedule/policies.hpp"

namespace {

using namespace fairlead;

enum class Kind { equal, differ, updating };  // priorities; each task has a tile of its own too

double ns_per_task(const std::string& name, std::size_t ready, Kind kind) {
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(ready))));
  schedule::GraphWorld world(std::max<std::size_t>(8, side / 4), 8);
  std::vector<DatumId> rows, columns;
  for (std::size_t i = 0; i < side; ++i) {
    rows.push_back(world.tile(0, static_cast<std::int32_t>(i)));
    columns.push_back(world.tile(1, static_cast<std::int32_t>(i)));
  }
  Random random(7);
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j)
      world.add(
          Duration{kind == Kind::equal ? 1000 : random.between(1000, 2'000'000'000)}, {rows[i], columns[j]},
          kind == Kind::updating ? world.tile(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j))
                                 : no_id<DatumId>);
  world.prioritize();
  const auto policy = schedule::make_policy(name);
  const auto start = std::chrono::steady_clock::now();
  const auto tasks = world.run(*policy).tasks;
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(tasks);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty())
    for (const auto& entry : schedule::policies()) names.emplace_back(entry.name);
  std::printf("%-16s %10s %12s %12s %12s\n", "policy", "ready", "ns, equal", "ns, differ", "ns, updating");
  for (const auto& name : names)
    for (const std::size_t ready : {1'000u, 10'000u, 100'000u})
      std::printf("%-16s %10zu %12.0f %12.0f %12.0f\n", name.c_str(), ready,
                  ns_per_task(name, ready, Kind::equal), ns_per_task(name, ready, Kind::differ),
                  ns_per_task(name, ready, Kind::updating));
}
