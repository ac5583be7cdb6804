// Measurements of the machine from earlier runs: link bandwidths and task durations. Failures here never fail a run;
// they are reported by a line on standard error.
#pragma once
#include <fairlead/config.hpp>

#include <optional>
#include <string>

#include "machine/machine.hpp"
#include "model/machine_file.hpp"

namespace fairlead::front {

class MachineProfile {
 public:
  /// The settings `cache-directory` and `keep-durations` select what is read, and from which directory.
  MachineProfile(const Config& config, const machine::Machine& machine);

  const model::KeptDurations& durations() const noexcept { return facts_.durations; }
  /// Sets measured bandwidths of links; the bandwidth limit of the disk still applies.
  void use_links(Topology& topology) const;
  /// Stores the durations of a model that started with durations() and has learned more since.
  void keep(const model::KeptDurations& learned) const noexcept;

 private:
  std::string disk_directory_;
  std::optional<double> disk_cap_;  // bytes per second
  bool keep_durations_;
  std::optional<model::MachineFile> file_;  // empty without a cache directory
  model::MachineMeasurements facts_;
};

/// The location of a link's nodes in measurements (model::KeptLink::place): for a disk its file system, otherwise
/// empty.
std::string place_of_link(const Topology& topology, const LinkSpec& link, const std::string& disk_directory);

}  // namespace fairlead::front
