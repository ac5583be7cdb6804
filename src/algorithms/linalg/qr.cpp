// A tiled QR factorization as a flow of tasks, with its solves. Priorities follow those of Cholesky and LU: highest
// along the diagonal.
#include <fairlead/qr.hpp>

#include <algorithm>
#include <complex>
#include <ranges>
#include <vector>

#include "algorithms/linalg/qr_kernels.hpp"
#include "algorithms/linalg/qr_tasks.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/upper_solve.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
class QrSink {
 public:
  QrSink(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q)
      : flow_(flow), a_(a), q_(q), panel_(kernels), update_(kernels, ApplyQ::transposed) {}

  void geqrt(std::int32_t i, std::int32_t k) {
    flow_.submit(panel_.geqrt(a_(i, k), q_.reflectors(i, k), q_.factors(i, k), work(k))
                     .priority(steps_to_end(i, k, k)));
  }
  void unmqr(std::int32_t i, std::int32_t k, std::int32_t j) {
    flow_.submit(update_.unmqr(q_.reflectors(i, k), q_.factors(i, k), a_(i, j), work(j))
                     .priority(steps_to_end(i, j, k)));
  }
  void tsqrt(std::int32_t p, std::int32_t i, std::int32_t k) { join(panel_.tsqrt, p, i, k); }
  void ttqrt(std::int32_t p, std::int32_t i, std::int32_t k) { join(panel_.ttqrt, p, i, k); }
  void tsmqr(std::int32_t p, std::int32_t i, std::int32_t k, std::int32_t j) {
    apply_join(update_.tsmqr, p, i, k, j);
  }
  void ttmqr(std::int32_t p, std::int32_t i, std::int32_t k, std::int32_t j) {
    apply_join(update_.ttmqr, p, i, k, j);
  }

 private:
  int steps_to_end(std::int32_t i, std::int32_t j, std::int32_t k) const {
    return 2 * a_.tile_rows() + a_.tile_columns() - (i + j + k);
  }
  ScratchSize work(std::int32_t j) const {
    return scratch(static_cast<std::int64_t>(q_.inner_block()) * a_.columns_of(j));
  }
  void join(const typename QrPanelKernels<T>::Join& kernel, std::int32_t p, std::int32_t i, std::int32_t k) {
    flow_.submit(
        kernel(a_(p, k), a_(i, k), q_.joined_factors(i, k), work(k)).priority(steps_to_end(i, k, k)));
  }
  void apply_join(const typename QrUpdateKernels<T>::OfJoin& kernel, std::int32_t p, std::int32_t i,
                  std::int32_t k, std::int32_t j) {
    flow_.submit(kernel(a_(i, k), q_.joined_factors(i, k), a_(p, j), a_(i, j), work(j))
                     .priority(steps_to_end(i, j, k)));
  }

  Flow& flow_;
  const TiledMatrix<T>& a_;
  const QrReflectors<T>& q_;
  QrPanelKernels<T> panel_;
  QrUpdateKernels<T> update_;
};

/// A step of a panel; the steps are stored so that Q can be applied in reverse.
struct Reflection {
  std::int32_t p, i, k;  // p == i: tile (i, k) was reduced to a triangle
};
struct ReflectionsInOrder {
  std::vector<Reflection>& all;
  void triangle(std::int32_t i, std::int32_t k) { all.push_back({i, i, k}); }
  void join(std::int32_t p, std::int32_t i, std::int32_t k) { all.push_back({p, i, k}); }
};

}  // namespace

template <class T>
void factor_qr(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q) {
  q.require_shape_of(a);
  for_each_qr_task(a.tile_rows(), a.tile_columns(), q.tree(), QrSink<T>(flow, kernels, a, q));
}

template <class T>
void apply_q(Flow& flow, const Kernels& kernels, ApplyQ which, const TiledMatrix<T>& a,
             const QrReflectors<T>& q, const TiledMatrix<T>& b) {
  q.require_shape_of(a);
  require_q_applicable(a, b);
  std::vector<Reflection> all;
  for_each_qr_reflection(a.tile_rows(), a.tile_columns(), q.tree(), ReflectionsInOrder{all});
  if (which == ApplyQ::plain) std::ranges::reverse(all);
  const QrUpdateKernels<T> update(kernels, which);
  const auto& joined = q.tree() == QrTree::flat ? update.tsmqr : update.ttmqr;
  for (const auto& [p, i, k] : all)
    for (std::int32_t c = 0; c < b.tile_columns(); ++c) {
      const auto work = scratch(static_cast<std::int64_t>(q.inner_block()) * b.columns_of(c));
      const int priority = which == ApplyQ::plain ? i + k : 2 * a.tile_rows() + a.tile_columns() - i - k;
      if (p == i)
        flow.submit(on_owner_of(
            update.unmqr(q.reflectors(i, k), q.factors(i, k), b(i, c), work).priority(priority), a, i, k, b));
      else
        flow.submit(on_owner_of(
            joined(a(i, k), q.joined_factors(i, k), b(p, c), b(i, c), work).priority(priority), a, i, k, b));
    }
}

template <class T>
void solve_qr_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const QrReflectors<T>& q,
                       const TiledMatrix<T>& b) {
  apply_q(flow, kernels, ApplyQ::transposed, a, q, b);
  solve_upper(flow, kernels, r_of_qr, a, {&b});
}

std::uint64_t qr_tasks(std::int64_t tile_rows, std::int64_t tile_columns, QrTree tree) noexcept {
  std::uint64_t tasks = 0;
  for (std::int64_t k = 0; k < std::min(tile_rows, tile_columns); ++k) {
    const std::int64_t rows = tile_rows - k;
    tasks += static_cast<std::uint64_t>((tree == QrTree::flat ? rows : 2 * rows - 1) * (tile_columns - k));
  }
  return tasks;
}

std::uint64_t apply_q_tasks(std::int64_t tile_rows, std::int64_t tile_columns, QrTree tree,
                            std::int64_t columns_of_tiles) noexcept {
  std::uint64_t steps = 0;
  for (std::int64_t k = 0; k < std::min(tile_rows, tile_columns); ++k) {
    const std::int64_t rows = tile_rows - k;
    steps += static_cast<std::uint64_t>(tree == QrTree::flat ? rows : 2 * rows - 1);
  }
  return steps * static_cast<std::uint64_t>(columns_of_tiles);
}

std::uint64_t qr_solve_tasks(std::int64_t tile_rows, std::int64_t tile_columns, QrTree tree,
                             std::int64_t columns_of_tiles) noexcept {
  return apply_q_tasks(tile_rows, tile_columns, tree, columns_of_tiles) +
         upper_solve_tasks(tile_columns, columns_of_tiles);
}

#define FAIRLEAD_QR_OF(T)                                                                                  \
  template void factor_qr<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const QrReflectors<T>&);        \
  template void apply_q<T>(Flow&, const Kernels&, ApplyQ, const TiledMatrix<T>&, const QrReflectors<T>&,   \
                           const TiledMatrix<T>&);                                                         \
  template void solve_qr_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const QrReflectors<T>&, \
                                     const TiledMatrix<T>&);
FAIRLEAD_QR_OF(float)
FAIRLEAD_QR_OF(double)
FAIRLEAD_QR_OF(std::complex<float>)
FAIRLEAD_QR_OF(std::complex<double>)
#undef FAIRLEAD_QR_OF

}  // namespace fairlead::linalg
