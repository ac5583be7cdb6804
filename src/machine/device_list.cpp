// Reading a list of devices; see device_list.hpp.
#include "machine/device_list.hpp"

#include <fairlead/error.hpp>
#include <fairlead/setting.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "base/pages.hpp"
#include "base/suggest.hpp"
#include "config/value.hpp"
#include "machine/system_files.hpp"

namespace fairlead::machine {

namespace {

using enum SettingType;

enum class Key : std::uint8_t { memory, bandwidth, latency, speed, copies, workers, peers, count };
constexpr std::size_t key_count = 8;
constexpr std::array<Setting, key_count> keys{{
    {.key = "memory", .type = size, .minimum = "4KiB", .help = "its capacity; it has to be given"},
    {.key = "bandwidth",
     .type = bandwidth,
     .fallback = "10GB/s",
     .minimum = "1KB/s",
     .help = "of its wire to RAM, both directions together"},
    {.key = "latency",
     .type = count,
     .fallback = "10",
     .maximum = "1000000",
     .help = "of each copy, in microseconds"},
    {.key = "speed",
     .type = real,
     .fallback = "1",
     .minimum = "0.001",
     .maximum = "1",
     .help = "as a part of a core's: tasks take so much longer"},
    {.key = "copies",
     .type = choice,
     .fallback = "asynchronous",
     .choices = "asynchronous|blocking",
     .help = "blocking: while bytes move, it runs no task"},
    {.key = "workers",
     .type = count,
     .fallback = "1",
     .minimum = "1",
     .maximum = "64",
     .help = "tasks that it runs at the same time"},
    {.key = "peers",
     .type = bandwidth,
     .minimum = "1KB/s",
     .help = "of wires to other devices that have some, too; without, copies between devices go through RAM"},
    {.key = "count",
     .type = count,
     .fallback = "1",
     .minimum = "1",
     .maximum = "28",
     .help = "so many like this"},
}};
constexpr std::array<std::string_view, 1> kinds{"emulated"};

constexpr std::size_t position(Key key) { return static_cast<std::size_t>(key); }

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    result.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return result;
    text.remove_prefix(end + 1);
  }
}

/// Bandwidths such as "1e+9" are not written, so that a plus always begins another device.
std::array<config::Value, key_count> values_of(std::string_view device, std::string_view text) {
  std::array<config::Value, key_count> values;
  for (std::size_t i = 0; i < key_count; ++i)
    if (!keys[i].fallback.empty()) values[i] = config::read_value(keys[i], keys[i].fallback).value;
  if (text.empty()) return values;
  for (const std::string_view part : parts(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = trimmed(part.substr(0, std::min(equals, part.size())));
    const auto found = std::ranges::find(keys, name, &Setting::key);
    if (found == keys.end() || equals == std::string_view::npos) {
      std::vector<std::string_view> names;
      for (const Setting& key : keys) names.push_back(key.key);
      if (found != keys.end())
        throw ConfigError(
            fmt::format("devices: {} of \"{}\" has no value; write {}=...", name, device, name));
      const std::string near = did_you_mean(name, names);
      throw ConfigError(
          fmt::format("devices: unknown \"{}\" in \"{}\"{}", name, device,
                      near.empty() ? fmt::format("; there are {}", config::join(names, ", ")) : near));
    }
    const config::Reading reading = config::read_value(*found, trimmed(part.substr(equals + 1)));
    if (!reading.problem.empty())
      throw ConfigError(fmt::format("devices: {} of \"{}\" {}", found->key, device, reading.problem));
    values[static_cast<std::size_t>(found - keys.begin())] = reading.value;
  }
  return values;
}

}  // namespace

std::vector<DeviceSpec> devices_from(std::string_view list) {
  std::vector<DeviceSpec> devices;
  if (trimmed(list).empty()) return devices;
  for (const std::string_view text : parts(list, '+')) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view kind = trimmed(text.substr(0, colon));
    if (std::ranges::find(kinds, kind) == kinds.end())
      throw ConfigError(fmt::format("devices: unknown kind \"{}\"{}", kind,
                                    did_you_mean(kind, kinds).empty() ? std::string("; there is emulated")
                                                                      : did_you_mean(kind, kinds)));
    const auto values = values_of(text, text.substr(std::min(colon + 1, text.size())));
    if (std::holds_alternative<std::monostate>(values[position(Key::memory)]))
      throw ConfigError(
          fmt::format("devices: \"{}\" needs a memory size, as in {}:memory=256MiB", text, kind));
    const auto number = [&](Key key) { return std::get<std::uint64_t>(values[position(key)]); };
    DeviceSpec device{.name = {},
                      .kind = WorkerKind::emulated,
                      .capacity = whole_pages_in(number(Key::memory)),
                      .bytes_per_second = static_cast<double>(number(Key::bandwidth)),
                      .latency = Duration(static_cast<std::int64_t>(number(Key::latency)) * 1000),
                      .workers = static_cast<unsigned>(number(Key::workers)),
                      .blocking_copies = std::get<std::string>(values[position(Key::copies)]) == "blocking",
                      .speed = std::get<double>(values[position(Key::speed)])};
    if (const auto* rate = std::get_if<std::uint64_t>(&values[position(Key::peers)]))
      device.peer_bytes_per_second = static_cast<double>(*rate);
    for (std::uint64_t i = 0; i < number(Key::count); ++i) {
      if (devices.size() == most_devices)
        throw ConfigError(fmt::format("devices: there may be {} of them", most_devices));
      device.name = fmt::format("{} {}", kind, devices.size());
      devices.push_back(device);
    }
  }
  return devices;
}

}  // namespace fairlead::machine
