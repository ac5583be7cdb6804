// What tasks of tiled linear algebra compute on OpenCL devices. Products are CLBlast's; the rest is made of products and
// of two small kernels of our own, which take no memory beside the matrices: CLBlast's own solve inverts
// diagonal blocks, which loses accuracy where they are ill-conditioned (panel_solve.hpp), and both its solve and its
// syrk take memory that no limit knows of.
#pragma once
#include <fairlead/opencl.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/opencl/clblast.hpp"

namespace fairlead::linalg {

/// A column-major matrix on a device.
struct OpenclMatrix {
  OpenclBuffer at;     ///< in elements
  std::size_t ld = 0;  ///< from one column to the next
  OpenclMatrix from(std::size_t row, std::size_t column) const noexcept {
    return {{at.memory, at.offset + row + column * ld}, ld};
  }
};

/// Any thread, each with a queue of its own. CLBlast is loaded with the first product; what that throws, and what the
/// device says, is a SystemError.
class OpenclBlas {
 public:
  OpenclBlas();

  /// C := alpha op(A) op(B) + beta C, where C is m x n and the inner dimension k. In pieces, if what CLBlast takes for
  /// the whole is more than the queue's workspace.
  template <Real T>
  void gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
            std::size_t k, T alpha, const OpenclMatrix& a, const OpenclMatrix& b, T beta,
            const OpenclMatrix& c) const;

  /// C := C - A A^T, the lower triangle of n x n; A is n x k.
  template <Real T>
  void syrk_lower(const OpenclQueue& queue, std::size_t n, std::size_t k, const OpenclMatrix& a,
                  const OpenclMatrix& c) const;

  /// Solves for an m x n matrix A, as panel_solve() does.
  template <Real T>
  void solve(const OpenclQueue& queue, const TriangularSolve& how, std::size_t m, std::size_t n,
             const OpenclMatrix& t, const OpenclMatrix& a) const;

 private:
  struct Own {
    OpenclKernel solve, triangle;
  };
  static Own made_of(bool doubles);
  template <class T>
  const Own& own() const noexcept {
    if constexpr (std::is_same_v<T, double>) return double_;
    if constexpr (std::is_same_v<T, float>) return float_;
  }
  const Clblast& clblast(const OpenclQueue& queue) const;

  const Own double_, float_;
  mutable std::once_flag loaded_;
  mutable std::optional<Clblast> clblast_;
};

}  // namespace fairlead::linalg
