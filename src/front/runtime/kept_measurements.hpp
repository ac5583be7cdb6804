// The measurements of earlier runs on this machine, and the file that keeps them.
#pragma once
#include <fairlead/config.hpp>

#include <optional>
#include <string>

#include "machine/machine.hpp"
#include "model/machine_file.hpp"

namespace fairlead::front {

struct KeptMeasurements {
  /// By the setting `cache-directory`; the disk is that of `disk-directory`.
  KeptMeasurements(const Config& config, const machine::Machine& machine);

  /// The measurement of this link; null: none.
  const model::KeptLink* link(const Topology& topology, const LinkSpec& link) const;

  std::string disk_directory;
  std::optional<model::MachineFile> file;  ///< none without a cache-directory
  model::MachineMeasurements facts;
};

/// Whether the link leads to the disk.
bool joins_disk(const Topology& topology, const LinkSpec& link);
/// The location of a link's nodes in measurements (model::KeptLink::place): for a disk its file system, otherwise
/// empty.
std::string place_of_link(const Topology& topology, const LinkSpec& link, const std::string& disk_directory);

}  // namespace fairlead::front
