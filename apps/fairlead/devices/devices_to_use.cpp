// See devices_to_use.hpp.
#include "fairlead/devices/devices_to_use.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/linalg/cuda/own_kernels.hpp"
#include "backend/device_list.hpp"
#include "machine/machine.hpp"
#include "solver/load_kernels.hpp"

namespace fairlead::app {

using solver::DenseOperation;
using solver::may_run_on_devices;

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
      .own_kernels = own_kernels ? solver::cuda_kernels(config) : ""};
}

void require_devices_for(const Config& config, ElementType element) {
  if (!is_complex(element) || !config.has("devices")) return;
  const std::string& devices = config.text("devices");
  for (const char* kind : {"cuda", "opencl"})
    if (devices.find(kind) != std::string::npos)
      throw ConfigError(
          fmt::format("--devices {}: complex numbers are computed on cores; use --devices none", devices));
}

std::string devices_by_rank(const std::string& list, std::size_t ranks) {
  const backend::Backends backends = backend::default_backends();
  if (ranks < 2 || backend::devices_from(list, backends).empty()) return {};
  std::string text;
  for (std::size_t place = 0; place < ranks; ++place)
    text += fmt::format("{}rank {}: {}", place == 0 ? "" : "; ", place,
                        backend::devices_of_rank(list, backends, place, ranks));
  return text;
}

std::string select_devices(Config& config, bool automatically, const ProblemWork& work, CommandRanks& ranks) {
  std::string line;
  const bool named = config.has("devices");
  DevicesToUse use;
  // Collective: no rank allocates device memory before all ranks have read how much is free. Each rank has
  // its own settings, so this rank takes part even if its settings name devices.
  if (automatically)
    static_cast<void>(ranks.together(config, [&] {
      if (!named)
        use = devices_for(work, ranks.on_machine(), backend::cu::find_devices, backend::cl::find_devices);
      return 0.0;
    }));
  if (named) {
    if (config.text("devices") == "none") return "none, as set by --devices";
    line = "as named: " + config.text("devices");
  } else {
    if (use.list.empty()) return use.line;
    config.set("devices", use.list);
    line = std::move(use.line);
  }
  if (const std::string by_rank = devices_by_rank(config.text("devices"), ranks.on_machine());
      !by_rank.empty())
    line += "; " + by_rank;
  return line;
}

}  // namespace fairlead::app
