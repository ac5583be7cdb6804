// A program on a simulated machine with the settings of its runs: what `fairlead simulate`, `fairlead compare` and the C
// interface run under one policy after the other.
#pragma once
#include <fairlead/config.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "machine/description.hpp"
#include "simulate/machine.hpp"
#include "simulate/program.hpp"
#include "simulate/run_outcome.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// A program and its origin.
struct SimulatedProgram {
  std::string name;  ///< of the workload as the user wrote it, or the file
  Program program;
  const Workload* workload = nullptr;  ///< null: a program from a file or from tasks
  WorkloadSize size{};
};

/// The workload of that name as a flow, as a parameterized graph, or as such a graph from a JDF file: graphs notify policies
/// of tasks in another order.
enum class WorkloadFront : std::uint8_t { flow, ptg, jdf };
/// By the setting `front`.
WorkloadFront workload_front_in(const Config& config);
/// Throws ConfigError for an unknown workload, and for one without such a graph.
SimulatedProgram workload_program(const std::string& written, const WorkloadSize& size, WorkloadFront front);

/// Any number of threads may run it at the same time.
class Scenario {
 public:
  /// The settings select the used part of the machine and state how it runs: those of simulation_settings and
  /// settings_of_simulations. Throws ConfigError.
  Scenario(SimulatedProgram what, machine::MachineDescription machine, const Config& config);

  const std::string& name() const noexcept { return what_.name; }
  const WorkloadSize& size() const noexcept { return what_.size; }
  const Program& program() const noexcept { return what_.program; }
  const SimulatedMachine& machine() const noexcept { return machine_; }
  const Limits& limits() const noexcept { return limits_; }
  /// As the settings state them, with the first seed.
  const SimulationOptions& options() const noexcept { return options_; }

  /// The name of the policy where "auto" is written.
  std::string policy_name(const std::string& written) const;
  /// An unfinished run is an outcome, too: see outcome_of().
  RunOutcome run(const std::string& policy, const SimulationOptions& options) const {
    return outcome_of(what_.program, machine_, policy, options);
  }
  RunOutcome run(std::unique_ptr<Policy> policy, const std::string& policy_name,
                 const SimulationOptions& options) const {
    return outcome_of(what_.program, machine_, std::move(policy), policy_name, options);
  }
  Json json(const RunOutcome& outcome) const {
    return simulate::json(outcome, limits_, what_.program, machine_, what_.name, what_.size);
  }

 private:
  SimulatedProgram what_;
  SimulatedMachine machine_;
  Limits limits_;
  SimulationOptions options_;
};

}  // namespace fairlead::simulate
