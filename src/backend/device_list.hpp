// Accelerators as a setting describes them: "emulated:memory=256MiB,bandwidth=10GB/s +
// emulated:memory=64MiB". Which kinds there are, and what may be said of each, the backends know.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace fairlead::backend {

/// The devices of a list; they are called by kind and number, from 0. Throws ConfigError for what is not
/// understood, naming it and the nearest thing that is.
std::vector<DeviceEntry> devices_from(std::string_view list, const Backends& backends);

/// Of a list for a machine on which so many ranks are, what the one at `place` has, as a list: devices of the machine are dealt
/// out in their order; where there are fewer than ranks, several have one, and an equal part of what the list gives of its
/// memory. All others are each rank's own. Throws as devices_from().
std::string part_of_rank(std::string_view list, const Backends& backends, std::size_t place,
                         std::size_t ranks);

/// The memory of the smallest of the machine's devices there; nothing if there is none. Throws as devices_from().
std::optional<Bytes> smallest_of_machine(std::string_view list, const Backends& backends);

/// So many tasks run on the devices of a list at the same time. Throws as devices_from().
std::size_t workers_of_devices(std::string_view list, const Backends& backends);

/// Adds the devices, in their order, and what parts add besides them. `parts`: one for each backend.
void add_parts(Topology& topology, const std::vector<DeviceEntry>& devices,
               const std::vector<std::unique_ptr<Part>>& parts);

}  // namespace fairlead::backend
