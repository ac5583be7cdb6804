// See measure_links.hpp.
#include "simulate/measured/measure_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "backend/cpu/measure_memory.hpp"
#include "backend/disk/measure_disk.hpp"
#include "machine/disk.hpp"

namespace fairlead::simulate {

namespace {

class LinkMeasurer {
 public:
  LinkMeasurer(const std::string& disk_directory, const LinkMeasurement& how)
      : directory_(disk_directory), how_(how) {}

  /// Nothing if this link cannot be measured.
  std::optional<model::KeptLink> measure(const Topology& topology, const LinkSpec& link) {
    const std::string& first = topology.nodes[index(link.first)].name;
    const std::string& second = topology.nodes[index(link.second)].name;
    if (first == "disk" || second == "disk") return disk(first, second);
    if ((first == "RAM" || second == "RAM") && (first == "user memory" || second == "user memory"))
      return memory(first, second);
    return {};
  }

  /// Why the last measurement is unreliable, if other programs used the cores; empty if it is reliable.
  const std::string& disturbed() const noexcept { return disturbed_; }

 private:
  model::KeptLink disk(const std::string& first, const std::string& second) {
    const machine::Disk disk = machine::disk_of(directory_);
    const std::string name = "disk of " + disk.directory;
    backend::DiskMeasurement how;
    how.threads = how_.disk_threads;
    const Bytes wanted = std::min(how_.disk_bytes, disk.free_bytes / 2);
    how.bytes = std::max<Bytes>(wanted / how.piece, 4) * how.piece;
    const auto figures = backend::measure_disk(
        directory_, how, [&](std::string_view part) { how_.progress(fmt::format("{}: {}", name, part)); });
    if (!figures.direct) how_.remark(name + ": no direct I/O, the page cache was emptied instead");
    // More than half of the time: the result is then a guess.
    constexpr double most_without_core = 0.5;
    if (figures.without_core > most_without_core)
      disturbed_ = fmt::format(
          "the threads that measured {} had no core for {:.0f} % of the time, because other programs used "
          "them",
          disk.directory, 100 * figures.without_core);
    if (disk.in_memory) how_.remark(name + ": this is memory, not a disk");
    const bool reading_is_to_second = first == "disk";
    return made(first, second, machine::disk_label(directory_),
                reading_is_to_second ? figures.read : figures.written,
                reading_is_to_second ? figures.written : figures.read, figures.both, figures.latency);
  }
  model::KeptLink memory(const std::string& first, const std::string& second) {
    how_.progress("memory: copying");
    const auto figures = backend::measure_memory();
    return made(first, second, "", figures.copy_rate, figures.copy_rate, figures.duplex_rate,
                figures.latency);
  }
  static model::KeptLink made(const std::string& first, const std::string& second, const std::string& place,
                              double to_second, double to_first, double both, Duration latency) {
    const auto now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    return {first,
            second,
            place,
            std::max<std::uint64_t>(static_cast<std::uint64_t>(to_second), 1),
            std::max<std::uint64_t>(static_cast<std::uint64_t>(to_first), 1),
            static_cast<std::uint64_t>(both),
            latency.count(),
            static_cast<std::int32_t>(now.time_since_epoch().count())};
  }

  const std::string& directory_;
  const LinkMeasurement& how_;
  std::string disturbed_;
};

}  // namespace

MeasuredLinks measure_links(const Topology& topology, const front::KeptMeasurements& kept,
                            const LinkMeasurement& how) {
  LinkMeasurer measurer(kept.disk_directory, how);
  MeasuredLinks links;
  for (const LinkSpec& link : topology.links) {
    const model::KeptLink* earlier = kept.link(topology, link);
    if (earlier != nullptr && !how.again) {
      links.all.push_back(*earlier);
    } else if (const auto now = measurer.measure(topology, link)) {
      links.all.push_back(*now);
      if (measurer.disturbed().empty()) links.to_keep.push_back(*now);
    }
  }
  links.disturbed = measurer.disturbed();
  return links;
}

std::optional<MachineFigures::Disk> disk_figures(const model::KeptLinks& links) {
  std::optional<MachineFigures::Disk> disk;
  for (const model::KeptLink& link : links)
    if (link.first == "disk" || link.second == "disk") {
      const bool reads_to_second = link.first == "disk";
      disk = {reads_to_second ? link.to_second : link.to_first,
              reads_to_second ? link.to_first : link.to_second, static_cast<double>(link.latency_ns) * 1e-9};
    }
  return disk;
}

}  // namespace fairlead::simulate
