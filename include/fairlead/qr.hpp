// Tiled QR factorization and least squares: A = Q R for an m x n matrix A with m >= n.
//
//   fairlead::linalg::QrReflectors<double> q(runtime, a);
//   fairlead::linalg::factor_qr(flow, kernels, a, q);            // A becomes R, and part of Q
//   fairlead::linalg::solve_qr_factored(flow, kernels, a, q, b);  // the first n rows of b become x
//   fairlead::linalg::wait_for_results(flow);                     // with minimal || A x - b ||
//
// Buttari, Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for multicore
// architectures") and Hadri, Ltaief, Agullo, Dongarra 2010 ("Tile QR factorization with parallel panel processing"),
// with LAPACK's geqrt, gemqrt, tpqrt and tpmqrt.
#pragma once
#include <fairlead/detail/stored_factors.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::linalg {

/// The reduction tree of a panel: the order in which its tiles are annihilated.
enum class QrTree : std::uint8_t {
  flat,    // the diagonal tile annihilates the others one after the other: few, large tasks in a long chain
  binary,  // each tile is reduced to a triangle, then triangles are combined in pairs: a short critical path,
           // for tall matrices
};

/// Whether Q or its transpose is applied, with conjugate elements if they are complex: Q^H.
enum class ApplyQ : std::uint8_t { plain, transposed };

/// The part of Q that is not in the tiles of the matrix; data stored by the runtime, which may spill to disk. For each
/// tile reduced to a triangle: its reflectors. For each reflector: a column of a triangular factor. Size: the matrix /
/// (tile / inner block), and one tile for each diagonal tile (flat), or for each tile on and below the diagonal
/// (binary).
template <class T>
class QrReflectors {
 public:
  /// For matrix `a`: only its shape matters, and with several ranks its distribution, since these data are placed with
  /// the tiles. `inner_block`: the number of reflectors that are applied at once; 0: selected by tile size. Throws
  /// UsageError if the matrix has more columns than rows or the block is larger than a tile, SystemError if the disk
  /// lacks the space. `stored`: provides the data of factors that were computed before.
  QrReflectors(Runtime& runtime, const TiledMatrix<T>& a, QrTree tree = QrTree::flat,
               std::int32_t inner_block = 0, detail::StoredFactors<T>* stored = nullptr);
  QrReflectors(const QrReflectors&) = delete;
  QrReflectors& operator=(const QrReflectors&) = delete;
  /// Waits for the tasks that use the data. Destroy it before the runtime.
  ~QrReflectors();

  QrTree tree() const noexcept { return tree_; }
  std::int32_t inner_block() const noexcept { return inner_block_; }
  /// The size on disk, or in memory if everything fits.
  static Bytes bytes(std::int64_t rows, std::int64_t columns, std::int32_t tile, QrTree tree,
                     std::int32_t inner_block = 0) noexcept;

  /// For a tile (i, k) that was reduced to a triangle by itself: its reflectors, and their triangular factors.
  const Handle<Tile<T>>& reflectors(std::int32_t i, std::int32_t k) const { return at(reflectors_, i, k); }
  const Handle<Tile<T>>& factors(std::int32_t i, std::int32_t k) const { return at(factors_, i, k); }
  /// For a tile (i, k) that another tile annihilated: the triangular factors. The reflectors are in the tile.
  const Handle<Tile<T>>& joined_factors(std::int32_t i, std::int32_t k) const { return at(joined_, i, k); }

  /// Throws UsageError if `a` has another shape or other tiles.
  void require_shape_of(const TiledMatrix<T>& a) const;

 private:
  using Handles = std::vector<Handle<Tile<T>>>;
  const Handle<Tile<T>>& at(const Handles& handles, std::int32_t i, std::int32_t k) const {
    return handles[static_cast<std::size_t>(i) * static_cast<std::size_t>(tile_columns_) +
                   static_cast<std::size_t>(k)];
  }
  void remove_all() noexcept;

  Runtime& runtime_;
  std::int64_t rows_, columns_;
  std::int32_t tile_, tile_columns_, inner_block_;
  QrTree tree_;
  Handles reflectors_, factors_, joined_;  // by tile, row by row; empty handles where there are none
};

// Below, T is float, double or a complex number of these. Q^H is the transposed matrix with conjugate elements; for real
// matrices it is Q^T.

/// Factors an m x n matrix with m >= n in place: A = Q R, with R on and above the diagonal, and Q below it and in `q`.
/// Uses blocked Householder reflectors, so it is stable for any matrix; elements that are not finite propagate into R.
/// Throws UsageError if `q` does not match the matrix.
template <class T>
void factor_qr(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q);

/// b := Q b, or Q^H b. b has as many rows as A, in tiles of the same side, and any number of columns. Throws UsageError
/// if the shapes do not match.
template <class T>
void apply_q(Flow& flow, const Kernels& kernels, ApplyQ which, const TiledMatrix<T>& a,
             const QrReflectors<T>& q, const TiledMatrix<T>& b);

/// Least squares: the first n rows of b become x with minimal || b - A x ||, for each column. The norm of the other
/// rows is then that of b - A x. Requirements on b as for apply_q(). A task that finds an element on the diagonal of R
/// that is zero or not finite fails with a NumericalError that names the column: the columns of A are linearly
/// dependent. If they are so up to rounding, x is large and dominated by rounding errors: check the condition number.
template <class T>
void solve_qr_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q,
                       const TiledMatrix<T>& b);

/// The number of tasks that factor_qr() submits for this many tiles; and that apply_q() and solve_qr_factored() submit
/// for this many columns of tiles in b.
std::uint64_t qr_tasks(std::int64_t tile_rows, std::int64_t tile_columns, QrTree tree) noexcept;
std::uint64_t apply_q_tasks(std::int64_t tile_rows, std::int64_t tile_columns, QrTree tree,
                            std::int64_t columns_of_tiles) noexcept;
std::uint64_t qr_solve_tasks(std::int64_t tile_rows, std::int64_t tile_columns, QrTree tree,
                             std::int64_t columns_of_tiles) noexcept;

#define FAIRLEAD_QR_OF(T)                                                                                  \
  extern template class QrReflectors<T>;                                                                   \
  extern template void factor_qr<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const QrReflectors<T>&); \
  extern template void apply_q<T>(Flow&, const Kernels&, ApplyQ, const TiledMatrix<T>&,                    \
                                  const QrReflectors<T>&, const TiledMatrix<T>&);                          \
  extern template void solve_qr_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,                  \
                                            const QrReflectors<T>&, const TiledMatrix<T>&);
FAIRLEAD_QR_OF(float)
FAIRLEAD_QR_OF(double)
FAIRLEAD_QR_OF(std::complex<float>)
FAIRLEAD_QR_OF(std::complex<double>)
#undef FAIRLEAD_QR_OF

}  // namespace fairlead::linalg
