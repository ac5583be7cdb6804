// The tasks of a tiled matrix product in program order. All priorities are equal: no task is critical, so policies can
// order tasks by their data alone.
#include <fairlead/linalg.hpp>

#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

template <class T>
void multiply(Flow& flow, const Kernels& kernels, T alpha, const TiledMatrix<T>& a, const TiledMatrix<T>& b,
              T beta, const TiledMatrix<T>& c) {
  require_product(a, b, c);
  const ProductKernels<T> tile(kernels, alpha, beta);
  for (std::int32_t i = 0; i < c.tile_rows(); ++i)
    for (std::int32_t j = 0; j < c.tile_columns(); ++j)
      for (std::int32_t k = 0; k < a.tile_columns(); ++k)
        if (k > 0)
          flow.submit(tile.add(a(i, k), b(k, j), c(i, j)));
        else if (beta == 0)
          flow.submit(tile.set(a(i, k), b(k, j), c(i, j)));
        else
          flow.submit(tile.scale_and_add(a(i, k), b(k, j), c(i, j)));
}

template void multiply<float>(Flow&, const Kernels&, float, const TiledMatrix<float>&,
                              const TiledMatrix<float>&, float, const TiledMatrix<float>&);
template void multiply<double>(Flow&, const Kernels&, double, const TiledMatrix<double>&,
                               const TiledMatrix<double>&, double, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
