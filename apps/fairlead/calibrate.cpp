// fairlead calibrate: measures the links between memory nodes once, and keeps the figures for later runs on
// this machine.
#include <unistd.h>

#include <fairlead/error.hpp>
#include <fairlead/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "backend/cpu/measure_memory.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/device_list.hpp"
#include "backend/disk/measure_disk.hpp"
#include "backend/opencl/driver.hpp"
#include "base/core_time.hpp"
#include "base/json.hpp"
#include "fairlead/devices/measure_devices.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/kept_facts.hpp"
#include "fairlead/problem/kernel_environment.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/disk.hpp"
#include "machine/machine.hpp"
#include "report/report_file.hpp"
#include "report/units.hpp"

namespace fairlead::app {

namespace {

constexpr Setting options[] = {
    {.key = "again",
     .type = SettingType::flag,
     .default_value = "false",
     .help = "measure again what earlier runs have measured"},
    {.key = "amount",
     .type = SettingType::size,
     .default_value = "1GiB",
     .minimum = "16MiB",
     .help = "amount written to and read from the disk, four times"},
    {.key = "machine-file",
     .type = SettingType::text,
     .value_name = "FILE.toml",
     .help = "write the measurements of devices, cores and disk as a machine file for `fairlead simulate "
             "--machine`",
     .advanced = true},
    {.key = "tiles",
     .type = SettingType::text,
     .default_value = "256,512,1024,2048",
     .value_name = "SIDES",
     .help =
         "tile sides for which kernels are measured on devices and cores; those that do not fit are skipped",
     .advanced = true},
    {.key = "precision",
     .type = SettingType::choice,
     .default_value = "both",
     .choices = "both|single|double",
     .help = "precision of these tiles"},
};

constexpr AcceptedSetting settings[] = {
    {.key = "disk-directory", .help = "where the disk is measured (default\t.)"},
    {.key = "disk-threads"},
    {.key = "workers"},
    {.key = "devices",
     .help = "measure the links and kernels of these devices while all of them and the workers compute; "
             "none: no device (default\tall GPUs)"},
    {.key = "memory",
     .help = "limit of RAM while devices are measured (default\t2GiB, or half of the free memory)"},
    {.key = "blas"},
    {.key = "blas-coretype"},
    {.key = "blas-products"},
    {.key = "cuda-kernels"},
    {.key = "bind-threads"},
    {.key = "cache-directory"},
    {.key = "progress", .help = "none: do not print the current measurement"},
    {.key = "json", .help = "write the figures to this file (default\tnone)"},
};

class Measurer {
 public:
  explicit Measurer(const Config& config) : config_(config) {}

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
    // More than half of the time: the result is then a guess.
    constexpr double most_without_core = 0.5;
    if (figures.without_core > most_without_core)
      disturbed_ = fmt::format(
          "the threads that measured {} had no core for {:.0f} % of the time, because other programs used "
          "them",
          disk.directory, 100 * figures.without_core);
    if (disk.in_memory) fmt::print(stderr, "disk of {}: this is memory, not a disk\n", disk.directory);
    const bool reading_is_to_second = first == "disk";
    return made(first, second, machine::disk_label(directory),
                reading_is_to_second ? figures.read : figures.written,
                reading_is_to_second ? figures.written : figures.read, figures.both, figures.latency);
  }
  model::KeptLink memory(const std::string& first, const std::string& second) {
    if (config_.text("progress") != "none") fmt::print(stderr, "memory: copying\n");
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

  const Config& config_;
  std::string disturbed_;
};

std::vector<int> tiles_in(const Config& config) {
  std::vector<int> tiles;
  const std::string& text = config.text("tiles");
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    int side = 0;
    const auto [stopped, error] = std::from_chars(text.data() + at, text.data() + end, side);
    if (error != std::errc() || stopped != text.data() + end || side < 16 || side > 8192 ||
        (!tiles.empty() && side <= tiles.back()))
      throw ConfigError(fmt::format(
          "--tiles {}: give increasing sides from 16 to 8192, separated by commas, as in 512,1024", text));
    tiles.push_back(side);
    at = end + 1;
  }
  return tiles;
}

/// All GPUs of this machine, as a list, with a part of their memory; empty: none.
std::string gpus_that_are_there() {
  constexpr Bytes enough = Bytes{4} << 30;
  std::string list;
  const auto add = [&](std::string_view kind, std::size_t number, Bytes memory) {
    list += fmt::format("{}{}:{},memory={}MiB", list.empty() ? "" : " + ", kind, number,
                        std::min(memory / 2, enough) >> 20);
  };
  const backend::cu::CudaDevices cuda = backend::cu::find_devices();
  for (std::size_t i = 0; i < cuda.devices.size(); ++i) add("cuda", i, cuda.devices[i].memory_bytes);
  if (!list.empty()) return list;  // OpenCL would name them again
  const backend::cl::OpenclDevices opencl = backend::cl::find_devices();
  for (std::size_t i = 0; i < opencl.devices.size(); ++i)
    if (opencl.devices[i].is_gpu) add("opencl", i, opencl.devices[i].largest_buffer_bytes);
  return list;
}

/// The devices to measure, as a list; empty: none. Throws ConfigError for errors that are known before the
/// measurements.
std::string devices_to_measure(const Config& config) {
  tiles_in(config);
  std::string list = config.text_or("devices", "auto");
  if (list == "auto") list = gpus_that_are_there();
  if (list == "none") list.clear();
  if (!list.empty()) backend::workers_of_devices(list, backend::default_backends());
  return list;
}

/// The figures of devices and cores. None without devices or a machine file: cores alone are for a machine
/// file.
std::optional<MachineFigures> measure_the_devices(const Config& given, const std::string& list,
                                                  const model::KeptLinks& links) {
  if (list.empty() && !given.has("machine-file")) return {};
  Config config = given;
  config.set("devices", list.empty() ? "none" : list);
  config.set("scheduler", "eager");
  if (!config.has("memory"))
    config.set("memory", std::min(machine::discover().memory.usable_bytes() / 2, Bytes{2} << 30));
  MeasureSettings how;
  how.tiles = tiles_in(config);
  const std::string& precision = config.text("precision");
  for (const char* one : {"double", "single"})
    if (precision == "both" || precision == one) how.precisions.emplace_back(one);
  if (config.text("progress") != "none")
    how.report = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  Config of_kernels = config;
  const linalg::Kernels kernels = solver::load_kernels(of_kernels, kernel_environment());
  MachineFigures figures = measure_devices(config, kernels, how);
  for (const model::KeptLink& link : links)
    if (link.first == "disk" || link.second == "disk") {
      const bool reads_to_second = link.first == "disk";
      figures.disk = {reads_to_second ? link.to_second : link.to_first,
                      reads_to_second ? link.to_first : link.to_second,
                      static_cast<double>(link.latency_ns) * 1e-9};
    }
  return figures;
}

std::string name_of_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "here";
}

int run(const ParsedCommandLine& given) {
  const Config& config = given.config;
  if (config.has("machine-file")) report::require_place_for(config.text("machine-file"));
  const std::string devices_to_see = devices_to_measure(config);
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
      if (measurer.disturbed().empty()) measured.push_back(*now);
    }
  }
  print_links(all);
  std::string not_kept = measurer.disturbed();
  if (!measured.empty()) {
    if (known.file) try {
        known.file->put(measured);
      } catch (const SystemError& error) {
        not_kept = error.what();
      }
    else if (not_kept.empty())
      not_kept = "no directory is set (--cache-directory)";
  }
  if (!not_kept.empty())
    fmt::print("Not kept for later runs: {}\n", not_kept);
  else if (measured.empty())
    fmt::print("All of it was measured before; --again measures it again.\n");
  else
    fmt::print("Kept for later runs in {}.\n", known.file->path().string());
  const std::optional<MachineFigures> devices = measure_the_devices(config, devices_to_see, all);
  Json json = Json::object({{"links", links_json(all)}});
  if (devices) {
    fmt::print("\n{}", figures_text(*devices));
    json.add("measured", figures_json(*devices));
    if (config.has("machine-file")) {
      const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
      const std::string busy =
          devices->without_core <= disturbed_from
              ? ""
              : fmt::format("; other programs used the cores for {:.0f} % of the time, so rates are too low",
                            100 * devices->without_core);
      if (!busy.empty())
        fmt::print(stderr, "fairlead: {}: measure again when the machine is idle\n", busy.substr(2));
      const std::string source = fmt::format(
          "measured by fairlead calibrate {} on {}, --devices '{}', {} workers, all computing at the same "
          "time{}",
          version(), model::date_text(static_cast<std::int32_t>(today.time_since_epoch().count())),
          config.text_or("devices", "auto"), devices->cores, busy);
      report::write_file(config.text("machine-file"), machine_file(*devices, name_of_machine(), source));
      fmt::print("\nFor fairlead simulate --machine: {}\n", config.text("machine-file"));
    }
  }
  if (config.has("json")) write_json(config.text("json"), json);
  return success;
}

}  // namespace

const Subcommand calibrate{
    .name = "calibrate",
    .summary = "Measures disk, memory and devices once; later runs and the simulator use the results.",
    .positionals = {},
    .options = options,
    .run = run,
    .settings = settings};

}  // namespace fairlead::app
