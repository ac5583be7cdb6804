// Passes over a stored matrix, whose tasks multiply bands of its rows or columns by vectors: the size of a band, and the
// expected duration of a task.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fairlead::linalg {

/// How the elements of such a task lie in their file.
enum class PassOver : std::uint8_t {
  lines,   // whole lines, or long parts of them
  pieces,  // a piece of each line, as long as the band is wide
};

inline constexpr std::int64_t least_band = 256;

/// The largest band of a pass over pieces of lines that have `length` elements: a disk reads long pieces faster, and eight
/// tasks are left. The band of `sides` vectors has at most 1 MiB, unless it is the least one.
constexpr std::int64_t widest_band(std::int64_t length, std::int64_t sides) noexcept {
  constexpr std::int64_t tasks = 8, most = 4096, of_vectors = std::int64_t{1} << 17;
  const std::int64_t band = std::min({length / tasks, most, of_vectors / std::max<std::int64_t>(sides, 1)});
  // An odd number of cache lines, so that neighbouring columns of a block do not share sets of the cache.
  return std::max(least_band, band / 16 * 16 + 8);
}
constexpr std::int64_t band_of(PassOver over, std::int64_t length, std::int64_t sides) noexcept {
  return over == PassOver::lines ? least_band : widest_band(length, sides);
}
constexpr std::int64_t bands_of(std::int64_t length, std::int64_t band) noexcept {
  return (length + band - 1) / band;
}

/// For a formula of a codelet, which measured durations replace: the ratio of reading to multiplying matters, and
/// follows from a disk with 1 GB/s for two workers. `elements` of `bytes` each are multiplied by `sides` vectors.
inline std::chrono::nanoseconds pass_duration(PassOver over, double elements, std::size_t bytes,
                                              std::int64_t sides, bool is_complex) noexcept {
  constexpr double byte_of_lines_ns = 2, byte_of_pieces_ns = 12, element_ns = 1, product_ns = 0.4;
  const double reading =
      static_cast<double>(bytes) * (over == PassOver::lines ? byte_of_lines_ns : byte_of_pieces_ns);
  const double products = static_cast<double>(is_complex ? 4 * sides : sides) * product_ns;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(elements * (reading + element_ns + products)));
}

}  // namespace fairlead::linalg
