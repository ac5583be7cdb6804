// Serializes a snapshot, for another process of the same program.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "trace/snapshot.hpp"

namespace fairlead::trace {

std::vector<std::byte> bytes_of(const Snapshot& snapshot);
/// Throws SystemError if the bytes are not a serialized snapshot.
Snapshot snapshot_of(std::span<const std::byte> bytes);

}  // namespace fairlead::trace
