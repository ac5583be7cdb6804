// I/O bounds: the fewest bytes that a factorization or a product can move between memory and disk, for comparison with
// the bytes of a run. Lower bounds are proved for the leading term only; the floor is what the best known schedules
// approach.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::report {

// Leading terms: loads into a fast memory of size `memory`, for problems of size `n`. All sizes are in elements, or all
// in tiles (n tiles per side, memory in tiles).

/// n^3 / (3 sqrt(2) sqrt(M)). Beaumont, Eyraud-Dubois, Vérité, Langou 2022 ("I/O-optimal algorithms for
/// symmetric linear algebra kernels"); tight, reached by blocks in the shape of triangles.
double cholesky_loads(double n, double memory);
/// n^3 / (6 sqrt(M)), the previous bound: Olivry, Langou, Pouchet, Sadayappan, Rastello 2020.
double cholesky_loads_2020(double n, double memory);
/// 2 n^3 / (3 sqrt(M)), without pivoting. Olivry et al. 2020.
double lu_loads(double n, double memory);
/// 2 m n k / sqrt(M), for C (m x n) += A B with k columns in A. Olivry et al. 2020.
double gemm_loads(double m, double n, double k, double memory);

/// The least transfer between memory and disk, in bytes, if everything starts and ends on disk.
struct IoBounds {
  /// Loads by the proved bound; asymptotic, that is not exact for finite n.
  Bytes leading_term = 0;
  Bytes inputs = 0;  ///< each input loaded once; no schedule reads less
  /// Loads that the floor adds to the leading term, for inputs that this does not contain.
  Bytes compulsory = 0;
  Bytes results = 0;  ///< each result written once
  bool fits = false;  ///< memory holds everything at once, so each input is loaded only once

  /// Reads: the larger of the leading term and the inputs; only the inputs if everything fits.
  Bytes lower_bound() const noexcept;
  /// Reads: leading term + compulsory loads; only the inputs if everything fits.
  Bytes floor_read() const noexcept;
  /// Both directions: floor_read() + the results.
  Bytes floor() const noexcept { return floor_read() + results; }

  bool operator==(const IoBounds&) const = default;
};

/// For an n x n matrix with one stored triangle, factored in place. `memory_limit` in bytes. This and the following
/// functions throw UsageError if the memory cannot hold one element.
IoBounds cholesky_bounds(std::uint64_t n, std::size_t element_bytes, Bytes memory_limit);
/// For an n x n matrix, factored in place without pivoting.
IoBounds lu_bounds(std::uint64_t n, std::size_t element_bytes, Bytes memory_limit);
/// For C += A B with C m x n and k columns in A.
IoBounds gemm_bounds(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::size_t element_bytes,
                     Bytes memory_limit);

/// For an m x n matrix, factored in place by an algorithm whose leading term or its constant is unknown: each byte is
/// moved once.
IoBounds in_place_bounds(std::uint64_t m, std::uint64_t n, std::size_t element_bytes, Bytes memory_limit);

/// Bytes of the stored triangle of a symmetric matrix with its diagonal: n (n + 1) / 2 elements.
Bytes triangle_bytes(std::uint64_t n, std::size_t element_bytes) noexcept;
/// A quarter of the triangle's bytes, independent of the tile size.
Bytes quarter_of_triangle(std::uint64_t n, std::size_t element_bytes) noexcept;

}  // namespace fairlead::report
