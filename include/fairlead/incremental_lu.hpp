// Tiled LU factorization with incremental pivoting: rows are exchanged within a tile or between two tiles, never within
// a whole column. So panels are no bottleneck, and the parallelism and the transfers are those of a factorization
// without pivoting. It nearly always succeeds where that one fails. Element growth may be larger than with partial
// pivoting, and increases with the number of tiles in a column: check the result, or request the growth.
//
//   fairlead::linalg::IncrementalPivots<double> p(runtime, a);
//   fairlead::linalg::factor_lu_incremental(flow, kernels, a, p);            // A becomes U, and part of L
//   fairlead::linalg::solve_lu_incremental_factored(flow, kernels, a, p, b);  // b becomes x with A x = b
//   fairlead::linalg::wait_for_results(flow);
//
// Buttari, Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for multicore
// architectures").
#pragma once
#include <fairlead/detail/stored_factors.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::linalg {

/// The part of L that is not in the tiles of the matrix, and the row exchanges; data stored by the runtime. For each
/// diagonal tile: its L. For each tile below: the triangles that eliminated it within its pair. Size: half of the
/// matrix / (tile / inner block), and one tile for each diagonal tile.
template <class T>
class IncrementalPivots {
 public:
  /// For matrix `a`: only its shape matters, and with several ranks its distribution, since these data are placed with
  /// the tiles. `inner_block`: the number of columns of a pair that are factored at once; 0: selected by tile size.
  /// Throws UsageError if the matrix is not square or the block is larger than a tile, SystemError if the disk lacks
  /// the space. `stored`: provides the data of factors that were computed before.
  IncrementalPivots(Runtime& runtime, const TiledMatrix<T>& a, std::int32_t inner_block = 0,
                    detail::StoredFactors<T>* stored = nullptr);
  IncrementalPivots(const IncrementalPivots&) = delete;
  IncrementalPivots& operator=(const IncrementalPivots&) = delete;
  /// Waits for the tasks that use the data. Destroy it before the runtime.
  ~IncrementalPivots();

  std::int32_t inner_block() const noexcept { return inner_block_; }
  /// The size on disk, or in memory if everything fits.
  static Bytes bytes(std::int64_t n, std::int32_t tile, std::int32_t inner_block = 0) noexcept;

  /// For tile (i, k) on or below the diagonal: the part of L that is not in the tile, and the row exchanges.
  const Handle<Tile<T>>& lower(std::int32_t i, std::int32_t k) const { return lower_[place(i, k)]; }
  const Handle<Vector<std::int32_t>>& exchanges(std::int32_t i, std::int32_t k) const {
    return exchanges_[place(i, k)];
  }

  /// Throws UsageError if `a` has another shape or other tiles.
  void require_shape_of(const TiledMatrix<T>& a) const;

 private:
  static std::size_t place(std::int32_t i, std::int32_t k) noexcept {
    return static_cast<std::size_t>(i) * (static_cast<std::size_t>(i) + 1) / 2 + static_cast<std::size_t>(k);
  }
  void remove_all() noexcept;

  Runtime& runtime_;
  std::int64_t n_;
  std::int32_t tile_, inner_block_;
  std::vector<Handle<Tile<T>>> lower_;                   // by tile of the lower triangle, row by row
  std::vector<Handle<Vector<std::int32_t>>> exchanges_;  // like lower_
};

// Below, T is float, double or a complex number of these. A^H is the transposed matrix with conjugate elements; for real
// matrices it is A^T.

/// Factors a square matrix in place: U on and above the diagonal, L below it and in `p`. A pivot is the largest element
/// of its column in one tile and the triangle above. The factorization fails with a NumericalError that names the
/// column in two cases: the last task of a column of tiles finds a zero pivot, or any task finds a pivot that is not
/// finite. Throws UsageError if `p` does not match the matrix.
template <class T>
void factor_lu_incremental(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                           const IncrementalPivots<T>& p);

/// b := A^-1 b, for these factors. b has as many rows as A, in tiles of the same side, and any number of columns.
/// Throws UsageError if the shapes do not match.
template <class T>
void solve_lu_incremental_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                   const IncrementalPivots<T>& p, const TiledMatrix<T>& b);

/// b := A^-H b, for the same factors.
template <class T>
void solve_lu_incremental_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                     const IncrementalPivots<T>& p, const TiledMatrix<T>& b);

/// The number of tasks that factor_lu_incremental() submits for this many tiles per side; and that each of the solves
/// submits for this many columns of tiles in b.
std::uint64_t lu_incremental_tasks(std::int64_t tiles) noexcept;
std::uint64_t lu_incremental_solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept;

#define FAIRLEAD_INCREMENTAL_LU_OF(T)                                                                        \
  extern template class IncrementalPivots<T>;                                                                \
  extern template void factor_lu_incremental<T>(Flow&, const Kernels&, const TiledMatrix<T>&,                \
                                                const IncrementalPivots<T>&);                                \
  extern template void solve_lu_incremental_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,        \
                                                        const IncrementalPivots<T>&, const TiledMatrix<T>&); \
  extern template void solve_lu_incremental_transposed<T>(                                                   \
      Flow&, const Kernels&, const TiledMatrix<T>&, const IncrementalPivots<T>&, const TiledMatrix<T>&);
FAIRLEAD_INCREMENTAL_LU_OF(float)
FAIRLEAD_INCREMENTAL_LU_OF(double)
FAIRLEAD_INCREMENTAL_LU_OF(std::complex<float>)
FAIRLEAD_INCREMENTAL_LU_OF(std::complex<double>)
#undef FAIRLEAD_INCREMENTAL_LU_OF

}  // namespace fairlead::linalg
