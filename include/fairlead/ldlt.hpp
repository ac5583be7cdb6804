// Tiled factorization of symmetric indefinite matrices: P^T A P = L T L^T, where L is unit lower triangular and T is a
// symmetric band matrix whose half-width is the side of a tile. A complex matrix is Hermitian, with L T L^H and a
// Hermitian T, or symmetric, A = A^T (Symmetry).
//
//   fairlead::linalg::SymmetricPivots<double> p(runtime, a);
//   fairlead::linalg::factor_ldlt(flow, kernels, a, p);            // a, lower: A becomes L and T
//   fairlead::linalg::solve_ldlt_factored(flow, kernels, a, p, b);  // b becomes x with A x = b
//   fairlead::linalg::wait_for_results(flow);
//
// Aasen's algorithm in blocks, left-looking: Ballard, Becker, Demmel, Dongarra, Druinsky, Peled, Schwartz, Toledo,
// Yamazaki 2013 ("Implementing a blocked Aasen's algorithm with a dynamic scheduler on multicore architectures", section
// III), as LAPACK's xSYTRF_AA_2STAGE. The panels are those of LU with partial pivoting: one task factors the tiles of a
// column below the diagonal. Its exchanges apply to rows and columns of the matrix that is left, tile by tile, and to
// the rows of L. T is factored by band LU with partial pivoting, while the panels to the right are computed. It is as
// stable as LU with partial pivoting: elements of L are at most 1, and those of T and of its factors can grow.
#pragma once
#include <fairlead/detail/stored_factors.hpp>
#include <fairlead/inertia.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/log_determinant.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fairlead::linalg {

/// Which transpose of a complex matrix is the matrix: A^H, with conjugate elements, or A^T. LAPACK's xHETRF and xSYTRF. For
/// real matrices both are the same.
enum class Symmetry : std::uint8_t { hermitian, symmetric };

/// The exchanges of each panel, the factors of the band matrix T, and the workspace of the factorization, stored by the
/// runtime: six columns of tiles.
template <class T>
class SymmetricPivots {
 public:
  /// For matrix `a`: only its shape matters, and with several ranks its distribution: the data of block k are stored with
  /// tile (k, k). Collective with several ranks. `stored`: for factors that were computed before; null: for a
  /// factorization. Throws UsageError if the matrix is not square, SystemError if the disk lacks the space.
  SymmetricPivots(Runtime& runtime, const TiledMatrix<T>& a, detail::StoredFactors<T>* stored = nullptr,
                  Symmetry symmetry = Symmetry::hermitian);
  SymmetricPivots(const SymmetricPivots&) = delete;
  SymmetricPivots& operator=(const SymmetricPivots&) = delete;
  /// Waits for the tasks that use the data. Destroy it before the runtime.
  ~SymmetricPivots();

  Symmetry symmetry() const noexcept { return symmetry_; }
  /// Before the factorization.
  void set_symmetry(Symmetry symmetry) noexcept { symmetry_ = symmetry; }

  using Exchanges = Handle<Vector<std::int32_t>>;
  /// The exchanges of rows, and columns, from tile k + 1 on by panel k, as LAPACK counts them: element i is for row
  /// (k + 1) * tile + i, and is the row, counted from 1, with which that row was exchanged.
  const Exchanges& panel(std::int32_t k) const { return at(panels_, k); }

  // T = P' L' U'. By block k of rows: the exchanges with the next block; L' and U' in the tile on the diagonal; L' in
  // the tile below; U' in the first and the second tile to the right.
  const Exchanges& band_exchanges(std::int32_t k) const { return at(band_exchanges_, k); }
  const Handle<Tile<T>>& band_diagonal(std::int32_t k) const { return at(diagonal_, k); }
  const Handle<Tile<T>>& band_below(std::int32_t k) const { return at(below_, k); }
  const Handle<Tile<T>>& band_right(std::int32_t k, std::int32_t distance) const {
    return at(distance == 1 ? right_ : second_right_, k);
  }
  /// Workspace: a column of tiles of T L^T, and of the columns that are exchanged.
  const Handle<Tile<T>>& products(std::int32_t k) const { return at(products_, k); }
  const Handle<Tile<T>>& collected(std::int32_t k) const { return at(collected_, k); }

  /// The largest absolute value of an element of T and U', after the factorization. Collective with several ranks.
  double largest_element() const;
  /// Where tasks write the largest value of a tile: 3 for each block.
  const std::shared_ptr<std::vector<double>>& sizes() const noexcept { return sizes_; }

  /// The size on disk, or in memory if everything fits.
  static Bytes bytes(std::int64_t n, std::int32_t tile) noexcept;

  /// Throws UsageError if `a` has another shape or other tiles.
  void require_shape_of(const TiledMatrix<T>& a) const;
  /// The largest tile whose panels fit into memory; 0: none.
  std::int32_t largest_tile_in_memory() const noexcept;

 private:
  using Tiles = std::vector<Handle<Tile<T>>>;
  template <class Handles>
  static const auto& at(const Handles& handles, std::int32_t k) {
    return handles[static_cast<std::size_t>(k)];
  }
  void remove_all() noexcept;

  Runtime& runtime_;
  std::int64_t n_;
  std::int32_t tile_;
  bool is_distributed_;
  Symmetry symmetry_;
  std::vector<Exchanges> panels_, band_exchanges_;
  Tiles diagonal_, below_, right_, second_right_, products_, collected_;
  std::shared_ptr<std::vector<double>> sizes_;
};

// Below, T is float, double or a complex number of these.

/// Factors a symmetric or Hermitian matrix in place. Uses only the tiles on and below the diagonal, and of diagonal tiles
/// only the lower triangle; the diagonal of a Hermitian matrix counts as real. A zero pivot of T, which means that the matrix is singular, fails with a NumericalError, as does one
/// that is not finite. Throws UsageError if `p` does not match the matrix, FootprintError if a panel does not fit into
/// memory.
template <class T>
void factor_ldlt(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const SymmetricPivots<T>& p);

/// b := A^-1 b, for these factors. b has as many rows as A, in tiles of the same side, and any number of columns. Throws
/// UsageError if the shapes do not match.
template <class T>
void solve_ldlt_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                         const SymmetricPivots<T>& p, const TiledMatrix<T>& b);

/// The determinant, from U', which is read once. Waits for the flow.
template <class T>
LogDeterminant ldlt_determinant(Flow& flow, const SymmetricPivots<T>& p, const TiledMatrix<T>& a);

/// The numbers of positive, negative and zero eigenvalues of A, which are those of T (Sylvester's law of inertia). LAPACK
/// reduces T to a tridiagonal matrix, of which a Sturm sequence counts the eigenvalues. Those of at most n rounding units,
/// relative to the norm of T, count as zero. Waits for the flow. The calling thread does about 6 n^2 tile operations with
/// n (tile + 5) elements, which are not part of the memory limit. Of a complex matrix, which must be Hermitian.
template <class T>
Inertia ldlt_inertia(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a);

/// The number of tasks that factor_ldlt() submits for this many columns of tiles; and that solve_ldlt_factored() submits
/// for this many columns of tiles in b.
std::uint64_t ldlt_tasks(std::int64_t tiles) noexcept;
std::uint64_t ldlt_solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept;

#define FAIRLEAD_LDLT_OF(T)                                                                      \
  extern template class SymmetricPivots<T>;                                                      \
  extern template void factor_ldlt<T>(Flow&, const Kernels&, const TiledMatrix<T>&,              \
                                      const SymmetricPivots<T>&);                                \
  extern template void solve_ldlt_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,      \
                                              const SymmetricPivots<T>&, const TiledMatrix<T>&); \
  extern template Inertia ldlt_inertia<T>(Flow&, const Kernels&, const TiledMatrix<T>&);         \
  extern template LogDeterminant ldlt_determinant<T>(Flow&, const SymmetricPivots<T>&, const TiledMatrix<T>&);
FAIRLEAD_LDLT_OF(float)
FAIRLEAD_LDLT_OF(double)
FAIRLEAD_LDLT_OF(std::complex<float>)
FAIRLEAD_LDLT_OF(std::complex<double>)
#undef FAIRLEAD_LDLT_OF

}  // namespace fairlead::linalg
