// A simulation of the C interface: a workload on one simulated machine, or on several ranks.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fairlead_simulation.h>

#include "simulate/cluster/cluster_scenario.hpp"
#include "simulate/study/scenario.hpp"

struct fairlead_simulation {
  std::variant<std::unique_ptr<const fairlead::simulate::Scenario>,
               std::unique_ptr<const fairlead::simulate::ClusterScenario>>
      scenario;
};

struct fairlead_simulation_result {
  std::string json;
  std::vector<fairlead_task_run> order;
};
