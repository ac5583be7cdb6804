// The measured speed of a machine's kernels, links and devices, as a machine file, text and JSON.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/worker_kind.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json.hpp"

namespace fairlead::simulate {

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

/// The processor of the machine's cores in figures and in the file.
inline constexpr std::string_view name_of_cores = "core";

/// The machine file for `fairlead simulate --machine`. `source`: the origin of the figures.
std::string machine_file(const MachineFigures& figures, std::string_view name, std::string_view source);
Json figures_json(const MachineFigures& figures);
/// A line for each link and each kernel on each processor.
std::string figures_text(const MachineFigures& figures);
/// 10^9 operations a second of a kernel whose tasks on tiles of that side take so long.
double gflops_of(std::string_view kernel, int side, double seconds);

}  // namespace fairlead::simulate
