// Tiled LU factorization with partial pivoting: the pivot of a column is its largest element on and below the diagonal,
// as in LAPACK's getrf, so element growth and accuracy are the same, and for the same rounding errors the pivots.
//
//   fairlead::linalg::RowPivots<double> p(runtime, a);
//   fairlead::linalg::factor_lu_pivoted(flow, kernels, a, p);            // A becomes L and U
//   fairlead::linalg::solve_lu_pivoted_factored(flow, kernels, a, p, b);  // b becomes x with A x = b
//   fairlead::linalg::wait_for_results(flow);
//
// A panel, the tiles of a column of tiles from the diagonal down, is factored by one task that calls getrf. Tasks for
// each column of tiles to its right exchange its rows and solve with the triangle of L; one task for each tile subtracts
// the product. Columns to the left are not changed: L keeps the order of rows of its panel, and the solves exchange the
// rows of b panel by panel.
//
// If the matrix does not fit into memory, the columns are factored in blocks that fit, from the left; a block is first
// updated by all panels to its left, which are read once for each block. This moves fewer bytes than updating the whole
// matrix after each panel: Toledo and Gustavson 1996 ("The design and implementation of SOLAR, a portable library for
// scalable out-of-core linear algebra computations"), D'Azevedo and Dongarra 2000 ("The design and implementation of the
// parallel out-of-core ScaLAPACK LU, QR, and Cholesky factorization routines"). The results are the same bits in any
// memory.
#pragma once
#include <fairlead/detail/stored_factors.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::linalg {

/// The row exchanges of each panel, stored by the runtime, and the blocks of columns in which the matrix is factored.
template <class T>
class RowPivots {
 public:
  /// For matrix `a`: only its shape matters, and with several ranks its distribution: the exchanges of a panel are
  /// stored with its diagonal tile. A distribution that gives each column of tiles one owner moves the fewest bytes.
  /// Collective with several ranks. Throws UsageError if the matrix has fewer rows than columns, SystemError if the disk
  /// lacks the space. `stored`: provides the data of factors that were computed before.
  RowPivots(Runtime& runtime, const TiledMatrix<T>& a, detail::StoredFactors<T>* stored = nullptr);
  RowPivots(const RowPivots&) = delete;
  RowPivots& operator=(const RowPivots&) = delete;
  /// Waits for the tasks that use the data. Destroy it before the runtime.
  ~RowPivots();

  /// The exchanges of panel k, as LAPACK counts them: element i is for row k * tile + i of the matrix, and is the row,
  /// counted from 1, with which that row was exchanged.
  const Handle<Vector<std::int32_t>>& panel(std::int32_t k) const {
    return panels_[static_cast<std::size_t>(k)];
  }
  /// The first column of tiles of each block.
  const std::vector<std::int32_t>& column_blocks() const noexcept { return column_blocks_; }
  /// In place of those that suit the memory: to submit the same tasks as another run. Ascending, from 0. Throws UsageError.
  void set_column_blocks(std::vector<std::int32_t> firsts);

  /// The size on disk, or in memory if everything fits.
  static Bytes bytes(std::int64_t n, std::int32_t tile) noexcept;
  /// The memory that the task of the first panel needs at once: its tiles, and a copy of them.
  static Bytes panel_bytes(std::int64_t rows, std::int32_t tile) noexcept;

  /// Throws UsageError if `a` has another shape or other tiles.
  void require_shape_of(const TiledMatrix<T>& a) const;
  /// The largest tile whose panels fit into memory; 0: none.
  std::int32_t largest_tile_in_memory() const noexcept;

 private:
  void remove_all() noexcept;

  Runtime& runtime_;
  std::int64_t rows_, columns_;
  std::int32_t tile_;
  std::vector<Handle<Vector<std::int32_t>>> panels_;
  std::vector<std::int32_t> column_blocks_;
};

// Below, T is float, double or a complex number of these.

/// Factors a matrix with at least as many rows as columns in place: U on and above the diagonal, L below it, with the
/// rows in the order of their panel. A zero pivot fails with a NumericalError that names the column, as does a pivot that
/// is not finite. Throws UsageError if `p` does not match the matrix, FootprintError if a panel does not fit into memory.
template <class T>
void factor_lu_pivoted(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const RowPivots<T>& p);

/// b := A^-1 b, for these factors of a square matrix. b has as many rows as A, in tiles of the same side, and any number
/// of columns. Throws UsageError if the shapes do not match.
template <class T>
void solve_lu_pivoted_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                               const RowPivots<T>& p, const TiledMatrix<T>& b);

/// b := A^-H b, for the same factors, with the transposed and conjugate matrix; for real ones this is A^-T b.
template <class T>
void solve_lu_pivoted_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                 const RowPivots<T>& p, const TiledMatrix<T>& b);

/// The number of tasks that factor_lu_pivoted() submits for this many rows and columns of tiles; and that each of the
/// solves submits for this many columns of tiles in b.
std::uint64_t lu_pivoted_tasks(std::int64_t tile_rows, std::int64_t tile_columns) noexcept;
std::uint64_t lu_pivoted_solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept;

#define FAIRLEAD_PIVOTED_LU_OF(T)                                                                   \
  extern template class RowPivots<T>;                                                               \
  extern template void factor_lu_pivoted<T>(Flow&, const Kernels&, const TiledMatrix<T>&,           \
                                            const RowPivots<T>&);                                   \
  extern template void solve_lu_pivoted_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,   \
                                                    const RowPivots<T>&, const TiledMatrix<T>&);    \
  extern template void solve_lu_pivoted_transposed<T>(Flow&, const Kernels&, const TiledMatrix<T>&, \
                                                      const RowPivots<T>&, const TiledMatrix<T>&);
FAIRLEAD_PIVOTED_LU_OF(float)
FAIRLEAD_PIVOTED_LU_OF(double)
FAIRLEAD_PIVOTED_LU_OF(std::complex<float>)
FAIRLEAD_PIVOTED_LU_OF(std::complex<double>)
#undef FAIRLEAD_PIVOTED_LU_OF

}  // namespace fairlead::linalg
