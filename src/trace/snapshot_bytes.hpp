// A snapshot as bytes, for another process of the same program.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "trace/snapshot.hpp"

namespace fairlead::trace {

std::vector<std::byte> bytes_of(const Snapshot& snapshot);
/// Throws SystemError for what no snapshot has become.
Snapshot snapshot_of(std::span<const std::byte> bytes);

}  // namespace fairlead::trace
