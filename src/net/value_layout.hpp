// The part of a value that is sent: all bytes, contiguous; or pieces at equal distances whose lengths form an
// arithmetic sequence, as the columns of a triangle or a block.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fairlead::net {

struct ValueLayout {
  std::uint32_t pieces = 0;  ///< 0: all bytes, contiguous
  Bytes start = 0, step = 0;
  /// Bytes: length of the first piece, increment from piece to piece, and upper limit of each length.
  std::int64_t length = 0, growth = 0, most = 0;

  /// True for all bytes of the value, contiguous.
  constexpr bool whole() const noexcept { return pieces == 0; }
  constexpr Bytes offset(std::uint32_t piece) const noexcept { return start + piece * step; }
  constexpr Bytes bytes_of(std::uint32_t piece) const noexcept {
    return static_cast<Bytes>(std::clamp<std::int64_t>(length + growth * std::int64_t{piece}, 0, most));
  }
  constexpr Bytes bytes() const noexcept {
    Bytes sum = 0;
    for (std::uint32_t i = 0; i < pieces; ++i) sum += bytes_of(i);
    return sum;
  }
  /// Copies the pieces into one contiguous block of `bytes` bytes.
  void gather(const void* from, void* into, Bytes bytes) const {
    if (whole()) return static_cast<void>(std::memcpy(into, from, bytes));
    auto* to = static_cast<std::byte*>(into);
    for (std::uint32_t i = 0; i < pieces; to += bytes_of(i), ++i)
      std::memcpy(to, static_cast<const std::byte*>(from) + offset(i), bytes_of(i));
  }
  /// The reverse of gather().
  void scatter(const void* from, void* into, Bytes bytes) const {
    if (whole()) return static_cast<void>(std::memcpy(into, from, bytes));
    const auto* at = static_cast<const std::byte*>(from);
    for (std::uint32_t i = 0; i < pieces; at += bytes_of(i), ++i)
      std::memcpy(static_cast<std::byte*>(into) + offset(i), at, bytes_of(i));
  }
  /// Copies between two values of this layout.
  void copy(const void* from, void* into, Bytes bytes) const {
    if (whole()) return static_cast<void>(std::memcpy(into, from, bytes));
    for (std::uint32_t i = 0; i < pieces; ++i)
      std::memcpy(static_cast<std::byte*>(into) + offset(i), static_cast<const std::byte*>(from) + offset(i),
                  bytes_of(i));
  }
  friend constexpr bool operator==(const ValueLayout&, const ValueLayout&) = default;
};

}  // namespace fairlead::net
