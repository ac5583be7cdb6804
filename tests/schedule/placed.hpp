// The placement of a task by a policy, on a machine without an engine: see fake_world.hpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "schedule/fake_world.hpp"
#include "schedule/placement/owner_compute.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {

/// Nodes with one worker each, all of them accelerators by default.
struct PlacedWorld : FakeWorld {
  explicit PlacedWorld(unsigned nodes, std::string_view written, unsigned workers_per_node = 1)
      : FakeWorld(nodes, workers_per_node), policy(make_policy(written)) {}

  /// Called after the machine is described.
  void begin() { attach(*policy); }
  /// The initial load of the nodes: a picked task each of this duration.
  void busy(const std::vector<double>& loads_ms) {
    for (unsigned n = 0; n < loads_ms.size(); ++n) {
      if (loads_ms[n] == 0) continue;
      const std::string name = "load " + std::to_string(n);
      only_workers[name] = {n};
      ready({name, {}, loads_ms[n]});
      EXPECT_EQ(pick(n), name);
    }
  }
  /// The node of the only ready task, which is then taken from the policy.
  int place(const Spec& spec) {
    ready(spec);
    return place_again();
  }
  int place_again() {
    for (const WorkerInfo& it : workers())
      if (pick(it.id) != "-") return static_cast<int>(index(it.node));
    return -1;
  }
  std::vector<double> loads_ms() const {
    std::vector<double> loads;
    for (const NodeInfo& info : nodes())
      loads.push_back(static_cast<double>(dynamic_cast<const OwnerCompute&>(*policy).load(info.id).count()) /
                      1e6);
    return loads;
  }

  std::unique_ptr<Policy> policy;
};

}  // namespace fairlead::schedule
