// The kernels of QR factorizations on CUDA devices, equivalent to LAPACK's geqrt, gemqrt, tpqrt and tpmqrt: blocks of
// columns with the same V and T. Fairlead's own kernel computes the reflectors of a block; cuBLAS products apply them.
#pragma once
#include <cstddef>

#include "algorithms/linalg/cuda/cuda_blas.hpp"

namespace fairlead::linalg {

/// The rows of the lower tile that take part, as for tpqrt; the last `of_trapezoid` of them form a trapezoid.
struct CudaRowsBelow {
  std::size_t all = 0, of_trapezoid = 0;
};

/// For one task, on its stream. `work`: device memory with as many elements as LAPACK's routine needs for op(Q) from
/// the left, (reflectors of a block) x (columns). Requires CudaBlas::own() to be available.
template <Real T>
class CudaQr {
 public:
  CudaQr(const CudaBlas& blas, const CudaStream& stream, T* work)
      : blas_(blas), stream_(stream), work_(work) {}

  /// A := R and V, of m x n. `block`, here and below: the number of rows of T.
  void geqrt(std::size_t m, std::size_t n, std::size_t block, const CudaMatrix<T>& a,
             const CudaMatrix<T>& t) const;
  /// C := op(Q) C, of m x n, for k reflectors.
  void gemqrt(Transpose op, std::size_t m, std::size_t n, std::size_t k, std::size_t block,
              const CudaMatrix<T>& v, const CudaMatrix<T>& t, const CudaMatrix<T>& c) const;
  /// R on top of B := R and V, for n columns.
  void tpqrt(const CudaRowsBelow& rows, std::size_t n, std::size_t block, const CudaMatrix<T>& r,
             const CudaMatrix<T>& b, const CudaMatrix<T>& t) const;
  /// B on top of C := op(Q) of both, with n columns, for k reflectors.
  void tpmqrt(Transpose op, const CudaRowsBelow& rows, std::size_t n, std::size_t k, std::size_t block,
              const CudaMatrix<T>& v, const CudaMatrix<T>& t, const CudaMatrix<T>& b,
              const CudaMatrix<T>& c) const;

 private:
  struct Columns {
    std::size_t first, count;
  };
  void apply(Transpose op, std::size_t m, std::size_t n, std::size_t count, const CudaMatrix<T>& v,
             const CudaMatrix<T>& t, const CudaMatrix<T>& c) const;
  void apply_join(Transpose op, const CudaRowsBelow& rows, std::size_t n, const Columns& block,
                  const CudaMatrix<T>& v, const CudaMatrix<T>& t, const CudaMatrix<T>& b,
                  const CudaMatrix<T>& c) const;

  const CudaBlas& blas_;
  const CudaStream& stream_;
  T* const work_;
};

extern template class CudaQr<float>;
extern template class CudaQr<double>;

}  // namespace fairlead::linalg
