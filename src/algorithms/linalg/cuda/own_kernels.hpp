// Fairlead's own kernels for CUDA devices (algorithms/kernels/*.cu), put into a stream. Where the library was built without nvcc there
// are none, unless an image of them is given.
#pragma once
#include <fairlead/cuda.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

/// A column-major matrix on a device.
template <class T>
struct CudaMatrix {
  T* at = nullptr;
  std::size_t ld = 0;  ///< from one column to the next
  CudaMatrix from(std::size_t row, std::size_t column) const noexcept { return {at + row + column * ld, ld}; }
};

/// That CUDA devices need for them, the number before the point: as cmake/cuda_kernels.cmake has them compiled.
inline constexpr int least_capability_of_own_kernels = 8;
/// A fat binary; empty: there is none.
std::string_view embedded_cuda_kernels() noexcept;

/// Any thread, each with a stream of its own. What the device says is a SystemError.
class OwnKernels {
 public:
  /// Of such an image; empty: they are not there.
  explicit OwnKernels(std::string_view image);
  bool there() const noexcept { return module_.has_value(); }

  // Only if they are there.

  /// A, of at least as many rows as columns, becomes R on and above the diagonal and reflectors V below it, as of LAPACK's geqrt, and
  /// the triangle T has zeros below the diagonal, in so many rows.
  template <Real T>
  void geqrt(const CudaStream& stream, std::size_t rows, std::size_t columns, const CudaMatrix<T>& a,
             const CudaMatrix<T>& t, std::size_t t_rows) const;
  /// The triangle R on top of B becomes R, B becomes V, as of LAPACK's tpqrt: B has `rows_of_first` rows in its first column and one
  /// more in each that follows, up to `rows`.
  template <Real T>
  void tpqrt(const CudaStream& stream, std::size_t rows, std::size_t rows_of_first, std::size_t columns,
             const CudaMatrix<T>& r, const CudaMatrix<T>& b, const CudaMatrix<T>& t,
             std::size_t t_rows) const;
  /// C := alpha A + beta C.
  template <Real T>
  void add(const CudaStream& stream, std::size_t rows, std::size_t columns, T alpha, const CudaMatrix<T>& a,
           T beta, const CudaMatrix<T>& c) const;

 private:
  std::optional<CudaModule> module_;
};

}  // namespace fairlead::linalg
