// Tiled factorizations as parameterized graphs: the tasks are those of the flows in <fairlead/linalg.hpp>, and
// give the same numbers, bit by bit.
//
//   ptg::Graph graph(runtime);
//   linalg::cholesky(graph, kernels, a);
//   graph.run();
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>

namespace fairlead::linalg {

/// Adds the classes of a Cholesky factorization of the lower triangle: as cholesky() of a flow. The matrix and
/// the kernels stay as long as the graph. Throws UsageError if the matrix is not square.
template <class T>
void cholesky(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a);

/// The same for LU without pivoting: as lu() of a flow.
template <class T>
void lu(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a);

extern template void cholesky<float>(ptg::Graph&, const Kernels&, const TiledMatrix<float>&);
extern template void cholesky<double>(ptg::Graph&, const Kernels&, const TiledMatrix<double>&);
extern template void lu<float>(ptg::Graph&, const Kernels&, const TiledMatrix<float>&);
extern template void lu<double>(ptg::Graph&, const Kernels&, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
