// Complete reads and writes: partial system calls are continued, interrupted ones repeated, at most a thousand times
// in a row (base/interruptions.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead {

/// Fewer bytes than requested without an error: end of file, or the file accepts no more.
struct Transferred {
  std::size_t bytes = 0;
  int error = 0;  ///< errno that ended the transfer early; 0 if none
};

Transferred read_fully(int descriptor, std::span<std::byte> into) noexcept;
Transferred read_fully_at(int descriptor, std::uint64_t offset, std::span<std::byte> into) noexcept;
Transferred write_fully(int descriptor, std::span<const std::byte> content) noexcept;
Transferred write_fully_at(int descriptor, std::uint64_t offset, std::span<const std::byte> content) noexcept;

}  // namespace fairlead
