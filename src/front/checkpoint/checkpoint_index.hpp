// The index of a checkpoint: which tasks are finished, and where the file of data has the values that they left. A short
// file, which is replaced as a whole (docs/checkpoints.md).
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/disk/checksums.hpp"

namespace fairlead::front {

/// What was computed, as pairs of a property and its value, such as {"tile", "512"}. A run with other values is refused.
using CheckpointIdentity = std::vector<std::pair<std::string, std::string>>;

/// A datum that finished tasks have written.
struct SavedDatum {
  std::uint64_t ordinal = 0;  ///< in the order in which the tasks use data for the first time
  Bytes bytes = 0;
  Bytes offset = 0;  ///< in the file of data
  /// Their offsets are relative to that of the datum. Together they cover it, up to whole pages.
  std::vector<backend::Checksums::Sum> sums;
};

struct CheckpointIndex {
  CheckpointIdentity identity;
  std::string data_file;                  ///< its name in the directory
  std::string state;                      ///< of the program, apart from data
  std::uint64_t submitted = 0;            ///< tasks
  std::uint64_t program_hash = 0;         ///< of the codelets and data of these tasks
  std::vector<std::uint64_t> unfinished;  ///< numbers of tasks below `submitted`, ascending
  std::vector<SavedDatum> data;           ///< by ordinal, ascending

  std::uint64_t finished() const noexcept { return submitted - unfinished.size(); }
  /// Null: it does not have this property.
  const std::string* find(std::string_view property) const noexcept;

  std::vector<std::byte> encoded() const;
  /// Throws InputError that starts with `name`: another kind of file, of another version, truncated, damaged.
  static CheckpointIndex decode(const std::string& name, std::span<const std::byte> bytes);
};

}  // namespace fairlead::front
