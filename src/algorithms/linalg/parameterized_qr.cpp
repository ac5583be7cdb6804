// A tiled QR factorization and its least squares solve as parameterized graphs, like qr_tasks.hpp.
#include <fairlead/parameterized_linalg.hpp>

#include <complex>

#include "algorithms/linalg/forwarded_data.hpp"
#include "algorithms/linalg/parameterized_qr_updates.hpp"
#include "algorithms/linalg/parameterized_upper.hpp"
#include "algorithms/linalg/shapes.hpp"

namespace fairlead::linalg {

namespace {

/// The data of Q other than the tiles of the matrix: by tile, on the rank of the tile; empty for tiles without.
template <class T>
struct ReflectorData {
  using Of = const Handle<Tile<T>>& (QrReflectors<T>::*)(std::int32_t, std::int32_t) const;

  ReflectorData(ptg::Graph& graph, const QrReflectors<T>& q, const TiledMatrix<T>& a)
      : V(placement(graph, q, a, "V", &QrReflectors<T>::reflectors)),
        T1(placement(graph, q, a, "T", &QrReflectors<T>::factors)),
        T2(placement(graph, q, a, "T of a pair", &QrReflectors<T>::joined_factors)) {}
  static ptg::Collection placement(ptg::Graph& graph, const QrReflectors<T>& q, const TiledMatrix<T>& a,
                                   const char* name, Of which) {
    return graph.data<Tile<T>>(
        name, {a.tile_rows(), a.tile_columns()},
        [&](const std::int64_t* at) {
          return (q.*which)(static_cast<std::int32_t>(at[0]), static_cast<std::int32_t>(at[1]));
        },
        a.distribution());
  }

  ptg::Collection V, T1, T2;
};

template <class T>
ScratchSize work_for(const QrReflectors<T>& q, const TiledMatrix<T>& c) {
  return scratch(static_cast<std::int64_t>(q.inner_block()) * c.columns_of(0));
}

constexpr auto leaves_nothing = [](ptg::FlowSpecification flow, const ptg::Expression&) { return flow; };

}  // namespace

template <class T>
void factor_qr(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q) {
  using ptg::flow;
  q.require_shape_of(a);
  const std::int32_t rows = a.tile_rows(), columns = a.tile_columns();
  const bool flat = q.tree() == QrTree::flat;
  const TreeOfRows tiles(rows);
  const ptg::Index &k = tiles.step(), &i = tiles.row();
  const ptg::Index j("j");
  const QrPanelKernels<T> panel(kernels);
  const ScratchSize work = work_for(q, a);
  const ptg::Collection A = graph.data(a);
  const ReflectorData<T> of_q(graph, q, a);
  auto geqrt = flat ? graph.task("geqrt", k.in(0, columns - 1))
                    : graph.task("geqrt", k.in(0, columns - 1), i.in(k, rows - 1));
  auto join =
      flat ? graph.task("tsqrt", k.in(0, columns - 1), tiles.below())
           : graph.task("ttqrt", k.in(0, columns - 1), tiles.below(), tiles.distance(), tiles.last_on_top());
  QrUpdates updates(graph, q.tree(), rows, columns, tiles, j.in(k + 1, columns - 1));
  const ptg::Expression steps = 2 * rows + columns;
  const bool over_ranks = a.distribution() != nullptr;
  const auto home = [&](ptg::FlowSpecification of, const ptg::Expression& row,
                        const ptg::Expression& condition) {
    return over_ranks ? std::move(of).to(A(row, k)).when(condition) : of;
  };
  const auto from_before = [&](ptg::FlowSpecification of, const ptg::Expression& row) {
    return std::move(of).from(A(row, k)).when(k == 0).from(updates.annihilated(k - 1, row, k));
  };

  if (flat) {
    geqrt
        .runs(panel.geqrt, from_before(flow("R"), k), flow("V").from(of_q.V(k, k)),
              flow("T").from(of_q.T1(k, k)), work)
        .priority(steps - 3 * k)
        .at(A(k, k));
    join.runs(
            panel.tsqrt,
            home(flow("R").from(geqrt["R"](k)).when(i == k + 1).from(join["R"](k, i - 1)), k, i == rows - 1),
            from_before(flow("A"), i), flow("T").from(of_q.T2(i, k)), work)
        .priority(steps - (i + 2 * k))
        .at(A(i, k));
  } else {
    const auto start = [&](const ptg::Expression& row) { return geqrt["R"](k, row); };
    const auto top = [&](const ptg::Expression& row) { return join["R"](k, row); };
    const auto bottom = [&](const ptg::Expression& row) { return join["A"](k, row); };
    geqrt
        .runs(panel.geqrt,
              home(tiles.from_start(from_before(flow("R"), i), top, bottom), k, tiles.start_is_last()),
              flow("V").from(of_q.V(i, k)), flow("T").from(of_q.T1(i, k)), work)
        .priority(steps - (i + 2 * k))
        .at(A(i, k));
    join.runs(
            panel.ttqrt,
            home(tiles.from_upper(tiles.upper(flow("R"), start, top), top, bottom), k, tiles.upper_is_last()),
            home(tiles.lower(flow("A"), start, top), i, 1), flow("T").from(of_q.T2(i, k)), work)
        .priority(steps - (i + 2 * k))
        .at(A(i, k));
  }
  const auto of_triangle = [&geqrt, flat](const char* name) {
    return [&geqrt, flat, name](const ptg::Expression& step, const ptg::Expression& row) {
      return flat ? geqrt[name](step) : geqrt[name](step, row);
    };
  };
  const auto of_join = [&join](const char* name) {
    return [&join, name](const ptg::Expression& step, const ptg::Expression& row) {
      return join[name](step, row);
    };
  };
  updates.run(QrUpdateKernels<T>(kernels, ApplyQ::transposed),
              {of_triangle("V"), of_triangle("T"), of_join("A"), of_join("T")},
              {.initial = A,
               .home = over_ranks ? UpdatePlacement::Of(A) : nullptr,
               .row_goes_home = true,
               .where = [&A](const ptg::Expression& row, const ptg::Expression&,
                             const ptg::Expression& column) { return A(row, column); }},
              work, steps - j, leaves_nothing);
}

template <class T>
void solve_qr_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a,
                       const QrReflectors<T>& q, const TiledMatrix<T>& b) {
  q.require_shape_of(a);
  require_q_applicable(a, b);
  const std::int32_t rows = a.tile_rows(), columns = a.tile_columns();
  const bool flat = q.tree() == QrTree::flat;
  const TreeOfRows tiles(rows);
  const ptg::Index c("c");
  SolvePlacement<T> of(graph, a, b);
  const ReflectorData<T> of_q(graph, q, a);
  QrUpdates updates(graph, q.tree(), rows, columns, tiles, c.in(0, b.tile_columns() - 1));
  const auto step_of = [&](const ptg::Expression& step) { return updates.initial(step, 0); };
  of.forward(graph, step_of);
  ForwardedData<Tile<T>> V(of_q.V), T1(of_q.T1), T2(of_q.T2);
  if (of.sends_matrix()) {
    const ptg::Index i("i"), k("k");
    const ptg::Expression priority = 3 * rows + columns - k - i, width = columns;
    std::vector<ptg::Range> triangles{i.in(0, rows - 1), k.in(0, min(i, width - 1))};
    if (flat) triangles = {i.in(0, columns - 1), k.in(i, i)};
    const auto not_before = of.not_before(step_of, k);
    V.forward(graph, "pass V", triangles, priority, not_before);
    T1.forward(graph, "pass T", triangles, priority, not_before);
    T2.forward(graph, "pass T of a pair", {i.in(1, rows - 1), k.in(0, min(i, width) - 1)}, priority,
               not_before);
  }
  UpperClasses upper(graph, columns, b.tile_columns());
  const auto in = [](const auto& data) {
    return [data](const ptg::Expression& step, const ptg::Expression& row) { return data(row, step); };
  };
  const auto of_matrix = [&of](const ptg::Expression& step, const ptg::Expression& row) {
    return of.matrix(row, step);
  };
  const ptg::Collection B = of.right_hand_sides();
  updates.run(
      QrUpdateKernels<T>(kernels, ApplyQ::transposed), {in(V), in(T1), of_matrix, in(T2)},
      {.initial = [&of](const ptg::Expression& row,
                        const ptg::Expression& column) { return of.right_hand_side(row, column); },
       .home = of.is_distributed() ? UpdatePlacement::Of(B) : nullptr,
       .row_goes_home = false,
       .where = [&of](const ptg::Expression& row, const ptg::Expression& step,
                      const ptg::Expression& column) { return of.place_of_task(row, step, row, column); }},
      work_for(q, b), 2 * rows + columns, [&](ptg::FlowSpecification flow, const ptg::Expression& condition) {
        return upper.begins(std::move(flow), tiles.step(), c, condition);
      });
  upper.run<T>(kernels, r_of_qr, of, a.tile(),
               [&](ptg::FlowSpecification flow, const ptg::Expression& row, const ptg::Expression& column,
                   const ptg::Expression& condition) {
                 return flat ? updates.from_flat(std::move(flow), row, column, condition)
                             : updates.from_binary(std::move(flow), row, column, condition);
               });
}

#define FAIRLEAD_QR_IN_GRAPHS_OF(T)                                                                       \
  template void factor_qr<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&, const QrReflectors<T>&); \
  template void solve_qr_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,                  \
                                     const QrReflectors<T>&, const TiledMatrix<T>&);
FAIRLEAD_QR_IN_GRAPHS_OF(float)
FAIRLEAD_QR_IN_GRAPHS_OF(double)
FAIRLEAD_QR_IN_GRAPHS_OF(std::complex<float>)
FAIRLEAD_QR_IN_GRAPHS_OF(std::complex<double>)
#undef FAIRLEAD_QR_IN_GRAPHS_OF

}  // namespace fairlead::linalg
