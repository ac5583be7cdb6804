// Loads and stores measurements of the machine. See machine_profile.hpp.
#include "front/runtime/machine_profile.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/log.hpp"
#include "machine/disk.hpp"
#include "machine/identity.hpp"

namespace fairlead::front {

namespace {

bool joins_disk(const Topology& topology, const LinkSpec& link) {
  return topology.nodes[index(link.first)].name == "disk" ||
         topology.nodes[index(link.second)].name == "disk";
}

std::int32_t today() {
  const auto now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return static_cast<std::int32_t>(now.time_since_epoch().count());
}

}  // namespace

std::string place_of_link(const Topology& topology, const LinkSpec& link, const std::string& disk_directory) {
  return joins_disk(topology, link) ? machine::disk_label(disk_directory) : std::string();
}

MachineProfile::MachineProfile(const Config& config, const machine::Machine& machine)
    : disk_directory_(config.text("disk-directory")), keep_durations_(config.flag("keep-durations")) {
  if (config.has("disk-bandwidth"))
    disk_cap_ = static_cast<double>(config.bandwidth_bytes_per_second("disk-bandwidth"));
  const std::string directory = config.text_or("cache-directory", "");
  if (directory.empty()) return;
  file_.emplace(directory, machine::identity_of(machine).text());
  facts_ = file_->load();
  if (!facts_.problem.empty()) log_once("fairlead: " + facts_.problem + '\n');
  if (!keep_durations_) facts_.durations.clear();
}

void MachineProfile::use_links(Topology& topology) const {
  if (!facts_.links.empty())
    model::use_measured(topology, facts_.links, [this](const Topology& all, const LinkSpec& link) {
      return place_of_link(all, link, disk_directory_);
    });
  if (!disk_cap_) return;
  for (LinkSpec& link : topology.links)
    if (joins_disk(topology, link)) link.bytes_per_second = in_series(link.bytes_per_second, *disk_cap_);
}

void MachineProfile::keep(const model::KeptDurations& learned) const noexcept {
  if (!file_ || !keep_durations_ || learned.empty()) return;
  if (!model::MachineFile::is_worth_writing(learned, facts_.durations)) return;
  try {
    file_->add(learned, facts_.durations, today());
  } catch (const std::exception& error) {
    log_message("fairlead: how long tasks took is not kept for later runs: {}\n", error.what());
  }
}

}  // namespace fairlead::front
