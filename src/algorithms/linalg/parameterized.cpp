// Cholesky and LU without pivoting as parameterized graphs. Buttari, Langou, Kurzak, Dongarra 2009, like
// cholesky_tasks.hpp and lu_tasks.hpp. Each flow states only the origin of its value.
#include <fairlead/parameterized_linalg.hpp>

#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

template <class T>
void cholesky(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a) {
  using ptg::flow;
  require_square(a, "a Cholesky factorization");
  const std::int32_t nt = a.tile_rows();
  const CholeskyKernels<T> tile(kernels);
  const ptg::Index k("k"), m("m"), j("j");
  const ptg::Collection A = graph.data(a);
  auto potrf = graph.task("potrf", k.in(0, nt - 1));
  auto trsm = graph.task("trsm", k.in(0, nt - 2), m.in(k + 1, nt - 1));
  auto syrk = graph.task("syrk", k.in(0, nt - 2), j.in(k + 1, nt - 1));
  auto gemm = graph.task("gemm", k.in(0, nt - 3), m.in(k + 2, nt - 1), j.in(k + 1, m - 1));

  potrf.runs(tile.potrf, flow("T").from(A(k, k)).when(k == 0).from(syrk["T"](k - 1, k)), k * a.tile())
      .priority(3 * nt - 3 * k)
      .at(A(k, k));
  trsm.runs(tile.trsm, flow("T").from(potrf["T"](k)),
            flow("C").from(A(m, k)).when(k == 0).from(gemm["C"](k - 1, m, k)))
      .priority(3 * nt - (m + 2 * k))
      .at(A(m, k));
  syrk.runs(tile.syrk, flow("A").from(trsm["C"](k, j)),
            flow("T").from(A(j, j)).when(k == 0).from(syrk["T"](k - 1, j)))
      .priority(3 * nt - (2 * j + k))
      .at(A(j, j));
  gemm.runs(tile.gemm, flow("A").from(trsm["C"](k, m)), flow("B").from(trsm["C"](k, j)),
            flow("C").from(A(m, j)).when(k == 0).from(gemm["C"](k - 1, m, j)))
      .priority(3 * nt - (m + j + k))
      .at(A(m, j));
}

template <class T>
void lu(ptg::Graph& graph, const Kernels& kernels, const TiledMatrix<T>& a) {
  using ptg::flow;
  require_square(a, "an LU factorization");
  const std::int32_t nt = a.tile_rows();
  const LuKernels<T> tile(kernels);
  const ptg::Index k("k"), m("m"), j("j");
  const ptg::Collection A = graph.data(a);
  auto getrf = graph.task("getrf", k.in(0, nt - 1));
  auto below = graph.task("trsm_below", k.in(0, nt - 2), m.in(k + 1, nt - 1));
  auto right = graph.task("trsm_right", k.in(0, nt - 2), j.in(k + 1, nt - 1));
  auto gemm = graph.task("gemm", k.in(0, nt - 2), m.in(k + 1, nt - 1), j.in(k + 1, nt - 1));

  getrf.runs(tile.getrf, flow("T").from(A(k, k)).when(k == 0).from(gemm["C"](k - 1, k, k)), k * a.tile())
      .priority(3 * nt - 3 * k)
      .at(A(k, k));
  below
      .runs(tile.trsm_below, flow("T").from(getrf["T"](k)),
            flow("C").from(A(m, k)).when(k == 0).from(gemm["C"](k - 1, m, k)))
      .priority(3 * nt - (m + 2 * k))
      .at(A(m, k));
  right
      .runs(tile.trsm_right, flow("T").from(getrf["T"](k)),
            flow("C").from(A(k, j)).when(k == 0).from(gemm["C"](k - 1, k, j)))
      .priority(3 * nt - (j + 2 * k))
      .at(A(k, j));
  gemm.runs(tile.gemm, flow("A").from(below["C"](k, m)), flow("B").from(right["C"](k, j)),
            flow("C").from(A(m, j)).when(k == 0).from(gemm["C"](k - 1, m, j)))
      .priority(3 * nt - (m + j + k))
      .at(A(m, j));
}

template void cholesky<float>(ptg::Graph&, const Kernels&, const TiledMatrix<float>&);
template void cholesky<double>(ptg::Graph&, const Kernels&, const TiledMatrix<double>&);
template void cholesky<std::complex<float>>(ptg::Graph&, const Kernels&,
                                            const TiledMatrix<std::complex<float>>&);
template void cholesky<std::complex<double>>(ptg::Graph&, const Kernels&,
                                             const TiledMatrix<std::complex<double>>&);
template void lu<float>(ptg::Graph&, const Kernels&, const TiledMatrix<float>&);
template void lu<double>(ptg::Graph&, const Kernels&, const TiledMatrix<double>&);
template void lu<std::complex<float>>(ptg::Graph&, const Kernels&, const TiledMatrix<std::complex<float>>&);
template void lu<std::complex<double>>(ptg::Graph&, const Kernels&, const TiledMatrix<std::complex<double>>&);

}  // namespace fairlead::linalg
