// Tiled LU factorization with incremental pivoting: rows are exchanged within a tile, and between the tiles of
// a pair, never in a whole column. So a panel is no bottleneck, and the factorization runs, and spills, as one
// without pivoting; where that fails this one nearly always works. Elements may still grow more than with
// partial pivoting, the more so the more tiles a column has: judge the result, or ask for the growth.
//
//   fairlead::linalg::IncrementalPivots<double> p(runtime, a);
//   fairlead::linalg::factor_lu_incremental(flow, kernels, a, p);            // A becomes U, and part of L
//   fairlead::linalg::solve_lu_incremental_factored(flow, kernels, a, p, b);  // b becomes x with A x = b
//   fairlead::linalg::wait_for_results(flow);
//
// Buttari, Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for multicore
// architectures").
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::linalg {

/// What a factorization has of L besides the tiles of the matrix, data of the runtime as those are: for each
/// tile on the diagonal its L, for each below it the triangles that eliminated within the pair; and who was
/// exchanged with whom. Of the size of half of the matrix / (tile / inner block), and a tile for each on the
/// diagonal.
template <class T>
class IncrementalPivots {
 public:
  /// For `a`, of which only the shape matters, and over ranks who owns what: that is with its tile. `inner_block`: how many columns of a pair are factored at once;
  /// 0: as suits the tile. Throws UsageError if the matrix is not square or the block is larger than a tile,
  /// SystemError if the disk does not have the space.
  IncrementalPivots(Runtime& runtime, const TiledMatrix<T>& a, std::int32_t inner_block = 0);
  IncrementalPivots(const IncrementalPivots&) = delete;
  IncrementalPivots& operator=(const IncrementalPivots&) = delete;
  /// Waits for the tasks that use them. Before the end of the runtime.
  ~IncrementalPivots();

  std::int32_t inner_block() const noexcept { return inner_block_; }
  /// What they take on disk, or in memory where all fits.
  static Bytes bytes(std::int64_t n, std::int32_t tile, std::int32_t inner_block = 0) noexcept;

  /// Of tile (i, k) on or below the diagonal: what of L is not in the tile, and the exchanges.
  const Handle<Tile<T>>& lower(std::int32_t i, std::int32_t k) const { return lower_[place(i, k)]; }
  const Handle<Vector<std::int32_t>>& exchanges(std::int32_t i, std::int32_t k) const {
    return exchanges_[place(i, k)];
  }

  /// Throws UsageError if a matrix of another shape, or with other tiles, is meant.
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
  std::vector<Handle<Vector<std::int32_t>>> exchanges_;  // likewise
};

// T is float or double below.

/// Factors a square matrix in place: U on and above the diagonal, L below it and in `p`. A pivot is the
/// largest of its column in one tile and the triangle above. The last task of a column of tiles that finds a
/// pivot which is zero, and any that finds one which is not finite, fails with a NumericalError that names the
/// column. Throws UsageError if `p` is not for such a matrix.
template <class T>
void factor_lu_incremental(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                           const IncrementalPivots<T>& p);

/// b := A^-1 b for these factors; b has as many rows as A, in tiles of the same side, and any number of
/// columns. Throws UsageError if the shapes do not match.
template <class T>
void solve_lu_incremental_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                   const IncrementalPivots<T>& p, const TiledMatrix<T>& b);

/// b := A^-T b for the same factors.
template <class T>
void solve_lu_incremental_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                     const IncrementalPivots<T>& p, const TiledMatrix<T>& b);

/// How many tasks factor_lu_incremental() submits for so many tiles a side; likewise each of the solves with
/// so many columns of tiles in b.
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
#undef FAIRLEAD_INCREMENTAL_LU_OF

}  // namespace fairlead::linalg
