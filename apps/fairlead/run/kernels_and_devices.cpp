// See kernels_and_devices.hpp.
#include "fairlead/run/kernels_and_devices.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "backend/cuda/driver.hpp"
#include "backend/device_list.hpp"
#include "backend/opencl/driver.hpp"
#include "solver/devices/problem_devices.hpp"

namespace fairlead::app {

namespace {

/// Returns the report's line about devices.
std::string select_devices(Config& config, bool automatically, const solver::ProblemWork& work,
                           CommandRanks& ranks) {
  std::string line;
  const bool named = config.has("devices");
  solver::DevicesToUse use;
  // Collective: no rank allocates device memory before all ranks have read how much is free. Each rank has
  // its own settings, so this rank takes part even if its settings name devices.
  if (automatically)
    static_cast<void>(ranks.together(config, [&] {
      if (!named)
        use = solver::devices_for(work, ranks.on_machine(), backend::cu::find_devices,
                                  backend::cl::find_devices);
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
  if (const std::string by_rank =
          backend::devices_by_rank(config.text("devices"), backend::default_backends(), ranks.on_machine());
      !by_rank.empty())
    line += "; " + by_rank;
  return line;
}

}  // namespace

solver::KernelEnvironment kernel_environment() {
  solver::KernelEnvironment environment{
      .inherited_core_type = {},
      .timing_helper = {"/proc/self/exe", "time-blas"},
      .before_timing = [](const std::string& text) { fmt::print(stderr, "fairlead: {}\n", text); }};
  if (const char* inherited = std::getenv("OPENBLAS_CORETYPE")) environment.inherited_core_type = inherited;
  return environment;
}

KernelsAndDevices load_kernels_and_devices(Config& config, bool automatically,
                                           const solver::DenseProblem& problem, CommandRanks& ranks) {
  std::string devices;
  double core_gflops = 0;
  linalg::Kernels kernels =
      solver::load_kernels(config, kernel_environment(), [&](const linalg::KernelChoice& choice) {
        core_gflops = choice.gflops();
        devices =
            select_devices(config, automatically, solver::problem_work(problem, core_gflops, config), ranks);
      });
  return {std::move(kernels), core_gflops, std::move(devices)};
}

}  // namespace fairlead::app
