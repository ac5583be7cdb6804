// Determines the numerical rank of the matrix of a least squares problem from R of its QR factorization. If
// bounds show full rank, R stays in its tiles; otherwise its singular values are computed.
#pragma once
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/minimum_norm.hpp"
#include "algorithms/linalg/triangle_norm.hpp"
#include "report/least_squares.hpp"
#include "solver/execution.hpp"
#include "solver/tiled_factors.hpp"

namespace fairlead::solver {

template <class T>
class RankDecision {
 public:
  /// `a`: factored; it must stay. `inverse_norm` estimates || R^-1 || in a separate phase; it is called if R
  /// may be regular. All ranks create it. Throws FootprintError if singular values are needed and R does not
  /// fit into memory. `of_rows`: `a` is the transpose of the user's matrix.
  RankDecision(Execution& run, const linalg::Kernels& kernels, const TiledMatrix<T>& a, double tolerance,
               const std::function<double()>& inverse_norm, bool of_rows = false);

  /// Bytes of memory for estimates, in addition to tiles, of which a contiguous R is one.
  static Bytes bytes(std::int64_t n) noexcept;

  const report::NumericalRank& rank() const noexcept { return rank_; }
  bool is_reduced() const noexcept { return rank_.is_reduced(); }
  /// The condition of R in the infinity norm, or, in the two norm, from the singular values that count.
  double condition() const noexcept { return condition_; }
  /// Seconds for the singular values; their bounds count separately, like the estimate.
  double seconds() const noexcept { return seconds_; }

  // If the rank is reduced:

  /// Q^H b becomes the solution of smallest norm: column-major, `ld` elements from a column to the next.
  void solve(T* b, std::int64_t ld, std::int64_t columns);
  /// b := (R^H)^+ b
  void solve_adjoint(T* b, std::int64_t ld, std::int64_t columns);
  /// The norms of the projections of columns of n elements on the space of the rows of R.
  std::vector<double> norms_within_rows(const WideOf<T>* columns_of_n, std::int64_t columns);
  /// Restricts the error check of x to the matrix of that rank.
  void restrict(linalg::LeastSquaresError<T>& error, std::int64_t ld, std::int64_t columns);

 private:
  using Space = typename linalg::MinimumNorm<T>::Space;
  std::function<void()> wait() {
    return [this] { run_.wait(); };
  }

  Execution& run_;
  report::NumericalRank rank_;
  double condition_ = 0, seconds_ = 0;
  std::unique_ptr<linalg::MinimumNorm<T>> minimum_;  // if singular values were needed
};

extern template class RankDecision<float>;
extern template class RankDecision<double>;
extern template class RankDecision<std::complex<float>>;
extern template class RankDecision<std::complex<double>>;

}  // namespace fairlead::solver
