// Loads and stores measurements of the machine. See machine_profile.hpp.
#include "front/runtime/machine_profile.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <chrono>

#include "base/log.hpp"

namespace fairlead::front {

namespace {

std::int32_t today() {
  const auto now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return static_cast<std::int32_t>(now.time_since_epoch().count());
}

}  // namespace

MachineProfile::MachineProfile(const Config& config, const machine::Machine& machine)
    : kept_(config, machine), keep_durations_(config.flag("keep-durations")) {
  if (config.has("disk-bandwidth"))
    disk_cap_ = static_cast<double>(config.bandwidth_bytes_per_second("disk-bandwidth"));
  if (!kept_.facts.problem.empty()) log_once("fairlead: " + kept_.facts.problem + '\n');
  if (!keep_durations_) kept_.facts.durations.clear();
}

void MachineProfile::use_links(Topology& topology) const {
  if (!links().empty())
    model::use_measured(topology, links(), [this](const Topology& all, const LinkSpec& link) {
      return place_of_link(all, link, kept_.disk_directory);
    });
  if (!disk_cap_) return;
  for (LinkSpec& link : topology.links)
    if (joins_disk(topology, link)) link.bytes_per_second = in_series(link.bytes_per_second, *disk_cap_);
}

void MachineProfile::keep(const model::KeptDurations& learned) const noexcept {
  if (!kept_.file || !keep_durations_ || learned.empty()) return;
  if (!model::MachineFile::is_worth_writing(learned, durations())) return;
  try {
    kept_.file->add(learned, durations(), today());
  } catch (const std::exception& error) {
    log_message("fairlead: how long tasks took is not kept for later runs: {}\n", error.what());
  }
}

}  // namespace fairlead::front
