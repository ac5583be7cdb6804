// Translates the settings of an experiment to the specification of one run.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "base/suggest.hpp"
#include "experiment/experiment.hpp"

namespace fairlead::experiment {

namespace {

std::string number_text(double x) {
  return x == std::floor(x) ? fmt::format("{:.0f}", x) : fmt::format("{}", x);
}

constexpr std::int64_t most_processors = 4096;
constexpr std::int64_t most_tiles = 1'000'000, largest_tile = 1'000'000'000;  // the product fits in 63 bits

std::int64_t integer_in_range(std::int64_t least, std::int64_t most, const std::string& key,
                              const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw ConfigError(
        fmt::format("the setting {} of an experiment is \"{}\", but must be a whole number from {} to {}",
                    key, text, least, most));
  return value;
}

double positive_number(std::string_view key, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0 && value < 1e6))
    throw ConfigError(
        fmt::format("the setting {} of an experiment is \"{}\", but must be a positive number", key, text));
  return value;
}

std::string one_of(const std::string& key, const std::string& text,
                   std::initializer_list<std::string_view> words) {
  if (std::ranges::find(words, text) == words.end())
    throw ConfigError(fmt::format("the setting {} of an experiment is \"{}\", but must be {}{}", key, text,
                                  fmt::join(words, ", "), did_you_mean(text, std::vector(words))));
  return text;
}

}  // namespace

std::string RunSpec::text() const {
  const auto optional = [](const auto& value) { return value ? std::to_string(*value) : std::string("-"); };
  const std::string one_node = fmt::format(
      "machine={} workload={} n={} tile={} precision={} scheduler={} gpus={} cores={} streams={} memory={} "
      "host_memory={} data={} advice={} priorities={} memory_model={} device_bandwidth={} peers={} seed={} "
      "noise={} depth={} slow={} misjudged={}",
      machine, workload, n, tile, precision, scheduler, optional(gpus), optional(cores), optional(streams),
      memory, host_memory, data, advice, priorities, memory_model, device_gigabytes_per_second, peers, seed,
      noise_percent, pipeline_depth, slow, misjudged);
  if (ranks == 0) return one_node;
  std::string over_ranks =
      fmt::format("{} ranks={} grid={} network={} latency={} panels={}", one_node, ranks, grid,
                  network_bandwidth_times, network_latency_times, panel_rates_times);
  if (ranks_per_node != 1) over_ranks += fmt::format(" ranks_per_node={}", ranks_per_node);
  if (receive_into != "host") over_ranks += fmt::format(" receive_into={}", receive_into);
  if (!eager_limit.empty()) over_ranks += fmt::format(" eager_limit={}", eager_limit);
  return over_ranks;
}

namespace {

constexpr std::int64_t most_ranks = 4096;

/// Reads the settings that require the setting `ranks`.
void read_ranks(const std::map<std::string, std::string>& settings, RunSpec& run) {
  const auto find = [&](const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? nullptr : &found->second;
  };
  const std::string* const total_cores = find("cores_in_all");
  const std::int64_t cores = total_cores == nullptr ? 0
                                                    : integer_in_range(1, most_ranks * most_processors,
                                                                       "cores_in_all", *total_cores);
  const auto cores_per_part = [&](std::int64_t parts) {
    if (cores % parts != 0)
      throw ConfigError(fmt::format("{} cores in all cannot be divided by {}", cores, parts));
    return cores / parts;
  };
  if (const std::string* const ranks = find("ranks")) {
    run.ranks = static_cast<std::uint32_t>(integer_in_range(1, most_ranks, "ranks", *ranks));
    if (total_cores != nullptr) run.cores = static_cast<std::size_t>(cores_per_part(run.ranks));
  } else if (total_cores != nullptr && run.cores.value_or(0) != 0) {
    run.ranks = static_cast<std::uint32_t>(cores_per_part(static_cast<std::int64_t>(*run.cores)));
  }
  for (const char* const key :
       {"grid", "cores_in_all", "tiles_of_one_rank", "network_bandwidth_times", "network_latency_times",
        "panel_rates_times", "ranks_per_node", "receive_into", "eager_limit"})
    if (run.ranks == 0 && find(key) != nullptr)
      throw ConfigError(
          fmt::format("the setting {} of an experiment has no effect without the setting ranks", key));
  if (const std::string* const grid = find("grid")) run.grid = *grid;
  if (const std::string* const ranks = find("ranks_per_node"))
    run.ranks_per_node = static_cast<std::size_t>(integer_in_range(1, 64, "ranks_per_node", *ranks));
  const std::string* const into = find("receive_into");
  run.receive_into = one_of("receive_into", into == nullptr ? "host" : *into, {"host", "advised", "random"});
  if (const std::string* const limit = find("eager_limit")) run.eager_limit = *limit;
  if (const std::string* const tiles = find("tiles_of_one_rank"))
    run.n = run.tile *
            std::llround(static_cast<double>(integer_in_range(1, most_tiles, "tiles_of_one_rank", *tiles)) *
                         std::sqrt(static_cast<double>(run.ranks)));
  if (const std::string* const times = find("network_bandwidth_times"))
    run.network_bandwidth_times = positive_number("network_bandwidth_times", *times);
  if (const std::string* const times = find("network_latency_times"))
    run.network_latency_times = positive_number("network_latency_times", *times);
  if (const std::string* const times = find("panel_rates_times"))
    run.panel_rates_times = positive_number("panel_rates_times", *times);
}

}  // namespace

RunSpec run_of(const Experiment& experiment, const Line& line, double x) {
  std::map<std::string, std::string> settings = experiment.settings;
  settings["scheduler"] = line.scheduler;
  for (const auto& [key, value] : line.other) settings[key] = value;
  // In the value of any setting, "{x}" stands for the value of the sweep. A swept setting without "{x}" is
  // replaced by that value, unless the line overrides it.
  std::string& swept = settings[experiment.sweep];
  if (swept.find("{x}") == swept.npos && !line.other.contains(experiment.sweep)) swept = number_text(x);
  for (auto& [key, value] : settings)
    if (const std::size_t at = value.find("{x}"); at != value.npos) value.replace(at, 3, number_text(x));

  const auto text = [&](const std::string& key, const std::string& otherwise) {
    const auto found = settings.find(key);
    return found == settings.end() ? otherwise : found->second;
  };
  RunSpec run;
  run.machine = text("machine", "");
  run.workload = text("workload", "");
  if (run.machine.empty() || run.workload.empty())
    throw ConfigError(fmt::format("the experiment {} needs both a machine and a workload", experiment.name));
  run.precision = one_of("precision", text("precision", "double"), {"single", "double"});
  run.scheduler = text("scheduler", "");
  run.memory = text("memory", "");
  run.host_memory = text("host_memory", "");
  if (settings.contains("data")) run.data = one_of("data", settings["data"], {"ram", "disk"});
  run.advice = text("advice", "");
  run.priorities = one_of("priorities", text("priorities", "program"), {"program", "time"});
  run.peers = one_of("peers", text("peers", "yes"), {"yes", "no"});
  run.memory_model = text("memory_model", "");
  run.slow = text("slow", "none") == "none" ? "" : settings["slow"];
  run.misjudged = text("misjudged", "none") == "none" ? "" : settings["misjudged"];
  run.tile = integer_in_range(1, largest_tile, "tile", text("tile", "1920"));
  run.n = settings.contains("tiles") ? integer_in_range(0, most_tiles, "tiles", settings["tiles"]) * run.tile
                                     : integer_in_range(0, most_tiles * largest_tile, "n", text("n", "0"));
  if (settings.contains("n_at_least")) {
    const std::int64_t least =
        integer_in_range(1, most_tiles * run.tile, "n_at_least", settings["n_at_least"]);
    run.n = (least + run.tile - 1) / run.tile * run.tile;
  }
  if (settings.contains("gpus"))
    run.gpus = static_cast<std::size_t>(integer_in_range(0, most_processors, "gpus", settings["gpus"]));
  if (settings.contains("cores"))
    run.cores = static_cast<std::size_t>(integer_in_range(0, most_processors, "cores", settings["cores"]));
  if (settings.contains("streams"))
    run.streams = static_cast<unsigned>(integer_in_range(1, 64, "streams", settings["streams"]));
  if (settings.contains("device_gigabytes_per_second"))
    run.device_gigabytes_per_second =
        positive_number("device_gigabytes_per_second", settings["device_gigabytes_per_second"]);
  run.noise_percent = static_cast<unsigned>(integer_in_range(0, 90, "noise", text("noise", "0")));
  run.pipeline_depth = static_cast<unsigned>(integer_in_range(0, 1024, "depth", text("depth", "0")));
  read_ranks(settings, run);
  return run;
}

}  // namespace fairlead::experiment
