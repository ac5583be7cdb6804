// A tiled Cholesky factorization as a flow of tasks.
#include <fairlead/linalg.hpp>

#include "algorithms/linalg/cholesky_tasks.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

namespace {
template <class T>
struct CholeskySink {
  Flow& flow;
  CholeskyKernels<T> tile;
  const TiledMatrix<T>& a;

  void potrf(std::int32_t k, int priority) {
    flow.submit(tile.potrf(a(k, k), static_cast<std::int64_t>(k) * a.tile()).priority(priority));
  }
  void trsm(std::int32_t m, std::int32_t k, int priority) {
    flow.submit(tile.trsm(a(k, k), a(m, k)).priority(priority));
  }
  void syrk(std::int32_t j, std::int32_t k, int priority) {
    flow.submit(tile.syrk(a(j, k), a(j, j)).priority(priority));
  }
  void gemm(std::int32_t m, std::int32_t j, std::int32_t k, int priority) {
    flow.submit(tile.gemm(a(m, k), a(j, k), a(m, j)).priority(priority));
  }
};
}  // namespace

template <class T>
void cholesky(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a) {
  require_square(a, "a Cholesky factorization");
  for_each_cholesky_task(a.tile_rows(), CholeskySink<T>{flow, CholeskyKernels<T>(kernels), a});
}

std::uint64_t cholesky_tasks(std::int64_t tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * (nt + 2) / 6;
}

template void cholesky<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
template void cholesky<double>(Flow&, const Kernels&, const TiledMatrix<double>&);
template void cholesky<std::complex<float>>(Flow&, const Kernels&, const TiledMatrix<std::complex<float>>&);
template void cholesky<std::complex<double>>(Flow&, const Kernels&, const TiledMatrix<std::complex<double>>&);

}  // namespace fairlead::linalg
