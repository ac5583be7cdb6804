// LU with incremental pivoting and its solve as parameterized graphs. Buttari, Langou, Kurzak, Dongarra 2009, like
// incremental_lu_tasks.hpp.
#include <fairlead/parameterized_linalg.hpp>

#include <complex>

#include "algorithms/linalg/forwarded_data.hpp"
#include "algorithms/linalg/incremental_lu_kernels.hpp"
#include "algorithms/linalg/parameterized_upper.hpp"
#include "algorithms/linalg/shapes.hpp"

namespace fairlead::linalg {

namespace {
/// The data of the pivots by tile, each on the rank of its tile: L1, the L of tiles on the diagonal, which is larger;
/// L2, the L of tiles below; P, the exchanges.
template <class T>
struct PivotData {
  ptg::Collection L1, L2, P;

  PivotData(ptg::Graph& graph, const IncrementalPivots<T>& p, const TiledMatrix<T>& a)
      : PivotData(graph, p, a.tile_rows(), a.distribution()) {}

 private:
  PivotData(ptg::Graph& graph, const IncrementalPivots<T>& p, std::int64_t nt, const Distribution* owners)
      : PivotData(graph, p, nt, owners, owners == nullptr ? Distribution::over(1) : diagonal_of(*owners)) {}
  PivotData(ptg::Graph& graph, const IncrementalPivots<T>& p, std::int64_t nt, const Distribution* owners,
            const Distribution& diagonal)
      : L1(graph.data<Tile<T>>(
            "L", {nt}, [&p](const std::int64_t* at) { return p.lower(row(at), row(at)); },
            owners == nullptr ? nullptr : &diagonal)),
        L2(graph.data<Tile<T>>(
            "L of a pair", {nt, nt},
            [&p](const std::int64_t* at) {
              return at[1] < at[0] ? p.lower(row(at), row(at + 1)) : Handle<Tile<T>>();
            },
            owners)),
        P(graph.data<Vector<std::int32_t>>(
            "P", {nt, nt},
            [&p](const std::int64_t* at) {
              return at[1] <= at[0] ? p.exchanges(row(at), row(at + 1)) : Handle<Vector<std::int32_t>>();
            },
            owners)) {}
  static Distribution diagonal_of(const Distribution& owners) {
    return Distribution([owners](std::int32_t row, std::int32_t) { return owners.owner(row, row); });
  }
  static std::int32_t row(const std::int64_t* at) { return static_cast<std::int32_t>(*at); }
};
}  // namespace

template <class T>
void factor_lu_incremental(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a,
                           const IncrementalPivots<T>& p) {
  using ptg::flow;
  p.require_shape_of(a);
  const PairwisePanelKernels<T> panel(kernels);
  const PairwiseUpdateKernels<T> update(kernels);
  const std::int32_t nt = a.tile_rows(), last = nt - 1;
  const ptg::Index k("k"), i("i"), j("j");
  const ptg::Collection A = graph.data(a);
  const PivotData<T> of_p(graph, p, a);
  auto getrf = graph.task("getrf", k.in(0, last));
  auto gessm = graph.task("gessm", k.in(0, last - 1), j.in(k + 1, last));
  auto tstrf = graph.task("tstrf", k.in(0, last - 1), i.in(k + 1, last));
  auto ssssm = graph.task("ssssm", k.in(0, last - 1), i.in(k + 1, last), j.in(k + 1, last));
  const std::int64_t tile = a.tile(), block = nt == 1 ? 0 : p.lower(1, 0).rows();

  // With several ranks a row of U moves down its column, to each tile that it is paired with, and home after the last.
  const auto to_home_after_last = [&](ptg::FlowSpecification of, const ptg::Expression& column) {
    return a.distribution() == nullptr ? of : std::move(of).to(A(k, column)).when(i == last);
  };
  getrf
      .runs(panel.getrf, flow("U").from(A(k, k)).when(k == 0).from(ssssm["C"](k - 1, k, k)),
            flow("L").from(of_p.L1(k)), flow("P").from(of_p.P(k, k)), k * tile, k == last)
      .priority(3 * nt - 3 * k)
      .at(A(k, k));
  gessm
      .runs(update.gessm, flow("L").from(getrf["L"](k)), flow("P").from(getrf["P"](k)),
            flow("C").from(A(k, j)).when(k == 0).from(ssssm["C"](k - 1, k, j)))
      .priority(3 * nt - (2 * k + j))
      .at(A(k, j));
  // The scratch is sized for full tiles, even if the last ones are smaller.
  tstrf
      .runs(panel.tstrf,
            to_home_after_last(flow("U").from(getrf["U"](k)).when(i == k + 1).from(tstrf["U"](k, i - 1)), k),
            flow("A").from(A(i, k)).when(k == 0).from(ssssm["C"](k - 1, i, k)), flow("L").from(of_p.L2(i, k)),
            flow("P").from(of_p.P(i, k)), scratch((block + a.rows_of(0)) * block), k * tile, i == last)
      .priority(3 * nt - (2 * k + i))
      .at(A(i, k));
  ssssm
      .runs(update.ssssm, flow("A").from(tstrf["A"](k, i)), flow("L").from(tstrf["L"](k, i)),
            flow("P").from(tstrf["P"](k, i)),
            to_home_after_last(
                flow("B").from(gessm["C"](k, j)).when(i == k + 1).from(ssssm["B"](k, i - 1, j)), j),
            flow("C").from(A(i, j)).when(k == 0).from(ssssm["C"](k - 1, i, j)))
      .priority(3 * nt - (i + j + k))
      .at(A(i, j));
}

template <class T>
void solve_lu_incremental_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a,
                                   const IncrementalPivots<T>& p, const TiledMatrix<T>& b) {
  using ptg::flow;
  p.require_shape_of(a);
  require_system(a, b);
  const PairwiseUpdateKernels<T> update(kernels);
  const std::int32_t nt = a.tile_rows(), last = nt - 1;
  const ptg::Index k("k"), i("i"), c("c");
  const ptg::Range column = c.in(0, b.tile_columns() - 1);
  SolvePlacement<T> of(graph, a, b);
  const PivotData<T> of_p(graph, p, a);
  auto gessm = graph.task("gessm", k.in(0, last), column);
  auto ssssm = graph.task("ssssm", k.in(0, last - 1), i.in(k + 1, last), column);
  const auto step = [&gessm](const ptg::Expression& number) { return gessm(number, 0); };
  of.forward(graph, step);
  ForwardedData<Tile<T>> L1(of_p.L1), L2(of_p.L2);
  ForwardedData<Vector<std::int32_t>> P(of_p.P);
  if (of.sends_matrix()) {
    L1.forward(graph, "pass L", {k.in(0, last)}, 4 * nt - 2 * k, of.not_before(step, k));
    L2.forward(graph, "pass L of a pair", {i.in(1, last), k.in(0, i - 1)}, 4 * nt - i - k,
               of.not_before(step, k));
    P.forward(graph, "pass P", {i.in(0, last), k.in(0, i)}, 4 * nt - i - k, of.not_before(step, k));
  }
  UpperClasses upper(graph, nt, b.tile_columns());

  gessm
      .runs(update.gessm, flow("L").from(L1(k)), flow("P").from(P(k, k)),
            flow("C").from(of.right_hand_side(k, c)).when(k == 0).from(ssssm["C"](k - 1, k, c)))
      .priority(4 * nt - 2 * k)
      .at(of.place_of_task(k, k, k, c));
  ssssm
      .runs(update.ssssm, flow("A").from(of.matrix(i, k)), flow("L").from(L2(i, k)), flow("P").from(P(i, k)),
            flow("B").from(gessm["C"](k, c)).when(i == k + 1).from(ssssm["B"](k, i - 1, c)),
            flow("C").from(of.right_hand_side(i, c)).when(k == 0).from(ssssm["C"](k - 1, i, c)))
      .priority(4 * nt - i - k)
      .at(of.place_of_task(i, k, i, c));
  upper.run<T>(kernels, u_of_lu, of, a.tile(),
               [&](ptg::FlowSpecification flow, const ptg::Expression& row, const ptg::Expression& of,
                   const ptg::Expression& condition) {
                 return std::move(flow)
                     .from(gessm["C"](row, of))
                     .when(condition && row == last)
                     .from(ssssm["B"](row, last, of))
                     .when(condition && row < last);
               });
}

#define FAIRLEAD_INCREMENTAL_LU_IN_GRAPHS_OF(T)                                                      \
  template void factor_lu_incremental<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,         \
                                         const IncrementalPivots<T>&);                               \
  template void solve_lu_incremental_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&, \
                                                 const IncrementalPivots<T>&, const TiledMatrix<T>&);
FAIRLEAD_INCREMENTAL_LU_IN_GRAPHS_OF(float)
FAIRLEAD_INCREMENTAL_LU_IN_GRAPHS_OF(double)
FAIRLEAD_INCREMENTAL_LU_IN_GRAPHS_OF(std::complex<float>)
FAIRLEAD_INCREMENTAL_LU_IN_GRAPHS_OF(std::complex<double>)
#undef FAIRLEAD_INCREMENTAL_LU_IN_GRAPHS_OF

}  // namespace fairlead::linalg
