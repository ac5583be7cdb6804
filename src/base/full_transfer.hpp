// Complete reads and writes. Partial system calls are continued; interrupted ones are repeated, at most a
// thousand times in a row (base/interruptions.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead {

/// The result of a read or write. Fewer bytes than requested and no error: end of file, or the file accepts
/// no more.
struct FullTransferResult {
  std::size_t bytes = 0;
  int error = 0;  ///< errno that ended the transfer early; 0 if none
};

FullTransferResult read_fully(int descriptor, std::span<std::byte> into) noexcept;
FullTransferResult read_fully_at(int descriptor, std::uint64_t offset, std::span<std::byte> into) noexcept;
FullTransferResult write_fully(int descriptor, std::span<const std::byte> content) noexcept;
FullTransferResult write_fully_at(int descriptor, std::uint64_t offset,
                                  std::span<const std::byte> content) noexcept;

}  // namespace fairlead
