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

#include "backend/device_list.hpp"
#include "base/core_time.hpp"
#include "base/json.hpp"
#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/subcommand.hpp"
#include "front/runtime/kept_measurements.hpp"
#include "machine/machine.hpp"
#include "report/kept_links.hpp"
#include "report/report_file.hpp"
#include "simulate/measured/measure_devices.hpp"
#include "simulate/measured/measure_links.hpp"

namespace fairlead::app {

using simulate::MachineFigures;
using simulate::MeasureSettings;

namespace {

constexpr Setting options[] = {
    flag("again", "measure again what earlier runs have measured"),
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

void print_line(const std::string& text) { fmt::print(stderr, "{}\n", text); }

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

/// The devices to measure, as a list; empty: none. Throws ConfigError for errors that are known before the
/// measurements.
std::string devices_to_measure(const Config& config) {
  tiles_in(config);
  std::string list = config.text_or("devices", "auto");
  if (list == "auto") list = simulate::list_gpus();
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
  if (config.text("progress") != "none") how.report = print_line;
  Config of_kernels = config;
  const linalg::Kernels kernels = solver::load_kernels(of_kernels, kernel_environment());
  MachineFigures figures = simulate::measure_devices(config, kernels, how);
  figures.disk = simulate::disk_figures(links);
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
  const machine::Machine machine = machine::discover();
  const front::KeptMeasurements known(config, machine);
  if (!known.facts.problem.empty()) fmt::print(stderr, "fairlead: {}\n", known.facts.problem);
  simulate::LinkMeasurement how{.disk_bytes = config.bytes("amount"),
                                .disk_threads = static_cast<unsigned>(config.count("disk-threads")),
                                .again = config.flag("again"),
                                .remark = print_line};
  if (config.text("progress") != "none") how.progress = print_line;
  const simulate::MeasuredLinks links = simulate::measure_links(
      out_of_core_topology(config.count_or("workers", machine.workers), 1, 1, {}), known, how);
  fmt::print("{}", report::links_text(links.all));
  std::string not_kept = links.disturbed;
  if (!links.to_keep.empty()) {
    if (known.file) try {
        known.file->put(links.to_keep);
      } catch (const SystemError& error) {
        not_kept = error.what();
      }
    else if (not_kept.empty())
      not_kept = "no directory is set (--cache-directory)";
  }
  if (!not_kept.empty())
    fmt::print("Not kept for later runs: {}\n", not_kept);
  else if (links.to_keep.empty())
    fmt::print("All of it was measured before; --again measures it again.\n");
  else
    fmt::print("Kept for later runs in {}.\n", known.file->path().string());
  const std::optional<MachineFigures> devices = measure_the_devices(config, devices_to_see, links.all);
  Json json = Json::object({{"links", report::links_json(links.all)}});
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
