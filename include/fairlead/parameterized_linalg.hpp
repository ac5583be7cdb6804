// Tiled linear algebra as parameterized graphs: the tasks and the edges are those of the flows in <fairlead/linalg.hpp>,
// <fairlead/qr.hpp> and <fairlead/incremental_lu.hpp>, and give the same numbers, bit by bit.
//
//   ptg::Graph graph(runtime);
//   linalg::cholesky(graph, kernels, a);
//   linalg::run_for_results(graph);
//
// Each function adds the classes of one algorithm; a graph has one of them, since it knows a datum by one name. What
// they are given stays as long as the graph. They throw as the functions for flows.
#pragma once
#include <fairlead/incremental_lu.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/qr.hpp>

namespace fairlead::linalg {

template <class T>
void cholesky(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a);
template <class T>
void solve_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& l,
                    const TiledMatrix<T>& b);

template <class T>
void lu(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a);
template <class T>
void solve_lu_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& lu,
                       const TiledMatrix<T>& b);

template <class T>
void factor_lu_incremental(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a,
                           const IncrementalPivots<T>& p);
template <class T>
void solve_lu_incremental_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a,
                                   const IncrementalPivots<T>& p, const TiledMatrix<T>& b);

template <class T>
void factor_qr(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q);
template <class T>
void solve_qr_factored(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a,
                       const QrReflectors<T>& q, const TiledMatrix<T>& b);

/// A and B may be the same; C is neither.
template <class T>
void multiply(ptg::Graph& graph, const Kernels& kernels, T alpha, const TiledMatrix<T>& a,
              const TiledMatrix<T>& b, T beta, const TiledMatrix<T>& c);

/// Graph::run(), but what the numbers do not allow is thrown as it is: as wait_for_results() of a flow.
void run_for_results(ptg::Graph& graph);

#define FAIRLEAD_PARAMETERIZED_LINALG_OF(T)                                                                  \
  extern template void cholesky<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&);                      \
  extern template void solve_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,                 \
                                         const TiledMatrix<T>&);                                             \
  extern template void lu<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&);                            \
  extern template void solve_lu_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,              \
                                            const TiledMatrix<T>&);                                          \
  extern template void factor_lu_incremental<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,          \
                                                const IncrementalPivots<T>&);                                \
  extern template void solve_lu_incremental_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,  \
                                                        const IncrementalPivots<T>&, const TiledMatrix<T>&); \
  extern template void factor_qr<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,                      \
                                    const QrReflectors<T>&);                                                 \
  extern template void solve_qr_factored<T>(ptg::Graph&, const Kernels&, const TiledMatrix<T>&,              \
                                            const QrReflectors<T>&, const TiledMatrix<T>&);                  \
  extern template void multiply<T>(ptg::Graph&, const Kernels&, T, const TiledMatrix<T>&,                    \
                                   const TiledMatrix<T>&, T, const TiledMatrix<T>&);
FAIRLEAD_PARAMETERIZED_LINALG_OF(float)
FAIRLEAD_PARAMETERIZED_LINALG_OF(double)
#undef FAIRLEAD_PARAMETERIZED_LINALG_OF

}  // namespace fairlead::linalg
