// Checks that x minimizes || b - A x ||, for a matrix with at least as many rows as columns. A backward stable x is the
// exact minimizer for A + E and b + f, where E and f are of the size of rounding errors. Two quantities are then a few
// roundings, and are checked, where r = b - A x and s = || A || || x || + || b ||:
//
//   || A^H r || / (|| A || s):  A^H r = 0 characterizes the minimizer (xQRT17 of LAPACK);
//   || Q^H r || / s:            for the n rows of Q^H that span A, the relative change of b alone that makes x exact.
//
// The first does not depend on the factorization, but does not detect errors in directions in which A is small. The
// second does. If b is in the range of A, the second is the usual backward error. Norms are Euclidean and Frobenius
// norms. Everything but Q is computed in double precision, from the source.
//
// For a rank-deficient A both are checked for the matrix without its small singular values: A^H r is projected on its
// row space, Q^H r on its column space (restrict_to()). A^H is the transposed matrix with conjugate elements, for real
// matrices A^T.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/linalg/pass_estimate.hpp"
#include "algorithms/linalg/residual_products.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "base/rundown_protection.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

template <class T>
class LeastSquaresError {
 public:
  using Wide = WideOf<T>;
  /// b := Q^H b of the factorization; b has as many rows as A.
  using ApplyQTransposed = std::function<void(Flow&, const TiledMatrix<T>& b)>;

  /// `x`: column-major with leading dimension `ld`; must stay valid and unchanged.
  LeastSquaresError(Kernels kernels, std::shared_ptr<const MatrixSource<Wide>> a,
                    std::shared_ptr<const MatrixSource<Wide>> b, const T* x, std::int64_t ld,
                    std::int64_t columns);

  /// The memory of the object itself, in bytes, without scratch.
  static Bytes bytes(std::int64_t rows, std::int64_t columns) noexcept;
  static Bytes scratch_bytes_per_worker(std::int64_t rows, std::int64_t columns) noexcept;
  /// The number of tasks, without those of `rotate`.
  std::uint64_t tasks() const noexcept;

  /// Runs the whole check: submits tasks, and calls `wait` between its phases. `tile`: of the factorization. Collective
  /// over the ranks: `readers` of them read the matrices, all or rank 0 alone; tiles follow `distribution`.
  void check(Runtime& runtime, Flow& flow, std::int32_t tile, const ApplyQTransposed& rotate,
             const std::function<void()>& wait, std::uint32_t readers = 1,
             const Distribution* distribution = nullptr);

  /// Restricts the check to the matrix of lower rank; call it after judge(). The arguments are the norms, by column, of
  /// the projections of normal() and of the first n rows of rotated().
  void restrict_to(std::vector<double> norms_of_normal, std::vector<double> norms_of_rotated);
  /// A^H r, n elements per column, each column times a factor of its own.
  std::vector<Wide> normal_residual() const;
  /// Q^H r, m elements per column, for r scaled to norm 1.
  std::vector<Wide> rotated_residual() const { return {rotated_.begin(), rotated_.end()}; }

  /// The larger of the two quantities, the maximum over the columns. NaN if x contains a NaN.
  double value() const;
  /// The maximum of || r || / || b || over the columns; 0 if b is zero.
  double relative_residual() const;
  /// An upper bound on the reduction of relative_residual() by another x: the part of r in the range of A, plus the
  /// rounding error of r. NaN if x contains a NaN.
  double residual_excess() const;
  /// The minimum of || A || || x || / || r || over the columns: small if the error depends on the square of the
  /// condition number.
  double ratio_to_residual() const;

  // Inputs of the forward error bound x - true x = -A^+ (b - A x). With s = exponent_of_matrix() and A' = 2^-s A
  // nothing overflows. All are relative to the largest component of x in its column, the maximum over the columns.

  /// An upper bound on |A'^H r| 2^-s for each row: the computed value plus its rounding error.
  std::vector<double> normal_residual_bound() const;
  /// An upper bound on the rounding error of 2^-s r, in the Euclidean norm.
  double residual_bound() const;
  int exponent_of_matrix() const noexcept;

 private:
  PassOver pass(bool by_columns) const noexcept;
  /// Columns, or rows, of A per task.
  std::int64_t band(bool by_columns) const noexcept;
  std::int64_t bands_of_rows() const noexcept;
  void compute_norms_of_x();
  void subtract(const Strip& a, Columns<const double> x, Columns<double> r) const;
  template <class ElementOf>
  void subtract_strip(Wide* a, const Strip& shape, const ElementOf& element_of, double* x,
                      Columns<double> r) const;
  double roundings(std::int64_t terms) const noexcept;
  double relative_to_x(double number, std::int64_t column) const;
  void residual_of_rows(std::int64_t row, std::int64_t count);
  void normal_of_columns(std::int64_t column, std::int64_t count);
  double norm_of_a() const noexcept;
  double norm_of(const std::vector<double>& vectors, std::int64_t rows, std::int64_t column) const;
  Wide element_of(const std::vector<double>& vectors, std::int64_t rows, std::int64_t row,
                  std::int64_t column) const;
  double norm_of_residual(std::int64_t column) const;

  Kernels kernels_;
  std::shared_ptr<const MatrixSource<Wide>> a_, b_;
  const T* x_;
  std::int64_t ld_, columns_;
  ScratchPool scratch_;
  // Each task writes its own elements.
  // Column-major: r, A^H r; both times 2^-exponents_. Of complex numbers as in element_parts.hpp.
  std::vector<double> residual_, normal_;
  std::vector<double> squares_of_a_;  // per band of rows: the sums for large, medium and small elements
  std::vector<int> exponents_;        // per column
  struct ColumnNorms {                // per column
    std::vector<double> b, x;
  };
  ColumnNorms norms_;
  std::vector<double> largest_of_x_;  // per column
  struct CheckedNorms {
    std::vector<double> normal, rotated_residual;  // per column
  };
  CheckedNorms checked_norms_;  // the norms that value() uses
  // Per row, the maximum over the columns: |x|, |A| |x| + |b| and |r| 2^-s, relative to the largest component of x.
  std::vector<double> magnitudes_of_x_, magnitudes_, sizes_of_residual_;
  std::vector<double> sizes_of_normal_;  // |A^H| sizes_of_residual_
  std::vector<T> rotated_;               // Q^H r
  RundownProtection rundown_;            // last: tasks use all of the above
};

extern template class LeastSquaresError<float>;
extern template class LeastSquaresError<double>;
extern template class LeastSquaresError<std::complex<float>>;
extern template class LeastSquaresError<std::complex<double>>;

}  // namespace fairlead::linalg
