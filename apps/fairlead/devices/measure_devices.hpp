// Measures the kernels of linear algebra and the links of a machine's devices by running tasks on them, and
// writes a machine file, from which the simulator predicts runs with the same settings. Cores and devices
// compute at the same time, as in such a run, so the figures include their interference. Exceptions: devices
// that run on the cores, and streams: each device has one task at a time, since the simulator models how
// streams share a device, and tasks the cores.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json.hpp"
#include "machine/topology.hpp"

namespace fairlead::app {

/// The speed of copies over a link: to a device from RAM, or from one device to another.
struct WireFigures {
  double to_device = 0, from_device = 0;  ///< bytes per second of large copies, alone
  double latency_seconds = 0;             ///< of the smallest, in the slower direction
  bool duplex = true;                     ///< whether both directions at once take less time than in sequence
  Bytes largest = 0;                      ///< size of the largest copy
};

/// The measurements.
struct MachineFigures {
  /// Median seconds of a task, by processor, kernel, precision ("single"), side of its tiles.
  std::map<std::tuple<std::string, std::string, std::string, int>, double> seconds;
  struct Device {
    std::string name, processor;
    WorkerKind kind{};
    Bytes memory = 0;  ///< for data
    unsigned streams = 1;
    double together = 1;    ///< speedup of tasks in all streams over one at a time
    unsigned on_cores = 0;  ///< if it runs on cores of the machine: the number per task
    WireFigures wire;
  };
  std::vector<Device> devices;
  struct Peers {
    std::size_t first = 0, second = 0;  ///< of the devices
    WireFigures wire;
  };
  std::vector<Peers> peers{};  ///< those that copy to each other without RAM in between
  struct Disk {
    std::uint64_t read = 0, written = 0;  ///< bytes a second
    double latency_seconds = 0;
  };
  std::optional<Disk> disk{};  ///< if it was measured
  std::size_t cores = 0;       ///< workers; with a device on cores, all that may be used
  Bytes host_memory = 0;
  double without_core = 0;  ///< of the time in which workers wanted a core, the part in which they had none
};

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

/// The machine file for `fairlead simulate --machine`. `source`: the origin of the figures.
std::string machine_file(const MachineFigures& figures, std::string_view name, std::string_view source);
Json figures_json(const MachineFigures& figures);
/// A line for each link and each kernel on each processor.
std::string figures_text(const MachineFigures& figures);
/// 10^9 operations a second of a kernel whose tasks on tiles of that side take so long.
double gflops_of(std::string_view kernel, int side, double seconds);

}  // namespace fairlead::app
