// Reads them from the settings.
#include "simulate/study/simulation_settings.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <limits>

#include "config/given.hpp"
#include "config/value.hpp"
#include "schedule/policies.hpp"

namespace fairlead::simulate {

using config::is_on_command_line;
using config::is_set;

std::vector<std::string> policies_in(const std::string& written) {
  std::vector<std::string> names;
  if (written == "all") {
    for (const PolicyEntry& entry : schedule::policies()) names.emplace_back(entry.name);
    return names;
  }
  for (std::size_t begin = 0; begin <= written.size();) {
    const std::size_t end = std::min(written.find(',', begin), written.size());
    names.push_back(written.substr(begin, end - begin));
    if (names.back() != automatic) schedule::make_policy(names.back());  // refused before anything has run
    begin = end + 1;
  }
  return names;
}

std::vector<std::string> named(std::vector<std::string> policies, const Program& program,
                               const SimulatedMachine& machine) {
  std::ranges::replace(policies, automatic, default_policy_of(program, machine));
  return policies;
}

namespace {
void refuse_settings_without_effect(const Config& config, bool devices, bool on_disk) {
  const auto refuse = [&](std::string_view key, std::string_view why) {
    if (is_on_command_line(config, key))
      throw ConfigError(fmt::format("--{} has no effect here: {}", key, why));
  };
  constexpr std::string_view in_ram = "data are in RAM before the run; --data disk puts them on the disk";
  if (!on_disk) refuse("host-memory", in_ram);
  if (devices) return;
  if (!on_disk) refuse("memory", in_ram);
  if (is_on_command_line(config, "memory")) refuse("host-memory", "without devices --memory limits RAM");
  for (const char* key : {"streams", "device-bandwidth", "peers"}) refuse(key, "no device is used");
  if (config.text("advice") != "none") refuse("advice", "no device is used");
}

}  // namespace

MachineConfig use_of(const Config& config, const machine::MachineDescription& machine) {
  MachineConfig use;
  if (config.has("gpus")) use.devices = config.count("gpus");
  const bool devices = uses_devices(use, machine);
  use.cores = config.has("cores") ? config.count("cores") : devices ? 0 : machine.cores;
  if (config.has("streams")) use.streams = static_cast<unsigned>(config.count("streams"));
  if (config.has("host-memory")) use.host_memory = config.bytes("host-memory");
  use.peers = config.flag("peers");
  if (config.has("device-bandwidth"))
    use.device_bytes_per_second = static_cast<double>(config.bandwidth_bytes_per_second("device-bandwidth"));
  if (config.has("memory")) {
    // A share of a device differs from a share of this machine: the smallest device's memory counts.
    Bytes whole = machine.memory;
    if (devices)
      for (const machine::DeviceDescription& device : machine.devices)
        whole = &device == machine.devices.data() ? device.memory : std::min(whole, device.memory);
    const auto share = config::parse_share(config.written("memory"));
    (devices ? use.device_memory : use.host_memory) =
        share ? static_cast<Bytes>(*share * static_cast<double>(whole)) : config.bytes("memory");
  }
  use.memory_model = backend::find_memory_model(config.text("memory-model")).value();
  const std::string& data = config.text("data");
  const bool on_disk = data == "disk" || (data == "auto" && !devices && use.host_memory);
  use.data = on_disk ? DataHome::disk : DataHome::ram;
  refuse_settings_without_effect(config, devices, on_disk);
  return use;
}

Precision precision_in(const Config& config) {
  return config.text("precision") == "single" ? Precision::single : Precision::double_;
}

WorkloadSize size_of(const Config& config) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return {.n = static_cast<std::int64_t>(config.count("n")),
          .tile = static_cast<std::int64_t>(std::min<std::uint64_t>(config.count_or("tile", 1920), most)),
          .precision = precision_in(config)};
}

SimulationOptions simulation_options(const Config& config) {
  SimulationOptions how;
  how.seed = config.count("seed");
  how.noise_percent = static_cast<unsigned>(config.count("noise"));
  if (config.has("slow")) how.slow = slowdowns_in(config.text("slow"));
  if (config.has("misjudged")) how.misjudged = misjudged_in(config.text("misjudged"));
  how.advice = advice_in(config.text("advice"));
  how.priorities = config.text("priorities") == "time" ? Priorities::time : Priorities::program;
  how.first_run = config.flag("first-run");
  how.window = is_set(config, "window") ? config.count("window") : 0;
  how.pipeline_depth = config.count_or("pipeline-depth", 0);
  how.fixed_order = config.flag("fixed-order");
  how.charge_decisions = config.flag("charge-decisions");
  return how;
}

}  // namespace fairlead::simulate
