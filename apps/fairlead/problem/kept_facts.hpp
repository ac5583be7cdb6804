// The measurements of earlier runs on this machine, for subcommands that show or renew them.
#pragma once
#include <fairlead/config.hpp>

#include <optional>
#include <string>

#include "base/json.hpp"
#include "machine/machine.hpp"
#include "model/machine_file.hpp"

namespace fairlead::app {

struct KeptFacts {
  KeptFacts(const Config& config, const machine::Machine& machine);

  /// The memory nodes and links of a run with these settings.
  Topology topology(const Config& config) const;
  /// The measurement of this link; null: none.
  const model::KeptLink* link(const Topology& topology, const LinkSpec& link) const;

  std::string disk_directory;
  unsigned workers;
  std::optional<model::MachineFile> file;  ///< none without a cache-directory
  model::MachineMeasurements facts;
};

/// One row for each link.
void print_links(const model::KeptLinks& links);
Json links_json(const model::KeptLinks& links);

}  // namespace fairlead::app
