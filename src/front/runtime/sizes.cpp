// Overflow-free sizes. See sizes.hpp.
#include "front/runtime/sizes.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fairlead::front {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 47;  // the address space of a process
constexpr std::int64_t most_tiles = std::int64_t{1} << 24;    // each takes a few hundred bytes of bookkeeping

/// A size that saturates: after an overflow it exceeds every limit.
class Size {
 public:
  explicit Size(std::uint64_t value) : value_(value) {}
  Size times(std::uint64_t factor) const {
    std::uint64_t result = 0;
    return Size(__builtin_mul_overflow(value_, factor, &result) ? too_much : result);
  }
  Size plus(const Size& other) const {
    std::uint64_t result = 0;
    return Size(__builtin_add_overflow(value_, other.value_, &result) ? too_much : result);
  }
  std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t too_much = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_;
};

Size size(std::int64_t value) { return Size(static_cast<std::uint64_t>(value)); }

}  // namespace

Bytes checked_bytes(const std::string& name, const char* kind, const Strided& array, Bytes element_bytes) {
  Size packed(element_bytes), span(1);  // packed: bytes; span: elements from the first to the last
  for (std::size_t i = 0; i < 3; ++i) {
    packed = packed.times(static_cast<std::uint64_t>(array.extents[i]));
    span = span.plus(size(array.extents[i] - 1).times(static_cast<std::uint64_t>(array.strides[i])));
  }
  if (std::max(packed.value(), span.times(element_bytes).value()) <= most_bytes) return packed.value();
  std::string text = std::to_string(array.extents[0]);
  for (std::size_t i = 1; i < 3; ++i)
    if (array.extents[i] > 1) text += fmt::format(" x {}", array.extents[i]);
  throw UsageError(fmt::format(
      "{}: a {} of {} elements of {} bytes, from the first to the last of them, is more than the {} "
      "bytes that a process can address",
      name, kind, text, element_bytes, most_bytes));
}

namespace {
std::string text_of(TileSize tile) {
  return tile.rows == tile.columns ? fmt::format("{} a side", tile.rows)
                                   : fmt::format("{} x {}", tile.rows, tile.columns);
}
}  // namespace

void check_tile(const std::string& name, TileSize tile) {
  if (tile.rows > 0 && tile.columns > 0) return;
  if (tile.rows == tile.columns)
    throw UsageError(fmt::format("{}: a tile of {} elements a side is not possible", name, tile.rows));
  throw UsageError(fmt::format("{}: a tile of {} elements is not possible", name, text_of(tile)));
}

void check_tiles(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                 bool lower_only) {
  const std::int64_t down = (rows - 1) / tile.rows + 1, across = (columns - 1) / tile.columns + 1;
  const std::uint64_t all = size(down).times(static_cast<std::uint64_t>(across)).value();
  if (all <= most_tiles) return;
  if (lower_only && down <= most_tiles && across <= most_tiles) {
    const std::int64_t full = std::min(down, across);
    if (full * (full + 1) / 2 + (down - full) * across <= most_tiles) return;
  }
  throw UsageError(
      fmt::format("{}: {} x {} elements in tiles of {} are {} x {} tiles; a matrix may have {}\n"
                  "  Use larger tiles.",
                  name, rows, columns, text_of(tile), down, across, most_tiles));
}

}  // namespace fairlead::front
