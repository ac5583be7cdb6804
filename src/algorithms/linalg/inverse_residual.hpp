// How far computed rows of A^-1 are from rows of A^-1: y^T A - e^T, from the matrix as its source has it, for rows y
// that were computed with factors which may not be those of A. For any y, || y || / || A^T y || in the one norm is at
// most || A^-1 || in the infinity norm, so no condition need be stated that is too large.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/linalg/scratch_pool.hpp"

namespace fairlead::linalg {

/// Each task reads some columns of A whole; A is read once. Everything is computed in double precision.
template <class T>
class InverseResidual {
 public:
  /// `y`: a column for each of `rows`, column-major, as many elements as A has rows. `shares`: of each column of A, by which
  /// part its component of y^T A - e^T counts in residuals(). All are taken as they are when the tasks run, and must stay.
  InverseResidual(Kernels kernels, std::shared_ptr<const MatrixSource<double>> a, const std::vector<T>& y,
                  const std::vector<std::int64_t>& rows, const std::vector<double>& shares);

  static std::size_t scratch_bytes_per_worker(std::int64_t rows) noexcept;
  static std::uint64_t tasks(std::int64_t n) noexcept;
  /// Of `ranks` that read A the part of this one.
  void submit(Flow& flow, std::uint32_t rank, std::uint32_t ranks);
  /// Once the flow has been waited for; over ranks all call it.
  void bring_together(Runtime& runtime);

  /// || A^T y || in the one norm, of each row; after bring_together().
  const std::vector<double>& products() const noexcept { return products_; }
  /// The same of A^T y - e, each component times its share.
  const std::vector<double>& residuals() const noexcept { return residuals_; }

 private:
  void multiply(std::int64_t column, std::int64_t count);

  Kernels kernels_;
  std::shared_ptr<const MatrixSource<double>> a_;
  const std::vector<T>& y_;
  const std::vector<std::int64_t>& rows_;
  const std::vector<double>& shares_;
  std::uint32_t ranks_ = 1;
  ScratchPool scratch_;
  std::vector<double>
      sums_;  // of each band of columns, of products and of residuals; a task writes those of its band
  std::vector<double> products_, residuals_;
};

extern template class InverseResidual<float>;
extern template class InverseResidual<double>;

}  // namespace fairlead::linalg
