// What a runtime knows of its machine from earlier runs, and passes on to later ones. Nothing of it may fail
// a run: what does not work is said in a line on the standard error output.
#pragma once
#include <fairlead/config.hpp>

#include <optional>
#include <string>

#include "machine/machine.hpp"
#include "model/machine_file.hpp"

namespace fairlead::front {

class MachineMemory {
 public:
  /// The settings cache-directory and keep-durations decide what is read, and where.
  MachineMemory(const Config& config, const machine::Machine& machine);

  const model::KeptDurations& durations() const noexcept { return facts_.durations; }
  /// Gives measured links their figures; a cap on the disk stays one.
  void use_links(Topology& topology) const;
  /// Keeps what a model that has started with durations() has learned.
  void keep(const model::KeptDurations& learned) const noexcept;

 private:
  std::string disk_directory_;
  std::optional<double> disk_cap_;  // bytes per second
  bool keep_durations_;
  std::optional<model::MachineFile> file_;  // none without a directory for it
  model::MachineFacts facts_;
};

/// Where the nodes of this link are, as measurements name it (model::KeptLink::place): a disk by its file
/// system, all else by nothing.
std::string place_of_link(const Topology& topology, const LinkSpec& link, const std::string& disk_directory);

}  // namespace fairlead::front
