// Tiled linear algebra as parameterized task graphs. Tasks and dependencies are those of the flows in
// <fairlead/linalg.hpp>, <fairlead/qr.hpp> and <fairlead/incremental_lu.hpp>; the results are bitwise identical.
//
//   ptg::Graph graph(runtime);
//   linalg::cholesky(graph, kernels, a);
//   linalg::run_for_results(graph);
//
// Each function adds the task classes of one algorithm. A graph can hold only one of them, since a graph accepts a
// datum under one name only. The arguments must outlive the graph. Errors are those of the functions for flows.
#pragma once
#include <fairlead/incremental_lu.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/qr.hpp>

#include <complex>

namespace fairlead::linalg {

// Below, T is float, double or a complex number of these; of multiply() it is float or double.

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

/// C := alpha A B + beta C. A and B may be the same matrix; C must be a different one.
template <class T>
void multiply(ptg::Graph& graph, const Kernels& kernels, T alpha, const TiledMatrix<T>& a,
              const TiledMatrix<T>& b, T beta, const TiledMatrix<T>& c);

/// Like Graph::run(), but throws numerical errors unwrapped, as wait_for_results() does for a flow.
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
                                            const QrReflectors<T>&, const TiledMatrix<T>&);
FAIRLEAD_PARAMETERIZED_LINALG_OF(float)
FAIRLEAD_PARAMETERIZED_LINALG_OF(double)
FAIRLEAD_PARAMETERIZED_LINALG_OF(std::complex<float>)
FAIRLEAD_PARAMETERIZED_LINALG_OF(std::complex<double>)
#undef FAIRLEAD_PARAMETERIZED_LINALG_OF
extern template void multiply<float>(ptg::Graph&, const Kernels&, float, const TiledMatrix<float>&,
                                     const TiledMatrix<float>&, float, const TiledMatrix<float>&);
extern template void multiply<double>(ptg::Graph&, const Kernels&, double, const TiledMatrix<double>&,
                                      const TiledMatrix<double>&, double, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
