// A tiled matrix product as a parameterized graph: the products of each tile of C form a chain.
#include <fairlead/parameterized_linalg.hpp>

#include "algorithms/linalg/forwarded_data.hpp"
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
  // A datum may be in one collection only, and A may be B.
  const bool square = a.distribution() == nullptr
                          ? a(0, 0).datum().datum == b(0, 0).datum().datum
                          : a.distribution() == b.distribution();  // each matrix has its own Distribution
  const ptg::Collection of_a = graph.data(a), of_b = square ? of_a : graph.data(b, "B"),
                        C = graph.data(c, "C");
  ForwardedData<Tile<T>> A(of_a), B(of_b);
  auto first = graph.task("gemm_first", i.in(0, rows - 1), j.in(0, columns - 1));
  auto add = graph.task("gemm", i.in(0, rows - 1), j.in(0, columns - 1), k.in(1, depth - 1));
  if (c.distribution() != nullptr) {
    // Limits how early a tile is sent: `ahead` steps before one of its receivers needs it. If A is B, two steps need a
    // tile, so there is no limit.
    constexpr int ahead = 2;
    const auto not_before = [&](const ptg::Expression& row, const ptg::Expression& column,
                                const ptg::Expression& step) {
      return ptg::control("not before").from(add(row, column, step - ahead)).when(step > ahead);
    };
    const auto pass = [&](ForwardedData<Tile<T>>& of, const char* name, std::vector<ptg::Range> indices,
                          const ptg::Expression& step, const auto&... controls) {
      of.forward(graph, name, std::move(indices), depth - step, controls...);
    };
    if (square) {
      pass(A, "pass A", {i.in(0, rows - 1), k.in(0, depth - 1)}, min(i, k));
      B = A;
    } else {
      pass(A, "pass A", {i.in(0, rows - 1), k.in(0, depth - 1)}, k, not_before(i, k % columns, k));
      pass(B, "pass B", {k.in(0, depth - 1), j.in(0, columns - 1)}, k, not_before(k % rows, j, k));
    }
  }

  const auto begins_with = [&](const auto& product) {
    first.runs(product, flow("A").from(A(i, 0)), flow("B").from(B(0, j)), flow("C").from(C(i, j)))
        .at(C(i, j));
  };
  beta == 0 ? begins_with(tile.set) : begins_with(tile.scale_and_add);
  add.runs(tile.add, flow("A").from(A(i, k)), flow("B").from(B(k, j)),
           flow("C").from(first["C"](i, j)).when(k == 1).from(add["C"](i, j, k - 1)))
      .at(C(i, j));
  if (c.distribution() != nullptr) add.priority(depth - k);
}

template void multiply<float>(ptg::Graph&, const Kernels&, float, const TiledMatrix<float>&,
                              const TiledMatrix<float>&, float, const TiledMatrix<float>&);
template void multiply<double>(ptg::Graph&, const Kernels&, double, const TiledMatrix<double>&,
                               const TiledMatrix<double>&, double, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
