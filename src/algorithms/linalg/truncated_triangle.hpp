// Least squares with a square, possibly rank-deficient matrix in contiguous memory. Singular values of at most a
// tolerance times the largest count as zero; the result is the solution of smallest norm. The steps are those of
// LAPACK's xGELSD, and hence of NumPy's lstsq: A = Q B P^H with a real bidiagonal B, then divide and conquer on B. Unlike
// xGELSD, the reduction is kept for further right-hand sides and for projections on the spaces of A.
#pragma once
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead::linalg {

/// The numerical rank of a matrix, and the singular values that determine it.
struct Spectrum {
  std::int64_t rank = 0;     ///< the number of singular values above the tolerance times the largest
  double largest = 0;        ///< singular value
  double smallest_kept = 0;  ///< singular value that counts; 0 if there is none
  double largest_dropped = 0;
};

/// W: double, or std::complex<double>.
template <class W>
class TruncatedTriangle {
 public:
  /// `tolerance`: from 0, where only exact zeros count as zero, to below 1.
  TruncatedTriangle(Kernels kernels, std::int64_t n, double tolerance);

  /// The size of the memory for an n x n matrix, in columns of n elements.
  static std::int64_t columns_needed(std::int64_t n) noexcept;
  static double flops(std::int64_t n) noexcept;

  // `memory`: columns_needed() columns of n elements. Its contents must persist between calls; its address may change.

  /// Reduces the matrix in the first n columns, with elements of about 1. Throws NumericalError if its singular values
  /// cannot be computed.
  Spectrum reduce(W* memory) const;

  /// The maximum number of right-hand sides per call.
  static constexpr std::int32_t most_sides = 8;
  /// The memory for right-hand sides, n elements each.
  W* sides(W* memory) const noexcept;
  enum class Form : bool { plain, adjoint };
  /// Replaces the right-hand sides by the solutions with the matrix, or with its conjugate transpose.
  void solve(W* memory, std::int32_t count, Form form = Form::plain) const;

  /// The span of the left (columns) or right (rows) singular vectors whose singular values count.
  enum class Space : std::uint8_t { columns, rows };
  /// Computes the norms of the projections of the right-hand sides on the space; the right-hand sides are destroyed.
  void project(W* memory, std::span<double> norms, Space space) const;

 private:
  struct Workspace;
  Workspace places(W* memory) const noexcept;
  int truncated_solve(const Workspace& places, bool transposed, std::int32_t count) const;

  Kernels kernels_;
  std::int64_t n_;
  double tolerance_;
};

extern template class TruncatedTriangle<double>;
extern template class TruncatedTriangle<std::complex<double>>;

}  // namespace fairlead::linalg
