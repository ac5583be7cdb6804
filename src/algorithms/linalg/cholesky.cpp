// The tasks of a tiled Cholesky factorization in program order. Buttari, Langou, Kurzak, Dongarra 2009 ("A
// class of parallel tiled linear algebra algorithms for multicore architectures").
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
  const CholeskyKernels<T> tile(kernels);
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

std::uint64_t cholesky_tasks(std::int64_t tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * (nt + 2) / 6;
}

template void cholesky<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
template void cholesky<double>(Flow&, const Kernels&, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
