// A tiled matrix product as a parameterized graph: tile by tile of C the products one after the other.
#include <fairlead/parameterized_linalg.hpp>

#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

template <class T>
void multiply(ptg::Graph& graph, const Kernels& kernels, T alpha, const TiledMatrix<T>& a,
              const TiledMatrix<T>& b, T beta, const TiledMatrix<T>& c) {
  using ptg::flow;
  require_product(a, b, c);
  const ProductKernels<T> tile(kernels, alpha, beta);
  const std::int32_t rows = c.tile_rows(), columns = c.tile_columns(), depth = a.tile_columns();
  const ptg::Index i("i"), j("j"), k("k");
  // A datum is in one collection only, and A may be B.
  const bool square = a(0, 0).datum().datum == b(0, 0).datum().datum;
  const ptg::Collection A = graph.data(a), B = square ? A : graph.data(b, "B"), C = graph.data(c, "C");
  auto first = graph.task("gemm_first", i.in(0, rows - 1), j.in(0, columns - 1));
  auto add = graph.task("gemm", i.in(0, rows - 1), j.in(0, columns - 1), k.in(1, depth - 1));

  const auto begins_with = [&](const auto& product) {
    first.runs(product, flow("A").from(A(i, 0)), flow("B").from(B(0, j)), flow("C").from(C(i, j)));
  };
  beta == 0 ? begins_with(tile.set) : begins_with(tile.scale_and_add);
  add.runs(tile.add, flow("A").from(A(i, k)), flow("B").from(B(k, j)),
           flow("C").from(first["C"](i, j)).when(k == 1).from(add["C"](i, j, k - 1)));
}

template void multiply<float>(ptg::Graph&, const Kernels&, float, const TiledMatrix<float>&,
                              const TiledMatrix<float>&, float, const TiledMatrix<float>&);
template void multiply<double>(ptg::Graph&, const Kernels&, double, const TiledMatrix<double>&,
                               const TiledMatrix<double>&, double, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
