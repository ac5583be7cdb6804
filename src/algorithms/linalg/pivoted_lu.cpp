// A tiled LU factorization with partial pivoting as a flow of tasks, and its solves.
#include <fairlead/error.hpp>
#include <fairlead/pivoted_lu.hpp>

#include <fmt/format.h>

#include "algorithms/linalg/pivoted_lu_kernels.hpp"
#include "algorithms/linalg/pivoted_lu_tasks.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/tile_kernels.hpp"
#include "algorithms/linalg/transposed_lower.hpp"
#include "algorithms/linalg/upper_solve.hpp"

namespace fairlead::linalg {

namespace {

/// The tiles of column j from row `first` down.
template <class T>
std::vector<Handle<Tile<T>>> tiles_below(const TiledMatrix<T>& a, std::int32_t first, std::int32_t j) {
  std::vector<Handle<Tile<T>>> tiles;
  tiles.reserve(static_cast<std::size_t>(a.tile_rows() - first));
  for (std::int32_t i = first; i < a.tile_rows(); ++i) tiles.push_back(a(i, j));
  return tiles;
}

template <class T>
std::int64_t first_row(const TiledMatrix<T>& a, std::int32_t k) {
  return static_cast<std::int64_t>(k) * a.tile();
}

template <class T>
class PivotedLuSink {
 public:
  PivotedLuSink(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const RowPivots<T>& p)
      : flow_(flow), a_(a), p_(p), panel_(kernels), rows_(kernels), gemm_(LuKernels<T>(kernels).gemm) {}

  void panel(std::int32_t k, int priority) {
    const std::int64_t first = first_row(a_, k);
    flow_.submit(panel_
                     .getrf(tiles_below(a_, k, k), p_.panel(k),
                            scratch(panel_leading_dimension(a_.rows() - first) * a_.columns_of(k)), first)
                     .priority(priority));
  }
  void exchange(std::int32_t k, std::int32_t j, int priority) {
    flow_.submit(rows_.exchange_and_solve(a_(k, k), p_.panel(k), tiles_below(a_, k, j), first_row(a_, k))
                     .priority(priority));
  }
  void gemm(std::int32_t i, std::int32_t j, std::int32_t k, int priority) {
    flow_.submit(gemm_(a_(i, k), a_(k, j), a_(i, j)).priority(priority));
  }

 private:
  Flow& flow_;
  const TiledMatrix<T>& a_;
  const RowPivots<T>& p_;
  PivotedPanelKernel<T> panel_;
  RowExchangeKernels<T> rows_;
  decltype(LuKernels<T>::gemm) gemm_;
};

template <class T>
void require_pivoted_system(const TiledMatrix<T>& a, const RowPivots<T>& p, const TiledMatrix<T>& b) {
  p.require_shape_of(a);
  require_system(a, b);
}

}  // namespace

template <class T>
void factor_lu_pivoted(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const RowPivots<T>& p) {
  p.require_shape_of(a);
  try {
    for_each_pivoted_lu_task({a.tile_rows(), a.tile_columns(), p.column_blocks()},
                             PivotedLuSink<T>(flow, kernels, a, p));
  } catch (const FootprintError& error) {
    const std::int32_t largest = p.largest_tile_in_memory();
    throw FootprintError(fmt::format("{}\n  A panel of {} rows is factored as a whole: {}", error.what(),
                                     a.rows(),
                                     largest == 0 ? "memory is too small for any tile."
                                                  : fmt::format("use tiles of at most {0} x {0}.", largest)));
  }
}

template <class T>
void solve_lu_pivoted_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                               const RowPivots<T>& p, const TiledMatrix<T>& b) {
  require_pivoted_system(a, p, b);
  const RowExchangeKernels<T> rows(kernels);
  const SolveKernels<T> tile(kernels, Factors::lu);
  const std::int32_t nt = a.tile_rows();
  for (std::int32_t k = 0; k < nt; ++k) {
    for (std::int32_t c = 0; c < b.tile_columns(); ++c)
      flow.submit(
          on_owner_of(rows.exchange_and_solve(a(k, k), p.panel(k), tiles_below(b, k, c), first_row(a, k))
                          .priority(2 * nt + 2 * (nt - k)),
                      a, k, k, b));
    for (std::int32_t i = k + 1; i < nt; ++i)
      for (std::int32_t c = 0; c < b.tile_columns(); ++c)
        flow.submit(on_owner_of(
            tile.update_lower(a(i, k), b(k, c), b(i, c)).priority(2 * nt + 2 * nt - i - k), a, i, k, b));
  }
  solve_upper(flow, kernels, u_of_lu, a, {&b});
}

template <class T>
void solve_lu_pivoted_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                                 const RowPivots<T>& p, const TiledMatrix<T>& b) {
  require_pivoted_system(a, p, b);
  solve_upper(flow, kernels, u_of_lu, a, {&b}, UpperForm::adjoint);
  const RowExchangeKernels<T> rows(kernels);
  const auto update = update_by_transposed_lower<T>(kernels);
  const std::int32_t nt = a.tile_rows();
  for (std::int32_t k = nt - 1; k >= 0; --k) {
    for (std::int32_t i = k + 1; i < nt; ++i)
      for (std::int32_t c = 0; c < b.tile_columns(); ++c)
        flow.submit(on_owner_of(update(a(i, k), b(i, c), b(k, c)).priority(k + 1), a, i, k, b));
    for (std::int32_t c = 0; c < b.tile_columns(); ++c)
      flow.submit(on_owner_of(
          rows.solve_and_exchange(a(k, k), p.panel(k), tiles_below(b, k, c), first_row(a, k)).priority(k + 1),
          a, k, k, b));
  }
}

std::uint64_t lu_pivoted_tasks(std::int64_t tile_rows, std::int64_t tile_columns) noexcept {
  std::uint64_t tasks = 0;
  for (std::int64_t k = 0; k < tile_columns; ++k)
    tasks += 1 + static_cast<std::uint64_t>(tile_columns - k - 1) * static_cast<std::uint64_t>(tile_rows - k);
  return tasks;
}

std::uint64_t lu_pivoted_solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept {
  return 2 * upper_solve_tasks(tiles, columns_of_tiles);
}

#define FAIRLEAD_PIVOTED_LU_OF(T)                                                                        \
  template void factor_lu_pivoted<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const RowPivots<T>&); \
  template void solve_lu_pivoted_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,               \
                                             const RowPivots<T>&, const TiledMatrix<T>&);                \
  template void solve_lu_pivoted_transposed<T>(Flow&, const Kernels&, const TiledMatrix<T>&,             \
                                               const RowPivots<T>&, const TiledMatrix<T>&);
FAIRLEAD_PIVOTED_LU_OF(float)
FAIRLEAD_PIVOTED_LU_OF(double)
FAIRLEAD_PIVOTED_LU_OF(std::complex<float>)
FAIRLEAD_PIVOTED_LU_OF(std::complex<double>)
#undef FAIRLEAD_PIVOTED_LU_OF

}  // namespace fairlead::linalg
