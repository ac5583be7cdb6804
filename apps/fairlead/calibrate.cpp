// fairlead calibrate: measures the links between memory nodes once, and keeps the figures for all later runs
// on this machine.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "backend/cpu/measure_memory.hpp"
#include "backend/disk/measure_disk.hpp"
#include "base/json.hpp"
#include "fairlead/dense_report.hpp"
#include "fairlead/kept_facts.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/disk.hpp"
#include "machine/machine.hpp"
#include "report/units.hpp"

namespace fairlead::app {

namespace {

constexpr Setting options[] = {
    {.key = "again",
     .type = SettingType::flag,
     .fallback = "false",
     .help = "measure again what earlier runs have measured"},
    {.key = "amount",
     .type = SettingType::size,
     .fallback = "1GiB",
     .minimum = "16MiB",
     .help = "how much is written to the disk and read from it, four times over"},
};

constexpr TakenSetting settings[] = {
    {.key = "disk-directory", .help = "where the disk is measured (default\t.)"},
    {.key = "disk-threads"},
    {.key = "workers"},
    {.key = "cache-directory"},
    {.key = "progress", .help = "none: what is being measured is not said"},
    {.key = "json", .help = "write the figures to this file (default\tnone)"},
};

class Measurer {
 public:
  explicit Measurer(const Config& config) : config_(config) {}

  /// Nothing if this link is not one that can be measured.
  std::optional<model::KeptLink> measure(const Topology& topology, const LinkSpec& link) {
    const std::string& first = topology.nodes[index(link.first)].name;
    const std::string& second = topology.nodes[index(link.second)].name;
    if (first == "disk" || second == "disk") return disk(first, second);
    if ((first == "RAM" || second == "RAM") && (first == "user memory" || second == "user memory"))
      return memory(first, second);
    return {};
  }

 private:
  model::KeptLink disk(const std::string& first, const std::string& second) {
    const std::string& directory = config_.text("disk-directory");
    const machine::Disk disk = machine::disk_of(directory);
    backend::DiskMeasurement how;
    how.threads = static_cast<unsigned>(config_.count("disk-threads"));
    const Bytes wanted = std::min(config_.bytes("amount"), disk.free_bytes / 2);
    how.bytes = std::max<Bytes>(wanted / how.piece, 4) * how.piece;
    const auto figures = backend::measure_disk(directory, how, [&](std::string_view part) {
      if (config_.text("progress") != "none") fmt::print(stderr, "disk of {}: {}\n", disk.directory, part);
    });
    if (!figures.direct)
      fmt::print(stderr, "disk of {}: no direct I/O, the page cache was emptied instead\n", disk.directory);
    if (disk.in_memory) fmt::print(stderr, "disk of {}: this is memory, not a disk\n", disk.directory);
    const bool reading_is_to_second = first == "disk";
    return made(first, second, machine::place_of_disk(directory),
                reading_is_to_second ? figures.read : figures.written,
                reading_is_to_second ? figures.written : figures.read, figures.both, figures.latency);
  }
  model::KeptLink memory(const std::string& first, const std::string& second) {
    if (config_.text("progress") != "none") fmt::print(stderr, "memory: copying\n");
    const auto figures = backend::measure_memory();
    return made(first, second, "", figures.copied, figures.copied, figures.both, figures.latency);
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

  const Config& config_;
};

int run(const ParsedCommandLine& given) {
  const Config& config = given.config;
  const KeptFacts known(config, machine::discover());
  if (!known.facts.problem.empty()) fmt::print(stderr, "fairlead: {}\n", known.facts.problem);
  const Topology topology = known.topology(config);
  Measurer measurer(config);
  model::KeptLinks all, measured;
  for (const LinkSpec& link : topology.links) {
    const model::KeptLink* kept = known.link(topology, link);
    if (kept != nullptr && !config.flag("again")) {
      all.push_back(*kept);
    } else if (auto now = measurer.measure(topology, link)) {
      all.push_back(*now);
      measured.push_back(*now);
    }
  }
  print_links(all);
  std::string not_kept;
  if (!measured.empty()) {
    if (known.file) try {
        known.file->put(measured);
      } catch (const SystemError& error) {
        not_kept = error.what();
      }
    else
      not_kept = "there is no directory for it (--cache-directory)";
  }
  if (!not_kept.empty())
    fmt::print("Not kept for later runs: {}\n", not_kept);
  else if (measured.empty())
    fmt::print("All of it was measured before; --again measures it anew.\n");
  else
    fmt::print("Kept for later runs in {}.\n", known.file->path().string());
  if (config.has("json")) write_json(config.text("json"), Json::object({{"links", links_json(all)}}));
  return success;
}

}  // namespace

const Subcommand calibrate{
    .name = "calibrate",
    .summary = "Measures the disk and the memory once, so that later runs know how long copies take.",
    .positionals = {},
    .options = options,
    .run = run,
    .settings = settings};

}  // namespace fairlead::app
