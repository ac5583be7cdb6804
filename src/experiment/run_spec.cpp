// From an experiment's settings to one run.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <charconv>
#include <cmath>

#include "experiment/experiment.hpp"

namespace fairlead::experiment {

namespace {

std::string number_text(double x) {
  return x == std::floor(x) ? fmt::format("{:.0f}", x) : fmt::format("{}", x);
}

std::int64_t whole(const std::string& key, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    throw ConfigError(
        fmt::format("the setting {} of an experiment is \"{}\", but must be a whole number", key, text));
  return value;
}

double positive(std::string_view key, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0 && value < 1e6))
    throw ConfigError(
        fmt::format("the setting {} of an experiment is \"{}\", but must be a positive number", key, text));
  return value;
}

}  // namespace

std::string RunSpec::text() const {
  const auto optional = [](const auto& value) { return value ? std::to_string(*value) : std::string("-"); };
  return fmt::format(
      "machine={} workload={} n={} tile={} precision={} scheduler={} gpus={} cores={} streams={} memory={} "
      "host_memory={} data={} advice={} memory_model={} device_bandwidth={} peers={} seed={} "
      "noise={} depth={}",
      machine, workload, n, tile, precision, scheduler, optional(gpus), optional(cores), optional(streams),
      memory, host_memory, data, advice, memory_model, device_gigabytes_per_second, peers, seed,
      noise_percent, pipeline_depth);
}

RunSpec run_of(const Experiment& experiment, const Line& line, double x) {
  std::map<std::string, std::string> settings = experiment.settings;
  settings["scheduler"] = line.scheduler;
  for (const auto& [key, value] : line.other) settings[key] = value;
  settings[experiment.sweep] = number_text(x);
  // "{x}" in a name's options is the value of the sweep.
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
    throw ConfigError(fmt::format("the experiment {} names no machine or no workload", experiment.name));
  run.precision = text("precision", "double");
  run.scheduler = text("scheduler", "");
  run.memory = text("memory", "");
  run.host_memory = text("host_memory", "");
  run.data = text("data", "");
  run.advice = text("advice", "");
  run.peers = text("peers", "yes");
  if (run.peers != "yes" && run.peers != "no")
    throw ConfigError(
        fmt::format("the setting peers of an experiment is \"{}\", but must be yes or no", run.peers));
  run.memory_model = text("memory_model", "");
  run.tile = whole("tile", text("tile", "1920"));
  run.n =
      settings.contains("tiles") ? whole("tiles", settings["tiles"]) * run.tile : whole("n", text("n", "0"));
  if (settings.contains("gpus")) run.gpus = static_cast<std::size_t>(whole("gpus", settings["gpus"]));
  if (settings.contains("cores")) run.cores = static_cast<std::size_t>(whole("cores", settings["cores"]));
  if (settings.contains("streams"))
    run.streams = static_cast<unsigned>(whole("streams", settings["streams"]));
  if (settings.contains("device_gigabytes_per_second"))
    run.device_gigabytes_per_second =
        positive("device_gigabytes_per_second", settings["device_gigabytes_per_second"]);
  run.noise_percent = static_cast<unsigned>(whole("noise", text("noise", "0")));
  run.pipeline_depth = static_cast<unsigned>(whole("depth", text("depth", "0")));
  return run;
}

std::vector<std::pair<double, RunSpec>> runs_of_point(const Experiment& experiment, const Line& line,
                                                      double x, bool quick) {
  if (quick) return {{x, run_of(experiment, line, x)}};
  std::vector<std::pair<double, RunSpec>> runs;
  for (const double off : experiment.around)
    for (unsigned seed = 1; seed <= experiment.runs; ++seed)
      runs.emplace_back(x + off, run_of(experiment, line, x + off)).second.seed = seed;
  return runs;
}

}  // namespace fairlead::experiment
