// The solves after Cholesky and LU without pivoting as parameterized graphs: forward by columns of L, backward by
// columns of R, like factored_solve.cpp.
#include <fairlead/parameterized_linalg.hpp>

#include "algorithms/linalg/forwarded_data.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

namespace {
template <class T>
void solve_in_graph(ptg::Graph& graph, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                    const TiledMatrix<T>& b) {
  using ptg::flow;
  require_system(a, b);
  const SolveKernels<T> tile(kernels, factors);
  const std::int32_t nt = a.tile_rows(), last = nt - 1;
  const ptg::Index k("k"), i("i"), c("c");
  const ptg::Range column = c.in(0, b.tile_columns() - 1);
  SolvePlacement<T> of(graph, a, b);
  auto lower = graph.task("solve_lower", k.in(0, last), column);
  auto below = graph.task("update_lower", k.in(0, last - 1), i.in(k + 1, last), column);
  auto upper = graph.task("solve_upper", k.in(0, last), column);
  auto above = graph.task("update_upper", k.in(1, last), i.in(0, k - 1), column);
  of.forward(graph, [&lower](const ptg::Expression& step) { return lower(step, 0); });
  const ptg::Expression a_row = factors == Factors::lu ? i : k, a_column = factors == Factors::lu ? k : i;

  lower
      .runs(tile.solve_lower, flow("T").from(of.matrix(k, k)),
            flow("X").from(of.right_hand_side(k, c)).when(k == 0).from(below["Y"](k - 1, k, c)))
      .priority(4 * nt - 2 * k)
      .at(of.place_of_task(k, k, k, c));
  below
      .runs(tile.update_lower, flow("A").from(of.matrix(i, k)), flow("X").from(lower["X"](k, c)),
            flow("Y").from(of.right_hand_side(i, c)).when(k == 0).from(below["Y"](k - 1, i, c)))
      .priority(4 * nt - i - k)
      .at(of.place_of_task(i, k, i, c));
  upper
      .runs(tile.solve_upper, flow("T").from(of.matrix(k, k)),
            of.add_final_destination(
                flow("X").from(lower["X"](k, c)).when(k == last).from(above["Y"](k + 1, k, c)), k, c, 1))
      .priority(2 * k)
      .at(of.place_of_task(k, k, k, c));
  above
      .runs(tile.update_upper, flow("A").from(of.matrix(a_row, a_column)), flow("X").from(upper["X"](k, c)),
            flow("Y").from(lower["X"](i, c)).when(k == last).from(above["Y"](k + 1, i, c)))
      .priority(k + i)
      .at(of.place_of_task(a_row, a_column, i, c));
}
}  // namespace

template <class T>
void solve_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& l,
                    const TiledMatrix<T>& b) {
  solve_in_graph(graph, kernels, Factors::cholesky, l, b);
}

template <class T>
void solve_lu_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& lu,
                       const TiledMatrix<T>& b) {
  solve_in_graph(graph, kernels, Factors::lu, lu, b);
}

#define FAIRLEAD_SOLVES_IN_GRAPHS_OF(T)                                                  \
  template void solve_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,    \
                                  const TiledMatrix<T>&);                                \
  template void solve_lu_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&, \
                                     const TiledMatrix<T>&);
FAIRLEAD_SOLVES_IN_GRAPHS_OF(float)
FAIRLEAD_SOLVES_IN_GRAPHS_OF(double)
FAIRLEAD_SOLVES_IN_GRAPHS_OF(std::complex<float>)
FAIRLEAD_SOLVES_IN_GRAPHS_OF(std::complex<double>)
#undef FAIRLEAD_SOLVES_IN_GRAPHS_OF

}  // namespace fairlead::linalg
