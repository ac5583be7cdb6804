// A tiled LU factorization with incremental pivoting as a flow of tasks, and its solves.
#include <fairlead/incremental_lu.hpp>

#include <complex>

#include "algorithms/linalg/incremental_lu_kernels.hpp"
#include "algorithms/linalg/incremental_lu_tasks.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/upper_solve.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
class IncrementalLuSink {
 public:
  IncrementalLuSink(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                    const IncrementalPivots<T>& p)
      : flow_(flow), a_(a), p_(p), panel_(kernels), update_(kernels) {}

  void getrf(std::int32_t k, int priority) {
    flow_.submit(
        panel_.getrf(a_(k, k), p_.lower(k, k), p_.exchanges(k, k), first_column(k), k + 1 == a_.tile_rows())
            .priority(priority));
  }
  void gessm(std::int32_t k, std::int32_t j, int priority) {
    flow_.submit(update_.gessm(p_.lower(k, k), p_.exchanges(k, k), a_(k, j)).priority(priority));
  }
  void tstrf(std::int32_t i, std::int32_t k, int priority) {
    const auto block = static_cast<std::int64_t>(p_.lower(i, k).rows());
    flow_.submit(panel_
                     .tstrf(a_(k, k), a_(i, k), p_.lower(i, k), p_.exchanges(i, k),
                            scratch((block + a_.rows_of(i)) * block), first_column(k),
                            i + 1 == a_.tile_rows())
                     .priority(priority));
  }
  void ssssm(std::int32_t i, std::int32_t j, std::int32_t k, int priority) {
    flow_.submit(
        update_.ssssm(a_(i, k), p_.lower(i, k), p_.exchanges(i, k), a_(k, j), a_(i, j)).priority(priority));
  }

 private:
  std::int64_t first_column(std::int32_t k) const { return static_cast<std::int64_t>(k) * a_.tile(); }

  Flow& flow_;
  const TiledMatrix<T>& a_;
  const IncrementalPivots<T>& p_;
  PairwisePanelKernels<T> panel_;
  PairwiseUpdateKernels<T> update_;
};

/// Applies the elimination of the factorization to b: in its order, or its transpose from the end.
template <class T>
void eliminate(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const IncrementalPivots<T>& p,
               const TiledMatrix<T>& b, Elimination which) {
  const PairwiseUpdateKernels<T> update(kernels, which);
  const std::int32_t nt = a.tile_rows();
  const bool plain = which == Elimination::plain;
  const auto of_triangle = [&](std::int32_t k, int priority) {
    for (std::int32_t c = 0; c < b.tile_columns(); ++c)
      flow.submit(on_owner_of(update.gessm(p.lower(k, k), p.exchanges(k, k), b(k, c)).priority(priority), a,
                              k, k, b));
  };
  for (std::int32_t step = 0; step < nt; ++step) {
    const std::int32_t k = plain ? step : nt - 1 - step;
    if (plain) of_triangle(k, 4 * nt - 2 * k);
    for (std::int32_t below = k + 1; below < nt; ++below) {
      const std::int32_t i = plain ? below : nt + k - below;
      for (std::int32_t c = 0; c < b.tile_columns(); ++c)
        flow.submit(on_owner_of(update.ssssm(a(i, k), p.lower(i, k), p.exchanges(i, k), b(k, c), b(i, c))
                                    .priority(plain ? 4 * nt - i - k : i + k),
                                a, i, k, b));
    }
    if (!plain) of_triangle(k, 2 * k);
  }
}

}  // namespace

template <class T>
void factor_lu_incremental(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                           const IncrementalPivots<T>& p) {
  p.require_shape_of(a);
  for_each_incremental_lu_task(a.tile_rows(), IncrementalLuSink<T>(flow, kernels, a, p));
}

template <class T>
void solve_lu_incremental_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                   const IncrementalPivots<T>& p, const TiledMatrix<T>& b) {
  p.require_shape_of(a);
  require_system(a, b);
  eliminate(flow, kernels, a, p, b, Elimination::plain);
  solve_upper(flow, kernels, u_of_lu, a, {&b});
}

template <class T>
void solve_lu_incremental_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                     const IncrementalPivots<T>& p, const TiledMatrix<T>& b) {
  p.require_shape_of(a);
  require_system(a, b);
  solve_upper(flow, kernels, u_of_lu, a, {&b}, UpperForm::adjoint);
  eliminate(flow, kernels, a, p, b, Elimination::transposed);
}

std::uint64_t lu_incremental_tasks(std::int64_t tiles) noexcept {
  const auto nt = static_cast<std::uint64_t>(tiles);
  return nt * (nt + 1) * (2 * nt + 1) / 6;
}

std::uint64_t lu_incremental_solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept {
  return 2 * upper_solve_tasks(tiles, columns_of_tiles);
}

#define FAIRLEAD_INCREMENTAL_LU_OF(T)                                                                 \
  template void factor_lu_incremental<T>(Flow&, const Kernels&, const TiledMatrix<T>&,                \
                                         const IncrementalPivots<T>&);                                \
  template void solve_lu_incremental_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,        \
                                                 const IncrementalPivots<T>&, const TiledMatrix<T>&); \
  template void solve_lu_incremental_transposed<T>(Flow&, const Kernels&, const TiledMatrix<T>&,      \
                                                   const IncrementalPivots<T>&, const TiledMatrix<T>&);
FAIRLEAD_INCREMENTAL_LU_OF(float)
FAIRLEAD_INCREMENTAL_LU_OF(double)
FAIRLEAD_INCREMENTAL_LU_OF(std::complex<float>)
FAIRLEAD_INCREMENTAL_LU_OF(std::complex<double>)
#undef FAIRLEAD_INCREMENTAL_LU_OF

}  // namespace fairlead::linalg
