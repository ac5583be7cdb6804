// The formulas of the I/O bounds, and their values if everything fits in memory.
#include "report/bounds.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace fairlead::report {

namespace {

double elements(Bytes memory_limit, std::size_t element_bytes) {
  if (element_bytes == 0 || memory_limit < element_bytes)
    throw UsageError(fmt::format("a memory limit of {} bytes does not hold one element of {} bytes",
                                 memory_limit, element_bytes));
  const Bytes whole = memory_limit / element_bytes;
  return static_cast<double>(whole);
}

// Rounds up to whole elements.
Bytes bytes(double loads, std::size_t element_bytes) {
  return static_cast<Bytes>(std::ceil(loads)) * element_bytes;
}

}  // namespace

double cholesky_loads(double n, double memory) {
  return n * n * n / (3 * std::numbers::sqrt2 * std::sqrt(memory));
}

double cholesky_loads_2020(double n, double memory) { return n * n * n / (6 * std::sqrt(memory)); }

double lu_loads(double n, double memory) { return 2 * n * n * n / (3 * std::sqrt(memory)); }

double gemm_loads(double m, double n, double k, double memory) { return 2 * m * n * k / std::sqrt(memory); }

Bytes IoBounds::lower_bound() const noexcept { return fits ? inputs : std::max(leading_term, inputs); }

Bytes IoBounds::floor_read() const noexcept {
  return fits ? inputs : std::max(leading_term + compulsory, inputs);
}

IoBounds cholesky_bounds(std::uint64_t n, std::size_t element_bytes, Bytes memory_limit) {
  const double memory = elements(memory_limit, element_bytes);
  const Bytes triangle = triangle_bytes(n, element_bytes);
  return {.leading_term = bytes(cholesky_loads(static_cast<double>(n), memory), element_bytes),
          .inputs = triangle,
          .compulsory = triangle,
          .results = triangle,
          .fits = triangle <= memory_limit};
}

IoBounds lu_bounds(std::uint64_t n, std::size_t element_bytes, Bytes memory_limit) {
  const double memory = elements(memory_limit, element_bytes);
  const Bytes square = n * n * element_bytes;
  return {.leading_term = bytes(lu_loads(static_cast<double>(n), memory), element_bytes),
          .inputs = square,
          .compulsory = square,
          .results = square,
          .fits = square <= memory_limit};
}

IoBounds gemm_bounds(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::size_t element_bytes,
                     Bytes memory_limit) {
  const double memory = elements(memory_limit, element_bytes);
  const double loads =
      gemm_loads(static_cast<double>(m), static_cast<double>(n), static_cast<double>(k), memory);
  const Bytes all = (m * k + k * n + m * n) * element_bytes;
  // The leading term already contains the loads of A and B.
  return {.leading_term = bytes(loads, element_bytes),
          .inputs = all,
          .compulsory = m * n * element_bytes,
          .results = m * n * element_bytes,
          .fits = all <= memory_limit};
}

IoBounds in_place_bounds(std::uint64_t m, std::uint64_t n, std::size_t element_bytes, Bytes memory_limit) {
  elements(memory_limit, element_bytes);  // throws if the memory cannot hold one element
  const Bytes all = m * n * element_bytes;
  return {.leading_term = 0, .inputs = all, .compulsory = all, .results = all, .fits = all <= memory_limit};
}

Bytes triangle_bytes(std::uint64_t n, std::size_t element_bytes) noexcept {
  return n * (n + 1) / 2 * element_bytes;
}

Bytes quarter_of_triangle(std::uint64_t n, std::size_t element_bytes) noexcept {
  return triangle_bytes(n, element_bytes) / 4;
}

}  // namespace fairlead::report
