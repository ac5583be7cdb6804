// Fairlead's own kernels for CUDA devices (algorithms/kernels/*.cu), launched in a stream. If the library was built
// without nvcc, they are available only with a separately compiled image.
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
  T* data = nullptr;
  std::size_t ld = 0;  ///< distance between columns, in elements
  CudaMatrix from(std::size_t row, std::size_t column) const noexcept {
    return {data + row + column * ld, ld};
  }
};

/// The minimum major compute capability of devices, as compiled by cmake/cuda_kernels.cmake.
inline constexpr int least_capability_of_own_kernels = 8;
/// A fat binary; empty: no kernels.
std::string_view embedded_cuda_kernels() noexcept;

/// Thread-safe, with one stream per thread. Device errors are SystemErrors.
class CudaKernels {
 public:
  /// `image`: a fat binary; empty: the kernels are unavailable.
  explicit CudaKernels(std::string_view image);
  bool is_available() const noexcept { return module_.has_value(); }

  // The functions below require there().

  /// A, with at least as many rows as columns, becomes R on and above the diagonal and the reflectors V below it, as
  /// with LAPACK's geqrt. T has zeros below its diagonal, in `t_rows` rows.
  template <Real T>
  void geqrt(const CudaStream& stream, std::size_t rows, std::size_t columns, const CudaMatrix<T>& a,
             const CudaMatrix<T>& t, std::size_t t_rows) const;
  /// The triangle R on top of B becomes R, B becomes V, as with LAPACK's tpqrt. B has `rows_of_first` rows in its first
  /// column and one more in each following column, up to `rows`.
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
