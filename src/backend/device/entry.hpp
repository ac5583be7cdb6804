// Common parts of device-list entries for backends with a driver: selection of the device by number, error messages,
// options of its link.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/setting.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "config/value.hpp"

namespace fairlead::backend {

inline constexpr Setting device_by_number{.key = "device",
                                          .type = SettingType::count,
                                          .default_value = "0",
                                          .help = "number of the device in fairlead info, from 0"};
inline constexpr Setting memory_of_device{.key = "memory",
                                          .type = SettingType::size,
                                          .minimum = "4KiB",
                                          .help = "how much of its memory is used; required"};
inline constexpr Setting bandwidth_of_wire{.key = "bandwidth",
                                           .type = SettingType::bandwidth,
                                           .default_value = "10GB/s",
                                           .minimum = "1KB/s",
                                           .help = "of its link to RAM in each direction, for estimates"};
inline constexpr Setting latency_of_wire{.key = "latency",
                                         .type = SettingType::count,
                                         .default_value = "20",
                                         .maximum = "1000000",
                                         .help = "of each copy in microseconds, for estimates"};

/// Value of `peers` for devices without direct copies to others.
inline constexpr std::string_view no_peers = "off";

/// The device of that number among those that a driver found: `devices` with a name and memory_bytes each, or a
/// `problem`. `all`: the driver's name, such as "OpenCL". Throws ConfigError if the device does not exist or has less
/// memory.
template <class Found>
const auto& device_numbered(const Found& found, std::uint64_t number, Bytes memory, const std::string& text,
                            std::string_view all) {
  if (found.devices.empty())
    throw ConfigError(fmt::format("devices: \"{}\" is not there: {}", text, found.problem));
  if (number >= found.devices.size()) {
    std::string there;
    for (std::size_t i = 0; i < found.devices.size(); ++i)
      there += fmt::format("{}{}: {}", i == 0 ? "" : ", ", i, found.devices[i].name);
    throw ConfigError(fmt::format("devices: \"{}\" is not there; {} has {}", text, all, there));
  }
  const auto& device = found.devices[number];
  if (memory > device.memory_bytes)
    throw ConfigError(fmt::format("devices: \"{}\" requests {} of {}, which has {}", text,
                                  config::readable_size(memory), device.name,
                                  config::readable_size(device.memory_bytes)));
  return device;
}

}  // namespace fairlead::backend
