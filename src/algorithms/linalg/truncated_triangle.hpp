// Least squares with a square matrix that may be rank-deficient, in one piece of memory: singular values of at most a
// tolerance times the largest count as zero, and the solution is the one of smallest norm. The steps are those of
// LAPACK's xGELSD, and so of NumPy's lstsq: A = Q B P^T with a bidiagonal B, then divide and conquer on B. Unlike
// xGELSD, this keeps the reduction: more right-hand sides can follow, and so can projections on what A spans.
#pragma once
#include <fairlead/linalg.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead::linalg {

/// The singular values of a matrix and which of them count.
struct Spectrum {
  std::int64_t rank = 0;     ///< how many are above the tolerance times the largest
  double largest = 0;        ///< of all
  double smallest_kept = 0;  ///< of those that count; 0 if none does
  double largest_dropped = 0;
};

class TruncatedTriangle {
 public:
  /// `tolerance`: from 0, at which only zeros count as zero, to below 1.
  TruncatedTriangle(Kernels kernels, std::int64_t n, double tolerance);

  /// How many columns of n doubles the memory for a matrix of n x n has.
  static std::int64_t columns_needed(std::int64_t n) noexcept;
  static double flops(std::int64_t n) noexcept;

  // `memory`: columns_needed() columns of n elements. Every call gets the same contents; where they are may change.

  /// The first n columns hold the matrix, of numbers around 1. Throws NumericalError if its singular values cannot be
  /// computed.
  Spectrum reduce(double* memory) const;

  /// So many columns at once.
  static constexpr std::int32_t most_sides = 8;
  /// Where right-hand sides go, n elements each.
  double* sides(double* memory) const noexcept;
  /// They become the solutions.
  void solve(double* memory, std::int32_t count) const;

  /// A space that the singular vectors of those singular values span that count.
  enum class Space : std::uint8_t { columns, rows };
  /// The norms of the projections of the sides on it; the sides are lost.
  void project(double* memory, std::span<double> norms, Space space) const;

 private:
  struct Places;
  Places places(double* memory) const noexcept;
  int truncated_solve(const Places& places, bool transposed, std::int32_t count) const;

  Kernels kernels_;
  std::int64_t n_;
  double tolerance_;
};

}  // namespace fairlead::linalg
