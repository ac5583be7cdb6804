// The bodies of the tasks of an LU factorization with incremental pivoting.
#include "algorithms/linalg/incremental_lu_kernels.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/pairwise_lu.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/singular_error.hpp"

namespace fairlead::linalg {

namespace {

/// The triangle of U that a task produces.
struct TriangleOfU {
  std::int64_t first_column;
  bool complete;  // no later tile provides pivots
};

[[noreturn]] void throw_not_finite(std::int64_t column) {
  throw NumericalError(fmt::format("the pivot in column {}, counted from 0, is not finite", column));
}

template <class T>
void require_pivots(const TileView<T>& u, const TriangleOfU& triangle) {
  for (int i = 0; i < u.columns(); ++i) {
    if (!is_finite_number(u(i, i))) throw_not_finite(triangle.first_column + i);
    if (triangle.complete && u(i, i) == T(0))
      throw SingularError(fmt::format(
          "the matrix is singular, or close to it: the pivot in column {}, counted from 0, is zero",
          triangle.first_column + i));
  }
}

template <class T>
void factor_diagonal(const Kernels& kernels, const InOut<Tile<T>>& a, const Out<Tile<T>>& l,
                     const Out<Vector<std::int32_t>>& exchanges, const TriangleOfU& triangle) {
  const int n = a.columns();
  std::int32_t* const pivots = exchanges.data();
  // A zero pivot remains on the diagonal; a tile below may provide another one.
  (void)kernels.blas().getrf<T>(n, n, a.data(), a.leading_dimension(), pivots);
  require_pivots<T>(a, triangle);
  for (int i = 0; i < n; ++i)
    if (pivots[i] < i + 1 || pivots[i] > n) throw_not_finite(triangle.first_column + i);
  // A copy of L: later tasks modify U in the tile, while others solve with L.
  for (int j = 0; j < n; ++j) std::copy_n(&a(0, j), n, &l(0, j));
  kernels.count(Kernel::getrf, real_flops<T> * getrf_flops(n));
}

template <class T>
PairFactors<const T, const std::int32_t> pair_factors(const In<Tile<T>>& l,
                                                      const In<Vector<std::int32_t>>& exchanges) {
  return {l.rows(), l.data(), l.leading_dimension(), exchanges.data()};
}

/// Checks exchanges that may have been on disk: a corrupted index must not access memory outside the tile. Row i of
/// each `block` exchanges may be exchanged with rows of the block and `below` rows below it.
void require_rows(const In<Vector<std::int32_t>>& exchanges, int block, int below) {
  for (std::int64_t first = 0; first < exchanges.size(); first += block) {
    const std::int64_t count = std::min<std::int64_t>(block, exchanges.size() - first);
    for (std::int64_t i = first; i < first + count; ++i)
      if (exchanges(i) < i - first + 1 || exchanges(i) > count + below)
        throw SystemError(
            fmt::format("the exchanges of rows that were kept are no longer what they were (row {} with {} "
                        "of {}): a disk "
                        "or the memory has failed",
                        i, exchanges(i), count + below));
  }
}

/// C := P^T L^-H C.
template <class T>
void gessm_transposed(const Blas& blas, const In<Tile<T>>& l, const std::int32_t* pivots,
                      const InOut<Tile<T>>& c) {
  blas.trsm<T>(Side::left, Triangle::lower, adjoint<T>, Diagonal::unit, c.rows(), c.columns(), 1, l.data(),
               l.leading_dimension(), c.data(), c.leading_dimension());
  blas.laswp<T>(c.columns(), c.data(), c.leading_dimension(), c.rows(), pivots, true);
}

}  // namespace

template <class T>
PairwisePanelKernels<T>::PairwisePanelKernels(const Kernels& kernels)
    : getrf(codelet("getrf")
                .cpu(body_of_type<T>,
                     [kernels](InOut<Tile> a, Out<Tile> l, Out<Exchanges> exchanges,
                               std::int64_t first_column, bool complete) {
                       factor_diagonal<T>(kernels, a, l, exchanges, {first_column, complete});
                     })
                .flops(
                    [](auto& a, auto&, auto&, auto&, auto&) { return real_flops<T> * getrf_flops(a.rows()); })
                .emulated()),
      tstrf(codelet("tstrf")
                .cpu(body_of_type<T>,
                     [kernels](InOut<Tile> u, InOut<Tile> a, Out<Tile> l, Out<Exchanges> exchanges,
                               Scratch<T> work, std::int64_t first_column, bool complete) {
                       const int info = fairlead::linalg::tstrf<T>(
                           kernels.blas(), a.rows(), a.columns(), u.data(), u.leading_dimension(), a.data(),
                           a.leading_dimension(),
                           {l.rows(), l.data(), l.leading_dimension(), exchanges.data()}, work.data());
                       if (info > 0) throw_not_finite(first_column + info - 1);
                       require_pivots<T>(u, {first_column, complete});
                       kernels.count(Kernel::tstrf, real_flops<T> * tstrf_flops(a.rows(), a.columns()));
                     })
                .flops([](auto&, auto& a, auto&, auto&, auto&, auto&, auto&) {
                  return real_flops<T> * tstrf_flops(a.rows(), a.columns());
                })
                .emulated()) {}

template <class T>
PairwiseUpdateKernels<T>::PairwiseUpdateKernels(const Kernels& kernels, Elimination which)
    : gessm(
          codelet("gessm")
              .cpu(body_of_type<T>,
                   [kernels, which](In<Tile> l, In<Exchanges> exchanges, InOut<Tile> c) {
                     const Blas& blas = kernels.blas();
                     require_rows(exchanges, c.rows(), 0);
                     if (which == Elimination::transposed) {
                       gessm_transposed<T>(blas, l, exchanges.data(), c);
                     } else {
                       blas.laswp<T>(c.columns(), c.data(), c.leading_dimension(), c.rows(),
                                     exchanges.data());
                       panel_solve<T>(blas, right_of_lu, c.rows(), c.columns(), l.data(),
                                      l.leading_dimension(), c.data(), c.leading_dimension());
                     }
                     kernels.count(Kernel::gessm, real_flops<T> * trsm_flops(c.columns(), c.rows()));
                   })
              .flops([](auto&, auto&, auto& c) { return real_flops<T> * trsm_flops(c.columns(), c.rows()); })
              .emulated()),
      ssssm(codelet("ssssm")
                .cpu(body_of_type<T>,
                     [kernels, which](In<Tile> a, In<Tile> l, In<Exchanges> exchanges, InOut<Tile> c1,
                                      InOut<Tile> c2) {
                       require_rows(exchanges, l.rows(), a.rows());
                       const auto update = which == Elimination::plain
                                               ? fairlead::linalg::ssssm<T>
                                               : fairlead::linalg::ssssm_transposed<T>;
                       update(kernels.blas(), a.rows(), a.columns(), c2.columns(), a.data(),
                              a.leading_dimension(), pair_factors<T>(l, exchanges), c1.data(),
                              c1.leading_dimension(), c2.data(), c2.leading_dimension());
                       kernels.count(Kernel::ssssm,
                                     real_flops<T> * ssssm_flops(c2.rows(), c2.columns(), a.columns()));
                     })
                .flops([](auto& a, auto&, auto&, auto&, auto& c2) {
                  return real_flops<T> * ssssm_flops(c2.rows(), c2.columns(), a.columns());
                })
                .emulated()) {}

#define FAIRLEAD_PAIRWISE_KERNELS_OF(T)    \
  template struct PairwisePanelKernels<T>; \
  template struct PairwiseUpdateKernels<T>;
FAIRLEAD_PAIRWISE_KERNELS_OF(float)
FAIRLEAD_PAIRWISE_KERNELS_OF(double)
FAIRLEAD_PAIRWISE_KERNELS_OF(std::complex<float>)
FAIRLEAD_PAIRWISE_KERNELS_OF(std::complex<double>)
#undef FAIRLEAD_PAIRWISE_KERNELS_OF

}  // namespace fairlead::linalg
