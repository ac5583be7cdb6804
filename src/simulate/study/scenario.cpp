// See scenario.hpp.
#include "simulate/study/scenario.hpp"

#include <fmt/format.h>

#include <utility>

#include "simulate/default_policy.hpp"
#include "simulate/estimate_errors.hpp"
#include "simulate/jdf_program.hpp"
#include "simulate/ptg_program.hpp"
#include "simulate/slowdown.hpp"
#include "simulate/study/simulation_settings.hpp"
#include "solver/jdf/jdf_algorithms.hpp"

namespace fairlead::simulate {

WorkloadFront workload_front_in(const Config& config) {
  const std::string& front = config.text("front");
  return front == "ptg" ? WorkloadFront::ptg : front == "jdf" ? WorkloadFront::jdf : WorkloadFront::flow;
}

SimulatedProgram workload_program(const std::string& written, const WorkloadSize& size, WorkloadFront front) {
  Program program = make_workload(written, size);
  if (front == WorkloadFront::ptg) {
    std::string title = fmt::format("{}, as a parameterized graph", program.title);
    program = in_order_of(graph_of(written, size), program);
    program.title = std::move(title);
  } else if (front == WorkloadFront::jdf) {
    if (!solver::is_in_jdf(written)) throw solver::not_in_jdf(written);
    std::string title = fmt::format("{}, as JDF", program.title);
    program =
        program_of(*solver::jdf_algorithm(written, size.n, size.tile), size.tile, size.precision).program;
    program.title = std::move(title);
  }
  return {written, std::move(program), &find_workload(written), size};
}

Scenario::Scenario(SimulatedProgram what, machine::MachineDescription machine, const Config& config)
    : what_(std::move(what)),
      machine_(machine, use_of(config, machine), what_.program, what_.size.precision),
      limits_(limits_of(what_.program, machine_, what_.workload, what_.size)),
      options_(simulation_options(config)) {
  // Invalid values are errors before anything runs.
  by_worker(options_.slow, machine_.topology());
  by_kernel(options_.misjudged, what_.program);
}

std::string Scenario::policy_name(const std::string& written) const {
  return written == automatic ? default_policy_of(what_.program, machine_) : written;
}

}  // namespace fairlead::simulate
