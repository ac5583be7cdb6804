// See kept_measurements.hpp.
#include "front/runtime/kept_measurements.hpp"

#include "machine/disk.hpp"
#include "machine/identity.hpp"

namespace fairlead::front {

KeptMeasurements::KeptMeasurements(const Config& config, const machine::Machine& machine)
    : disk_directory(config.text("disk-directory")) {
  const std::string directory = config.text_or("cache-directory", "");
  if (directory.empty()) return;
  file.emplace(directory, machine::identity_of(machine).text());
  facts = file->load();
}

const model::KeptLink* KeptMeasurements::link(const Topology& topology, const LinkSpec& link) const {
  return model::find_link(facts.links, topology, link, place_of_link(topology, link, disk_directory));
}

bool joins_disk(const Topology& topology, const LinkSpec& link) {
  return topology.nodes[index(link.first)].name == "disk" ||
         topology.nodes[index(link.second)].name == "disk";
}

std::string place_of_link(const Topology& topology, const LinkSpec& link, const std::string& disk_directory) {
  return joins_disk(topology, link) ? machine::disk_label(disk_directory) : std::string();
}

}  // namespace fairlead::front
