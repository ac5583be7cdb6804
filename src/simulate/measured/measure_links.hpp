// Measures the links between the memory nodes of this machine that every run has: RAM, the disk, and the program's memory.
// Later runs and the simulator use the figures.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <optional>
#include <string>

#include "front/runtime/kept_measurements.hpp"
#include "machine/topology.hpp"
#include "simulate/measured/machine_figures.hpp"

namespace fairlead::simulate {

struct LinkMeasurement {
  Bytes disk_bytes = Bytes{1} << 30;  ///< written to and read from the disk; at most half of its free space
  unsigned disk_threads = 4;
  bool again = false;  ///< also links that earlier runs have measured
  /// Called before each measurement.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  /// Called with peculiarities of the disk.
  std::function<void(const std::string&)> remark = [](const std::string&) {};
};

struct MeasuredLinks {
  model::KeptLinks all;      ///< with those of earlier runs
  model::KeptLinks to_keep;  ///< measured now and reliable
  std::string
      disturbed;  ///< why the others of now are not reliable: other programs used the cores; empty: all are
};

/// Measures the links of the topology that can be measured, of the disk of `kept`. Throws SystemError if the disk has no space
/// or fails.
MeasuredLinks measure_links(const Topology& topology, const front::KeptMeasurements& kept,
                            const LinkMeasurement& how);

/// Those of the disk; nothing if it was not measured.
std::optional<MachineFigures::Disk> disk_figures(const model::KeptLinks& links);

}  // namespace fairlead::simulate
