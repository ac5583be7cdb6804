// Reading and writing all of something: what the system does in part is continued, and an interrupted call repeated, a thousand
// times in a row at most (base/interruptions.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead {

/// Less than was asked for without an error: the file has ended, or takes no more.
struct Transferred {
  std::size_t bytes = 0;
  int error = 0;  ///< the errno of what ended it early
};

Transferred read_fully(int descriptor, std::span<std::byte> into) noexcept;
Transferred read_fully_at(int descriptor, std::uint64_t offset, std::span<std::byte> into) noexcept;
Transferred write_fully(int descriptor, std::span<const std::byte> content) noexcept;
Transferred write_fully_at(int descriptor, std::uint64_t offset, std::span<const std::byte> content) noexcept;

}  // namespace fairlead
