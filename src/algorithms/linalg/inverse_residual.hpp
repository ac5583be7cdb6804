// The residual y^H A - e^T of computed rows y^H of A^-1, with A read from its source. It detects rows computed with
// factors that are not those of A. For any y, || y || / || A^H y || in the one norm is at most || A^-1 || in the
// infinity norm, so an estimate of the condition number from it is never too large.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/linalg/pass_estimate.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "base/rundown_protection.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

/// Each task reads some complete columns of A; A is read once. All computations are in double precision.
template <class T>
class InverseResidual {
 public:
  /// `y`: one column per element of `rows`, column-major, as many elements as A has rows. `shares`: for each column of
  /// A, the weight of its component of y^H A - e^T in residuals(). All are read when the tasks run, and must stay
  /// valid.
  using Wide = WideOf<T>;

  InverseResidual(Kernels kernels, std::shared_ptr<const MatrixSource<Wide>> a, const std::vector<T>& y,
                  const std::vector<std::int64_t>& rows, const std::vector<double>& shares);

  /// `n`: columns of A; `rows`: elements of the constructor's `rows`.
  static std::size_t scratch_bytes_per_worker(std::int64_t n, std::int64_t rows) noexcept;
  std::uint64_t tasks() const noexcept { return static_cast<std::uint64_t>(bands()); }
  /// Submits the share of this rank, of `ranks` ranks that read A.
  void submit(Flow& flow, std::uint32_t rank, std::uint32_t ranks);
  /// Combines the results after the flow has been waited for. Collective over the ranks.
  void combine_ranks(Runtime& runtime);

  /// The one norm of A^H y, for each row; valid after combine_ranks().
  const std::vector<double>& products() const noexcept { return products_; }
  /// The one norm of A^H y - e, each component times its share.
  const std::vector<double>& residuals() const noexcept { return residuals_; }

 private:
  PassOver pass() const noexcept;
  /// Columns of A per task.
  std::int64_t band() const noexcept;
  std::int64_t bands() const noexcept { return bands_of(a_->columns(), band()); }
  void multiply(std::int64_t column, std::int64_t count);

  Kernels kernels_;
  std::shared_ptr<const MatrixSource<Wide>> a_;
  const std::vector<T>& y_;
  const std::vector<std::int64_t>& rows_;
  const std::vector<double>& shares_;
  std::uint32_t ranks_ = 1;
  ScratchPool scratch_;
  std::vector<double>
      sums_;  // per band of columns: of products, then of residuals; each task writes its own band
  std::vector<double> products_, residuals_;
  RundownProtection rundown_;  // last: tasks use all of the above
};

extern template class InverseResidual<float>;
extern template class InverseResidual<double>;
extern template class InverseResidual<std::complex<float>>;
extern template class InverseResidual<std::complex<double>>;

}  // namespace fairlead::linalg
