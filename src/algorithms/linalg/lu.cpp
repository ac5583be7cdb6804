// Submits a tiled LU factorization without pivoting to a flow.
#include <fairlead/linalg.hpp>

#include "algorithms/linalg/lu_tasks.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

namespace {
template <class T>
struct LuSink {
  Flow& flow;
  LuKernels<T> tile;
  const TiledMatrix<T>& a;

  void getrf(std::int32_t k, int priority) {
    flow.submit(tile.getrf(a(k, k), static_cast<std::int64_t>(k) * a.tile()).priority(priority));
  }
  void trsm_below(std::int32_t i, std::int32_t k, int priority) {
    flow.submit(tile.trsm_below(a(k, k), a(i, k)).priority(priority));
  }
  void trsm_right(std::int32_t i, std::int32_t k, int priority) {
    flow.submit(tile.trsm_right(a(k, k), a(k, i)).priority(priority));
  }
  void gemm(std::int32_t m, std::int32_t j, std::int32_t k, int priority) {
    flow.submit(tile.gemm(a(m, k), a(k, j), a(m, j)).priority(priority));
  }
};
}  // namespace

template <class T>
void lu(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a) {
  require_square(a, "an LU factorization");
  for_each_lu_task(a.tile_rows(), LuSink<T>{flow, LuKernels<T>(kernels), a});
}

std::uint64_t lu_tasks(std::int64_t tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * (2 * nt + 1) / 6;
}

template void lu<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
template void lu<double>(Flow&, const Kernels&, const TiledMatrix<double>&);
template void lu<std::complex<float>>(Flow&, const Kernels&, const TiledMatrix<std::complex<float>>&);
template void lu<std::complex<double>>(Flow&, const Kernels&, const TiledMatrix<std::complex<double>>&);

}  // namespace fairlead::linalg
