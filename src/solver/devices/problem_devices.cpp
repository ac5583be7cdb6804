// See problem_devices.hpp.
#include "solver/devices/problem_devices.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <string>

#include "algorithms/linalg/cuda/own_kernels.hpp"
#include "machine/machine.hpp"
#include "solver/load_kernels.hpp"

namespace fairlead::solver {

ProblemWork problem_work(const DenseProblem& problem, double core_gflops, const Config& config) {
  const auto workers = config.count_or("workers", machine::discover().workers);
  const DenseOperation& operation = *problem.operation;
  const bool own_kernels = operation.devices == DenseOperation::Devices::cuda_by_own_kernels;
  DenseProblem sized = problem;
  if (sized.tile == 0) sized.tile = 1;
  const std::string name = is_complex(problem.element) ? fmt::format("{} of complex numbers", operation.name)
                                                       : std::string(operation.name);
  return {
      .flops = sized.flops(),
      .bytes = sized.matrix_bytes(),
      .element_bytes = problem.element_bytes(),
      .core_flops_per_second =
          core_gflops * 1e9 * static_cast<double>(workers) * (is_single(problem.element) ? 2 : 1),
      .only_on_cores = may_run_on_devices(operation, problem.element, config) ? "" : name,
      .without_opencl = operation.devices == DenseOperation::Devices::all ? "" : std::string(operation.name),
      .part_of_peak =
          own_kernels ? 0.15 : 0.5,  // one multiprocessor computes the reflectors while the others wait
      .least_capability = own_kernels ? linalg::least_capability_of_own_kernels : 0,
      .own_kernels = own_kernels ? cuda_kernels(config) : ""};
}

void require_devices_for(const Config& config, ElementType element) {
  if (!is_complex(element) || !config.has("devices")) return;
  const std::string& devices = config.text("devices");
  for (const char* kind : {"cuda", "opencl"})
    if (devices.find(kind) != std::string::npos)
      throw ConfigError(
          fmt::format("--devices {}: complex numbers are computed on cores; use --devices none", devices));
}

}  // namespace fairlead::solver
