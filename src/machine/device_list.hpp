// Accelerators as a setting describes them: "emulated:memory=256MiB,bandwidth=10GB/s +
// emulated:memory=64MiB".
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/topology.hpp"

namespace fairlead::machine {

inline constexpr std::size_t most_devices = 28;  ///< nodes are bits of a word

/// The devices of a list; those that take no name are called by kind and number, from 0. Throws ConfigError
/// for what is not understood, naming it and the nearest thing that is.
std::vector<DeviceSpec> devices_from(std::string_view list);

}  // namespace fairlead::machine
