// Parses the devices setting: "emulated:memory=256MiB,bandwidth=10GB/s + emulated:memory=64MiB". The backends define
// the kinds and their options.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace fairlead::backend {

/// The devices of a list, named by kind and number, from 0. Throws ConfigError for an invalid entry, naming it and
/// the nearest valid one.
std::vector<DeviceEntry> devices_from(std::string_view list, const Backends& backends);

/// The part of a machine's list for the rank at `place` among `ranks` on the machine, as a list. Devices of the
/// machine are distributed in their order; if there are fewer than ranks, several ranks share one, with equal parts
/// of the listed memory. All other devices are each rank's own. Throws as devices_from().
std::string devices_of_rank(std::string_view list, const Backends& backends, std::size_t place,
                            std::size_t ranks);

/// How the ranks of a machine share its list: "rank 0: cuda:0; rank 1: cuda:1". Empty for a single rank or an empty list.
/// Throws as devices_from().
std::string devices_by_rank(std::string_view list, const Backends& backends, std::size_t ranks);

/// The smallest memory among the machine's devices in the list; nothing if there are none. Throws as devices_from().
std::optional<Bytes> smallest_shared_device_memory(std::string_view list, const Backends& backends);

/// The number of workers of the devices in a list. Throws as devices_from().
std::size_t workers_of_devices(std::string_view list, const Backends& backends);

/// Adds the devices in their order, and the other contributions of the parts. `parts`: one per backend.
void add_devices(Topology& topology, const std::vector<DeviceEntry>& devices,
                 const std::vector<std::unique_ptr<BackendInstance>>& parts);

}  // namespace fairlead::backend
