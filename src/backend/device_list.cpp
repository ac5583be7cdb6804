// Parses a device list.
#include "backend/device_list.hpp"

#include <fairlead/error.hpp>
#include <fairlead/setting.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/pages.hpp"
#include "base/suggest.hpp"
#include "config/value.hpp"
#include "machine/description.hpp"
#include "machine/system_files.hpp"

namespace fairlead::backend {

namespace {

using machine::max_devices, machine::trim;

constexpr std::string_view no_devices = "none", memory_option = "memory";
/// The option set by a bare number, as in "opencl:1", if the kind has this option.
constexpr std::string_view which_device = "device";
/// An option of devices of every kind.
constexpr Setting how_many{.key = "count",
                           .type = SettingType::count,
                           .default_value = "1",
                           .minimum = "1",
                           .maximum = "28",
                           .help = "number of such devices"};

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    result.push_back(trim(text.substr(0, end)));
    if (end == text.size()) return result;
    text.remove_prefix(end + 1);
  }
}

/// One value per option. Exponents such as "1e+9" are not accepted, so that a plus always separates devices.
std::vector<config::Value> values_of(std::string_view device, std::string_view text,
                                     std::span<const Setting> options) {
  std::vector<config::Value> values(options.size());
  for (std::size_t i = 0; i < options.size(); ++i)
    if (!options[i].default_value.empty())
      values[i] = config::parse_value(options[i], options[i].default_value).value;
  if (text.empty()) return values;
  for (const std::string_view part : parts_of(text, ',')) {
    const std::size_t equals = part.find('=');
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos &&
                           std::ranges::find(options, which_device, &Setting::key) != options.end();
    const std::string_view name =
        is_number ? which_device : trim(part.substr(0, std::min(equals, part.size())));
    const auto found = std::ranges::find(options, name, &Setting::key);
    if (found == options.end() || (equals == std::string_view::npos && !is_number)) {
      std::vector<std::string_view> names;
      for (const Setting& option : options) names.push_back(option.key);
      if (found != options.end())
        throw ConfigError(
            fmt::format("devices: {} of \"{}\" has no value; write {}=...", name, device, name));
      const std::string near = did_you_mean(name, names);
      throw ConfigError(
          fmt::format("devices: unknown \"{}\" in \"{}\"{}", name, device,
                      near.empty() ? fmt::format("; there are {}", config::join(names, ", ")) : near));
    }
    const config::ParsedValue reading =
        config::parse_value(*found, is_number ? part : trim(part.substr(equals + 1)));
    if (!reading.error.empty())
      throw ConfigError(fmt::format("devices: {} of \"{}\" {}{}", found->key, device,
                                    reading.error.starts_with("not ") ? "is " : "", reading.error));
    values[static_cast<std::size_t>(found - options.begin())] = reading.value;
  }
  return values;
}

/// The text of one of `count` devices, with its share of the memory.
std::string text_for_one(const DeviceEntry& device, std::size_t sharers) {
  const std::string_view text = trim(device.text);
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::string one(text.substr(0, colon));
  if (colon == text.size()) return one;
  const char* before = ":";
  for (const std::string_view part : parts_of(text.substr(colon + 1), ',')) {
    const std::string_view key = trim(part.substr(0, part.find('=')));
    if (key == how_many.key) continue;
    one += before;
    before = ",";
    if (key == memory_option && sharers > 1) {
      const Setting memory{.key = memory_option, .type = SettingType::size};
      const auto given = config::parse_value(memory, trim(part.substr(part.find('=') + 1))).value;
      one += fmt::format("{}={}B", memory_option, std::get<std::uint64_t>(given) / sharers);
    } else {
      one += part;
    }
  }
  return one;
}

/// Index of the backend of that kind; throws if there is none with devices.
std::size_t backend_of(std::string_view kind, const Backends& backends) {
  if (kind.empty())
    throw ConfigError(
        "devices: an entry of the list is empty; write one \"+\" between two entries, as in "
        "\"emulated:memory=1GiB + cuda:0,memory=2GiB\"");
  std::vector<std::string_view> kinds;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (backends[i]->device_options().empty()) continue;
    if (backends[i]->kind() == kind) return i;
    kinds.push_back(backends[i]->kind());
  }
  const std::string near = did_you_mean(kind, kinds);
  throw ConfigError(fmt::format("devices: unknown kind \"{}\"{}", kind,
                                !near.empty()       ? near
                                : kinds.size() == 1 ? fmt::format("; there is {}", kinds.front())
                                                    : "; there are " + config::join(kinds, ", ")));
}

}  // namespace

std::vector<DeviceEntry> devices_from(std::string_view list, const Backends& backends) {
  std::vector<DeviceEntry> devices;
  if (trim(list).empty() || trim(list) == no_devices) return devices;
  for (const std::string_view text : parts_of(list, '+')) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view kind = trim(text.substr(0, colon));
    const std::size_t backend = backend_of(kind, backends);
    const std::span<const Setting> own = backends[backend]->device_options();
    std::vector<Setting> options(own.begin(), own.end());
    options.push_back(how_many);
    std::vector<config::Value> values =
        values_of(text, text.substr(std::min(colon + 1, text.size())), options);
    const auto count = std::get<std::uint64_t>(values.back());
    values.pop_back();
    for (std::uint64_t i = 0; i < count; ++i) {
      if (devices.size() == max_devices)
        throw ConfigError(fmt::format("devices: there may be {} of them", max_devices));
      devices.push_back({std::string(text), backend, fmt::format("{} {}", kind, devices.size()), values});
    }
  }
  return devices;
}

std::string devices_of_rank(std::string_view list, const Backends& backends, std::size_t place,
                            std::size_t ranks) {
  const std::vector<DeviceEntry> devices = devices_from(list, backends);
  const auto of_machine = [&](const DeviceEntry& device) {
    return backends[device.backend]->is_shared_by_ranks();
  };
  const auto all = static_cast<std::size_t>(std::ranges::count_if(devices, of_machine));
  std::size_t number = 0;  // among those of the machine
  std::string own;
  for (const DeviceEntry& device : devices) {
    std::size_t sharers = 1;
    if (of_machine(device)) {
      // For n ranks and d devices, rank r has the devices from r d / n on, or shares this one.
      const bool mine = all >= ranks ? number >= place * all / ranks && number < (place + 1) * all / ranks
                                     : place * all / ranks == number;
      if (all < ranks) {
        sharers = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) sharers += rank * all / ranks == number;
      }
      ++number;
      if (!mine) continue;
    }
    own += (own.empty() ? "" : " + ") + text_for_one(device, sharers);
  }
  return own.empty() && !trim(list).empty() ? std::string(no_devices) : own;
}

std::string devices_by_rank(std::string_view list, const Backends& backends, std::size_t ranks) {
  if (ranks < 2 || devices_from(list, backends).empty()) return {};
  std::string text;
  for (std::size_t place = 0; place < ranks; ++place)
    text += fmt::format("{}rank {}: {}", place == 0 ? "" : "; ", place,
                        devices_of_rank(list, backends, place, ranks));
  return text;
}

std::optional<Bytes> smallest_shared_device_memory(std::string_view list, const Backends& backends) {
  std::optional<Bytes> smallest;
  for (const DeviceEntry& device : devices_from(list, backends)) {
    const Backend& backend = *backends[device.backend];
    if (!backend.is_shared_by_ranks()) continue;
    const auto options = backend.device_options();
    const auto memory = std::ranges::find(options, memory_option, &Setting::key);
    if (memory == options.end()) continue;
    const auto* const given =
        std::get_if<std::uint64_t>(&device.values[static_cast<std::size_t>(memory - options.begin())]);
    if (given != nullptr) smallest = std::min<Bytes>(smallest.value_or(*given), *given);
  }
  return smallest;
}

std::size_t workers_of_devices(std::string_view list, const Backends& backends) {
  Topology topology = out_of_core_topology(0, 0, 1, Duration{});
  std::vector<std::unique_ptr<BackendInstance>> parts(backends.size());
  for (const DeviceEntry& device : devices_from(list, backends)) {
    std::unique_ptr<BackendInstance>& part = parts[device.backend];
    if (part == nullptr) part = backends[device.backend]->make();
    part->add_device(topology, device);
  }
  return topology.workers.size();
}

void add_devices(Topology& topology, const std::vector<DeviceEntry>& devices,
                 const std::vector<std::unique_ptr<BackendInstance>>& parts) {
  for (const DeviceEntry& device : devices) parts[device.backend]->add_device(topology, device);
  for (const auto& part : parts) part->add_links(topology);
}

Bytes DeviceEntry::memory_of(const config::Value& given, const char* example) const {
  if (std::holds_alternative<NoValue>(given))
    throw ConfigError(fmt::format("devices: \"{}\" needs a memory size, as in {}", text, example));
  return whole_pages_in(std::get<std::uint64_t>(given));
}

}  // namespace fairlead::backend
