// How few bytes a factorization or a product can move between memory and disk: what the bytes of a run are
// compared with. A lower bound is proved for the leading term only; the floor is what the best known
// schedules approach.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::report {

// Leading terms: loads into a fast memory of `memory`, for problems of size `n`; everything in elements, or
// everything in tiles (n tiles a side, slots of a tile each).

/// n^3 / (3 sqrt(2) sqrt(M)). Beaumont, Eyraud-Dubois, Vérité, Langou 2022 ("I/O-optimal algorithms for
/// symmetric linear algebra kernels"); tight, reached by blocks in the shape of triangles.
double cholesky_loads(double n, double memory);
/// n^3 / (6 sqrt(M)), the bound before that: Olivry, Langou, Pouchet, Sadayappan, Rastello 2020.
double cholesky_loads_2020(double n, double memory);
/// 2 n^3 / (3 sqrt(M)), without pivoting. Olivry et al. 2020.
double lu_loads(double n, double memory);
/// 2 m n k / sqrt(M), for C (m x n) += A B with k columns in A. Olivry et al. 2020.
double gemm_loads(double m, double n, double k, double memory);

/// The least that has to cross between memory and disk when everything starts and ends on disk. Bytes.
struct IoBounds {
  /// Of the proved bound, for loads; asymptotic: not proved to the last byte for finite n.
  Bytes leading_term = 0;
  Bytes inputs = 0;      ///< every input loaded once; no schedule reads less
  Bytes compulsory = 0;  ///< what the floor adds to the leading term: the inputs that this does not contain
  Bytes results = 0;     ///< every result written once
  bool fits = false;     ///< memory holds everything at once: each input is loaded once and that is all

  /// For reading. The larger of the leading term and the inputs; the inputs alone if everything fits.
  Bytes lower_bound() const noexcept;
  /// For reading: leading term + compulsory loads; the inputs alone if everything fits.
  Bytes floor_read() const noexcept;
  /// In both directions: floor_read() + the results.
  Bytes floor() const noexcept { return floor_read() + results; }

  bool operator==(const IoBounds&) const = default;
};

/// Of a matrix n x n of which one triangle is stored, factored in place. `memory_limit` in bytes.
/// Throws UsageError if the memory does not hold one element. So do the next two.
IoBounds cholesky_bounds(std::uint64_t n, std::size_t element_bytes, Bytes memory_limit);
/// Of a matrix n x n, factored in place without pivoting.
IoBounds lu_bounds(std::uint64_t n, std::size_t element_bytes, Bytes memory_limit);
/// Of C += A B with C m x n and k columns in A.
IoBounds gemm_bounds(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::size_t element_bytes,
                     Bytes memory_limit);

/// Of a matrix m x n, factored in place in a way for which no leading term with its constant is known: each
/// byte once.
IoBounds in_place_bounds(std::uint64_t m, std::uint64_t n, std::size_t element_bytes, Bytes memory_limit);

/// The stored triangle of a symmetric matrix with its diagonal: n (n + 1) / 2 elements.
Bytes triangle_bytes(std::uint64_t n, std::size_t element_bytes) noexcept;
/// "Memory of a quarter of the triangle", whatever the tile.
Bytes quarter_of_triangle(std::uint64_t n, std::size_t element_bytes) noexcept;

}  // namespace fairlead::report
