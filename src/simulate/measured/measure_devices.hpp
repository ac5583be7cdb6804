// Measures the kernels of linear algebra and the links of a machine's devices by running tasks on them, and
// writes a machine file, from which the simulator predicts runs with the same settings. Cores and devices
// compute at the same time, as in such a run, so the figures include their interference. Exceptions: devices
// that run on the cores, and streams: each device has one task at a time, since the simulator models how
// streams share a device, and tasks the cores.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>

#include <functional>
#include <string>
#include <vector>

#include "simulate/measured/machine_figures.hpp"

namespace fairlead::simulate {

struct MeasureSettings {
  std::vector<int> tiles;               ///< sides, growing
  std::vector<std::string> precisions;  ///< "single", "double"
  /// Called with a description of each measurement before it starts.
  std::function<void(const std::string&)> report = [](const std::string&) {};
};

/// `config`: workers, devices, memory, scheduler. Takes at most that memory, in RAM and on devices: tiles
/// that do not fit are left out. Throws as Runtime.
MachineFigures measure_devices(const Config& config, const linalg::Kernels& kernels,
                               const MeasureSettings& settings);

/// All GPUs of this machine, as the setting `devices`, with half of their memory or 4 GiB; empty: none.
std::string list_gpus();

}  // namespace fairlead::simulate
