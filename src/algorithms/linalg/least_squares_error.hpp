// How well x minimizes || b - A x ||, for a matrix with more rows than columns. A right x is the exact one for
// A + E and b + f that are off by rounding. With r = b - A x, and everything beside s = || A || || x || + || b ||,
// two things follow, and are asked of x:
//
//   || A^T r || / (|| A || s)  is some roundings: A^T r = 0 is what makes x the best one (xQRT17 of LAPACK);
//   || Q^T r || / s            is, for the n rows of Q^T that span A: by so much of b alone x could be excused.
//
// The first knows nothing of the factorization, but forgives what happens in directions in which A is small. The
// second does not. Where no x has a smaller residual than zero the second is the usual backward error. Norms are
// those of Euclid and Frobenius; everything but Q is computed in double precision, from the source.
//
// Of a rank-deficient A both are asked of the matrix that is left when its small singular values are zero: A^T r is
// projected on the rows that this has, Q^T r on its columns (restrict_to()).
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/linalg/residual_products.hpp"
#include "algorithms/linalg/scratch_pool.hpp"

namespace fairlead::linalg {

template <class T>
class LeastSquaresError {
 public:
  /// b := Q^T b of the factorization, for as many rows as A has.
  using Rotate = std::function<void(Flow&, const TiledMatrix<T>& b)>;

  /// `x`: column-major, `ld` elements from a column to the next; it must stay, and not change.
  LeastSquaresError(Kernels kernels, std::shared_ptr<const MatrixSource<double>> a,
                    std::shared_ptr<const MatrixSource<double>> b, const T* x, std::int64_t ld,
                    std::int64_t columns);

  /// What this takes of memory besides what tasks take for themselves.
  static Bytes bytes(std::int64_t rows, std::int64_t columns) noexcept;
  static Bytes scratch_bytes_per_worker(std::int64_t columns) noexcept;
  /// Without those of `rotate`.
  static std::uint64_t tasks(std::int64_t rows, std::int64_t columns_of_a) noexcept;

  /// All of it: submits, and waits with `wait` between its parts. `tile`: of the factorization. Over ranks all call it;
  /// `readers` of them read the matrices, all or rank 0 alone, and tiles are dealt out by `distribution`.
  void judge(Runtime& runtime, Flow& flow, std::int32_t tile, const Rotate& rotate,
             const std::function<void()>& wait, std::uint32_t readers = 1,
             const Distribution* distribution = nullptr);

  /// For the matrix of lower rank that x is judged by; after judge(). The norms, by column, of what projecting leaves of
  /// normal(), and of the first n rows of rotated().
  void restrict_to(std::vector<double> norms_of_normal, std::vector<double> norms_of_rotated);
  /// A^T r, n elements of each column, by a factor of its own.
  const double* normal() const noexcept { return normal_.data(); }
  /// Q^T r, m elements of each column, for r of the norm 1.
  const T* rotated() const noexcept { return rotated_.data(); }

  /// The larger of the two, the largest over the columns. NaN if x holds one.
  double value() const;
  /// || r || / || b ||, the largest over the columns; 0 where b is.
  double relative_residual() const;
  /// By how much another x could make that smaller, at most: what of r is in the space that A spans, and what rounding
  /// leaves unknown of r. NaN if x holds one.
  double residual_excess() const;
  /// || A || || x || / || r ||, the least over the columns: small where the condition counts twice.
  double size_beside_residual() const;

  // For the forward error, by x - true x = -A^+ (b - A x): with s = exponent_of_matrix() and A' = 2^-s A, so that nothing
  // overflows; all relative to the largest component of x in its column, the largest over the columns.

  /// How large A'^T r 2^-s may be in each row: as computed, and what rounding may have changed in that.
  std::vector<double> uncertain_normal() const;
  /// By how much 2^-s r may be off by rounding, in the norm of Euclid.
  double uncertain_residual() const;
  int exponent_of_matrix() const noexcept;

 private:
  void measure_solution();
  void subtract(const Strip& a, Columns<const double> x, Columns<double> r) const;
  double of_unit_x(double number, std::int64_t column) const;
  void residual_of_rows(std::int64_t row, std::int64_t count);
  void normal_of_columns(std::int64_t column, std::int64_t count);
  double norm_of_a() const noexcept;
  double norm_of(const std::vector<double>& vectors, std::int64_t rows, std::int64_t column) const;
  double norm_of_residual(std::int64_t column) const;

  Kernels kernels_;
  std::shared_ptr<const MatrixSource<double>> a_, b_;
  const T* x_;
  std::int64_t ld_, columns_;
  ScratchPool scratch_;
  // Each task writes places of its own.
  std::vector<double> residual_, normal_;        // column-major: r, A^T r; both by 2^-exponents_
  std::vector<double> squares_of_a_;             // of each band of rows the large ones, the medium, the small
  std::vector<int> exponents_;                   // of each column
  std::vector<double> norms_of_b_, norms_of_x_;  // of each column, computed at once
  std::vector<double> largest_of_x_;             // of each column
  struct JudgedNorms {
    std::vector<double> normal, rotated;  // of each column
  };
  JudgedNorms judged_;  // what value() judges by
  // Of each row the largest over the columns: |x|, |A| |x| + |b| and |r| 2^-s, relative to the largest component of x.
  std::vector<double> sizes_of_x_, sizes_, sizes_of_residual_;
  std::vector<double> sizes_of_normal_;  // |A^T| sizes_of_residual_
  std::vector<T> rotated_;               // Q^T r
};

extern template class LeastSquaresError<float>;
extern template class LeastSquaresError<double>;

}  // namespace fairlead::linalg
