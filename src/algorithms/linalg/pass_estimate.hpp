// The expected duration of a task that reads a part of a stored matrix and multiplies it by vectors.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fairlead::linalg {

/// How the elements of such a task lie in their file.
enum class PassOver : std::uint8_t {
  lines,   // whole lines, or long parts of them
  pieces,  // short pieces of many lines: other tasks read the rest of the same pages
};

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
