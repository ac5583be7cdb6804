// Forward substitution in reverse: by columns of L, from the last. A column is applied to the tiles of b below the diagonal
// before its own tile of b changes, so b is replaced in place.
#include "algorithms/linalg/lower_product.hpp"

#include <complex>

#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

template <class T>
void multiply_lower(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& l, const TiledMatrix<T>& b) {
  require_system(l, b);
  const ProductKernels<T> off_diagonal(kernels, 1, 1);
  const LowerProductKernels<T> on_diagonal(kernels);
  for (std::int32_t k = l.tile_rows() - 1; k >= 0; --k) {
    for (std::int32_t i = k + 1; i < l.tile_rows(); ++i)
      for (std::int32_t c = 0; c < b.tile_columns(); ++c)
        flow.submit(off_diagonal.add(l(i, k), b(k, c), b(i, c)));
    for (std::int32_t c = 0; c < b.tile_columns(); ++c)
      flow.submit(on_diagonal.multiply_lower(l(k, k), b(k, c)));
  }
}

std::uint64_t lower_product_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept {
  return static_cast<std::uint64_t>(tiles * (tiles + 1) / 2 * columns_of_tiles);
}

#define FAIRLEAD_LOWER_PRODUCT_OF(T) \
  template void multiply_lower<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const TiledMatrix<T>&);
FAIRLEAD_LOWER_PRODUCT_OF(float)
FAIRLEAD_LOWER_PRODUCT_OF(double)
FAIRLEAD_LOWER_PRODUCT_OF(std::complex<float>)
FAIRLEAD_LOWER_PRODUCT_OF(std::complex<double>)
#undef FAIRLEAD_LOWER_PRODUCT_OF

}  // namespace fairlead::linalg
