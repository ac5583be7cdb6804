// The tasks of a tiled LU factorization without pivoting, in program order: as those of Cholesky, for both
// triangles. Buttari, Langou, Kurzak, Dongarra 2009, without their pivoting between pairs of tiles.
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>

#include <fmt/format.h>

#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

template <class T>
void lu(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a) {
  if (a.rows() != a.columns())
    throw UsageError(
        fmt::format("an LU factorization needs a square matrix; this one is {} x {}", a.rows(), a.columns()));
  const LuKernels<T> tile(kernels);
  const std::int32_t nt = a.tile_rows();
  // Tasks on the longest path to the end, getrf -> trsm -> gemm -> getrf -> ... down the diagonal.
  const auto steps_to_end = [nt](std::int32_t m, std::int32_t j, std::int32_t k) {
    return 3 * nt - (m + j + k);
  };
  for (std::int32_t k = 0; k < nt; ++k) {
    flow.submit(tile.getrf(a(k, k), static_cast<std::int64_t>(k) * a.tile()).priority(steps_to_end(k, k, k)));
    for (std::int32_t i = k + 1; i < nt; ++i) {
      flow.submit(tile.trsm_below(a(k, k), a(i, k)).priority(steps_to_end(i, k, k)));
      flow.submit(tile.trsm_right(a(k, k), a(k, i)).priority(steps_to_end(k, i, k)));
    }
    for (std::int32_t j = k + 1; j < nt; ++j)
      for (std::int32_t m = k + 1; m < nt; ++m)
        flow.submit(tile.gemm(a(m, k), a(k, j), a(m, j)).priority(steps_to_end(m, j, k)));
  }
}

std::uint64_t lu_tasks(std::int64_t tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * (2 * nt + 1) / 6;
}

template void lu<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
template void lu<double>(Flow&, const Kernels&, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
