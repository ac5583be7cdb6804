// Tiled QR factorization, and least squares by it: A = Q R for A of m x n with m >= n.
//
//   fairlead::linalg::QrReflectors<double> q(runtime, a);
//   fairlead::linalg::factor_qr(flow, kernels, a, q);            // A becomes R, and part of Q
//   fairlead::linalg::solve_qr_factored(flow, kernels, a, q, b);  // the first n rows of b become x
//   fairlead::linalg::wait_for_results(flow);                     // where || A x - b || is smallest
//
// Buttari, Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for multicore
// architectures") and Hadri, Ltaief, Agullo, Dongarra 2010 ("Tile QR factorization with parallel panel
// processing"), on LAPACK's geqrt, gemqrt, tpqrt and tpmqrt.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::linalg {

/// In which order the tiles of a panel are annihilated.
enum class QrTree : std::uint8_t {
  flat,    // the diagonal tile takes the others one after the other: few, large tasks in a long chain
  binary,  // each tile becomes a triangle, then they are joined in pairs: a short path, for tall matrices
};

/// Which of both is applied.
enum class ApplyQ : std::uint8_t { plain, transposed };

/// What a factorization has of Q besides the tiles of the matrix: data of the runtime, which may go to disk as
/// tiles do. For each tile that becomes a triangle its reflectors, for each reflector a column of a triangular
/// factor. Of the size of the matrix / (tile / inner block), and a tile for each on the diagonal (flat) or for
/// each on and below it (binary).
template <class T>
class QrReflectors {
 public:
  /// For `a`, of which only the shape matters, and over ranks who owns what: that is with its tile. `inner_block`: how many reflectors are applied at once; 0: as
  /// suits the tile. Throws UsageError if the matrix has more columns than rows or the block is larger than a
  /// tile, SystemError if the disk does not have the space.
  QrReflectors(Runtime& runtime, const TiledMatrix<T>& a, QrTree tree = QrTree::flat,
               std::int32_t inner_block = 0);
  QrReflectors(const QrReflectors&) = delete;
  QrReflectors& operator=(const QrReflectors&) = delete;
  /// Waits for the tasks that use them. Before the end of the runtime.
  ~QrReflectors();

  QrTree tree() const noexcept { return tree_; }
  std::int32_t inner_block() const noexcept { return inner_block_; }
  /// What they take on disk, or in memory where all fits.
  static Bytes bytes(std::int64_t rows, std::int64_t columns, std::int32_t tile, QrTree tree,
                     std::int32_t inner_block = 0) noexcept;

  /// Of the tile (i, k) that became a triangle by itself: its reflectors, and their factors.
  const Handle<Tile<T>>& reflectors(std::int32_t i, std::int32_t k) const { return at(reflectors_, i, k); }
  const Handle<Tile<T>>& factors(std::int32_t i, std::int32_t k) const { return at(factors_, i, k); }
  /// Of the tile (i, k) that was annihilated by another one: the factors. The reflectors are in the tile.
  const Handle<Tile<T>>& joined_factors(std::int32_t i, std::int32_t k) const { return at(joined_, i, k); }

  /// Throws UsageError if a matrix of another shape, or with other tiles, is meant.
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
  Handles reflectors_, factors_, joined_;  // by tile, row by row; empty where there are none
};

// T is float or double below.

/// Factors a matrix of m x n with m >= n in place: A = Q R with R on and above the diagonal, Q below it and in
/// `q`. By blocks of Householder reflectors, so it is stable for any matrix; what is not finite makes R so.
/// Throws UsageError if `q` is not for such a matrix.
template <class T>
void factor_qr(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q);

/// b := Q b, or Q^T b, for b with as many rows as A, in tiles of the same side, and any number of columns.
/// Throws UsageError if the shapes do not match.
template <class T>
void apply_q(Flow& flow, const Kernels& kernels, ApplyQ which, const TiledMatrix<T>& a,
             const QrReflectors<T>& q, const TiledMatrix<T>& b);

/// The first n rows of b := x where || b - A x || is smallest, for each column; the norm of the others is then
/// that of b - A x. b as in apply_q(). A task that meets a zero on the diagonal of R, or what is not finite,
/// fails with a NumericalError that names the column: the columns of A are not independent. Where that is so
/// but for rounding, x is large and follows rounding: judge by the condition.
template <class T>
void solve_qr_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q,
                       const TiledMatrix<T>& b);

/// How many tasks factor_qr() submits for so many tiles; likewise apply_q() and solve_qr_factored() with so
/// many columns of tiles in b.
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
#undef FAIRLEAD_QR_OF

}  // namespace fairlead::linalg
