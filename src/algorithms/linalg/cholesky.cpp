// The tasks of a tiled Cholesky factorization and of its triangular solves, in program order. Buttari,
// Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for multicore
// architectures").
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>

#include <fmt/format.h>

#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

template <class T>
void cholesky(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a) {
  if (a.rows() != a.columns())
    throw UsageError(fmt::format("a Cholesky factorization needs a square matrix; this one is {} x {}",
                                 a.rows(), a.columns()));
  const TileKernels<T> tile(kernels);
  const std::int32_t nt = a.tile_rows();
  // Tasks on the longest path to the end: potrf -> trsm -> gemm -> trsm -> ... down the diagonal. All four
  // kinds follow one formula of the tiles' indices.
  const auto steps_to_end = [nt](std::int32_t m, std::int32_t j, std::int32_t k) {
    return 3 * nt - (m + j + k);
  };
  for (std::int32_t k = 0; k < nt; ++k) {
    flow.submit(tile.potrf(a(k, k), static_cast<std::int64_t>(k) * a.tile()).priority(steps_to_end(k, k, k)));
    for (std::int32_t m = k + 1; m < nt; ++m)
      flow.submit(tile.trsm(a(k, k), a(m, k)).priority(steps_to_end(m, k, k)));
    for (std::int32_t j = k + 1; j < nt; ++j) {
      flow.submit(tile.syrk(a(j, k), a(j, j)).priority(steps_to_end(j, j, k)));
      for (std::int32_t m = j + 1; m < nt; ++m)
        flow.submit(tile.gemm(a(m, k), a(j, k), a(m, j)).priority(steps_to_end(m, j, k)));
    }
  }
}

template <class T>
void solve_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& l, const TiledMatrix<T>& b) {
  if (l.rows() != l.columns() || b.rows() != l.rows())
    throw UsageError(fmt::format("a matrix of {} x {} and right-hand sides of {} x {} do not match", l.rows(),
                                 l.columns(), b.rows(), b.columns()));
  if (l.tile() != b.tile())
    throw UsageError(
        fmt::format("the matrix has tiles of {} and the right-hand sides of {}: they must be the same",
                    l.tile(), b.tile()));
  const TileKernels<T> tile(kernels);
  const std::int32_t nt = l.tile_rows(), columns = b.tile_columns();
  // L y = b, by columns of L, and then L^T x = y, by rows of L from the last: what the first solve has used
  // last the second uses first.
  for (std::int32_t k = 0; k < nt; ++k) {
    for (std::int32_t c = 0; c < columns; ++c)
      flow.submit(tile.solve_lower(l(k, k), b(k, c)).priority(2 * nt + 2 * (nt - k)));
    for (std::int32_t i = k + 1; i < nt; ++i)
      for (std::int32_t c = 0; c < columns; ++c)
        flow.submit(tile.update_lower(l(i, k), b(k, c), b(i, c)).priority(2 * nt + 2 * nt - i - k));
  }
  for (std::int32_t k = nt - 1; k >= 0; --k) {
    for (std::int32_t c = 0; c < columns; ++c)
      flow.submit(tile.solve_upper(l(k, k), b(k, c)).priority(2 * k));
    for (std::int32_t i = k - 1; i >= 0; --i)
      for (std::int32_t c = 0; c < columns; ++c)
        flow.submit(tile.update_upper(l(k, i), b(k, c), b(i, c)).priority(k + i));
  }
}

std::uint64_t cholesky_tasks(std::int64_t tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * (nt + 2) / 6;
}
std::uint64_t solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * static_cast<std::uint64_t>(columns_of_tiles);
}

template void cholesky<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
template void cholesky<double>(Flow&, const Kernels&, const TiledMatrix<double>&);
template void solve_factored<float>(Flow&, const Kernels&, const TiledMatrix<float>&,
                                    const TiledMatrix<float>&);
template void solve_factored<double>(Flow&, const Kernels&, const TiledMatrix<double>&,
                                     const TiledMatrix<double>&);

}  // namespace fairlead::linalg
