// A tiled symmetric indefinite factorization as a flow of tasks, and its solve.
#include <fairlead/error.hpp>
#include <fairlead/ldlt.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/ldlt_kernels.hpp"
#include "algorithms/linalg/ldlt_tasks.hpp"
#include "algorithms/linalg/mirror_image.hpp"
#include "algorithms/linalg/pivoted_lu_kernels.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/symmetric_exchange.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

namespace {

/// The tiles of a column from row `first` down.
template <class T>
std::vector<Handle<Tile<T>>> column_from(const TiledMatrix<T>& a, std::int32_t first, std::int32_t column) {
  std::vector<Handle<Tile<T>>> tiles;
  for (std::int32_t i = first; i < a.tile_rows(); ++i) tiles.push_back(a(i, column));
  return tiles;
}

template <class T>
class LdltSink {
 public:
  LdltSink(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const SymmetricPivots<T>& p)
      : flow_(flow),
        a_(a),
        p_(p),
        tile_(kernels, p.symmetry()),
        panel_(kernels, PanelOf::symmetric),
        band_panel_(kernels, PanelOf::band),
        rows_(kernels),
        symmetric_(p.symmetry()),
        copies_(p.sizes(), p.symmetry()),
        gemm_(LuKernels<T>(kernels).gemm) {}

  void operator()(LdltStep step, int priority, std::int32_t i, std::int32_t j, std::int32_t k) {
    const auto submit = [&](auto&& call) { flow_.submit(std::move(call).priority(priority)); };
    if (step >= LdltStep::copy_diagonal) return band(step, i, j, submit);
    if (step >= LdltStep::exchange_rows) return exchange(step, i, j, k, submit);
    column(step, i, j, k, submit);
  }

 private:
  static constexpr std::size_t sizes_per_block = 3;

  /// The tasks of column j.
  template <class Submit>
  void column(LdltStep step, std::int32_t i, std::int32_t j, std::int32_t k, const Submit& submit) {
    const auto work = scratch(static_cast<std::int64_t>(a_.tile()) * a_.tile());
    switch (step) {
      case LdltStep::set_product:
        if (i == j) return submit(tile_.set_own_product(a_(j, j), a_(j, j - 1), p_.products(j)));
        return submit(tile_.set_product(a_(i, i), a_(j, i - 1), p_.products(i)));
      case LdltStep::add_product:
        return submit(tile_.add_product(a_(i, i - 1), a_(j, i - 2), p_.products(i), work));
      case LdltStep::add_transposed_product:
        if (i + 1 == j) return submit(tile_.add_own_transposed_product(a_(j, i), p_.products(i), work));
        return submit(tile_.add_transposed_product(a_(i + 1, i), a_(j, i), p_.products(i), work));
      case LdltStep::update:
        return submit(gemm_(a_(i, k - 1), p_.products(k), a_(i, j)));
      case LdltStep::diagonal:
        if (i == 0) return submit(tile_.mirror(a_(0, 0)));
        if (i == 1) return submit(tile_.set_diagonal(a_(1, 0), a_(1, 1)));
        return submit(tile_.update_and_set_diagonal(a_(i, i - 1), a_(i, i - 2), a_(i, i), work));
      case LdltStep::panel:
        return submit(panel_.getrf(
            column_from(a_, i + 1, i), p_.panel(i),
            scratch(panel_leading_dimension(a_.rows() - row(i + 1)) * a_.columns_of(i)), row(i + 1)));
      default:
        return submit(tile_.set_below(a_(i, i - 1), a_(i + 1, i), work));
    }
  }
  /// The exchanges of panel j.
  template <class Submit>
  void exchange(LdltStep step, std::int32_t i, std::int32_t j, std::int32_t l, const Submit& submit) {
    const auto own = step == LdltStep::collect_block ? i : j;
    const auto& pivots = p_.panel(own);
    const std::int32_t block = own + 1;
    const std::int64_t first = row(block);
    switch (step) {
      case LdltStep::exchange_rows:
        return submit(rows_.exchange(pivots, column_from(a_, block, i), first));
      case LdltStep::collect_block:
        return submit(symmetric_.collect_block(pivots, a_(block, block), p_.collected(block), first));
      case LdltStep::collect_below:
        return submit(symmetric_.collect_below(pivots, a_(i, block), p_.collected(i), p_.collected(block),
                                               first, row(i)));
      case LdltStep::exchange:
        return submit(symmetric_.exchange(pivots, a_(i, block), a_(l, block), a_(block, block), a_(i, l),
                                          p_.collected(i), p_.collected(l), first, row(i), row(l)));
      case LdltStep::exchange_diagonal:
        return submit(symmetric_.exchange_diagonal(pivots, a_(i, block), a_(block, block), a_(i, i),
                                                   p_.collected(i), first, row(i)));
      case LdltStep::set_below:
        return submit(
            symmetric_.set_below(pivots, p_.collected(i), p_.collected(block), a_(i, block), first, row(i)));
      default:
        return submit(symmetric_.set_block(pivots, p_.collected(i), a_(block, block), first, row(i)));
    }
  }
  /// The LU factorization of T.
  template <class Submit>
  void band(LdltStep step, std::int32_t k, std::int32_t distance, const Submit& submit) {
    const std::size_t place = sizes_per_block * static_cast<std::size_t>(k);
    const bool last = k + 1 == a_.tile_rows();
    switch (step) {
      case LdltStep::copy_diagonal:
        return submit(copies_.diagonal(a_(k, k), p_.band_diagonal(k), place));
      case LdltStep::copy_below:
        return submit(copies_.below(a_(k + 1, k), p_.band_below(k), place + 1));
      case LdltStep::copy_right:
        return submit(copies_.right(a_(k + 1, k), p_.band_right(k, 1)));
      case LdltStep::band_panel: {
        std::vector<Handle<Tile<T>>> tiles{p_.band_diagonal(k)};
        if (!last) tiles.push_back(p_.band_below(k));
        const std::int64_t rows = std::min(a_.rows() - row(k), std::int64_t{2} * a_.tile());
        return submit(band_panel_.getrf(tiles, p_.band_exchanges(k),
                                        scratch(panel_leading_dimension(rows) * a_.columns_of(k)), row(k)));
      }
      case LdltStep::band_clear:
        return submit(copies_.zero(p_.band_right(k, 2)));
      case LdltStep::band_exchange:
        return submit(rows_.exchange_and_solve(
            p_.band_diagonal(k), p_.band_exchanges(k),
            std::vector<Handle<Tile<T>>>{p_.band_right(k, distance), below_right(k, distance)}, row(k)));
      case LdltStep::band_update:
        return submit(gemm_(p_.band_below(k), p_.band_right(k, distance), below_right(k, distance)));
      default: {
        std::vector<Handle<Tile<T>>> tiles{p_.band_diagonal(k)};
        for (std::int32_t d = 1; d <= 2 && k + d < a_.tile_rows(); ++d) tiles.push_back(p_.band_right(k, d));
        return submit(copies_.size_of_row(tiles, place + 2));
      }
    }
  }
  /// Of block k + 1 of rows, in the column of tiles `distance` right of block k.
  const Handle<Tile<T>>& below_right(std::int32_t k, std::int32_t distance) const {
    return distance == 1 ? p_.band_diagonal(k + 1) : p_.band_right(k + 1, 1);
  }
  std::int64_t row(std::int32_t tile_row) const noexcept {
    return static_cast<std::int64_t>(tile_row) * a_.tile();
  }

  Flow& flow_;
  const TiledMatrix<T>& a_;
  const SymmetricPivots<T>& p_;
  LdltKernels<T> tile_;
  PivotedPanelKernel<T> panel_, band_panel_;
  RowExchangeKernels<T> rows_;
  SymmetricExchangeKernels<T> symmetric_;
  BandCopyKernels<T> copies_;
  decltype(LuKernels<T>::gemm) gemm_;
};

/// X := op(L)^-1 X for a unit lower triangle.
template <class T>
auto solve_unit_transposed(const Kernels& kernels, Transpose op) {
  return codelet("solve_lower")
      .cpu(body_of_type<T>,
           [kernels, op](In<Tile<T>> l, InOut<Tile<T>> x) {
             if (x.columns() == 1)
               kernels.blas().trsv<T>(Triangle::lower, op, Diagonal::unit, x.rows(), l.data(),
                                      l.leading_dimension(), x.data(), 1);
             else
               kernels.blas().trsm<T>(Side::left, Triangle::lower, op, Diagonal::unit, x.rows(), x.columns(),
                                      1, l.data(), l.leading_dimension(), x.data(), x.leading_dimension());
             kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(x.columns(), x.rows()));
           })
      .emulated();
}
/// Y := Y - op(A) X, for the operation that maps the matrix to itself.
template <class T>
Codelet<In<Tile<T>>, In<Tile<T>>, InOut<Tile<T>>> update_above(const Kernels& kernels, Symmetry symmetry) {
  if (mirroring<T>(symmetry) == adjoint<T>) return SolveKernels<T>(kernels, Factors::cholesky).update_upper;
  return codelet("gemm")
      .cpu(body_of_type<T>,
           [kernels](In<Tile<T>> a, In<Tile<T>> x, InOut<Tile<T>> y) {
             kernels.blas().gemm<T>(Transpose::yes, Transpose::no, y.rows(), y.columns(), a.rows(), -1,
                                    a.data(), a.leading_dimension(), x.data(), x.leading_dimension(), 1,
                                    y.data(), y.leading_dimension());
             kernels.count(Kernel::gemm, real_flops<T> * gemm_flops(y.rows(), y.columns(), a.rows()));
           })
      .emulated();
}

}  // namespace

template <class T>
void factor_ldlt(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const SymmetricPivots<T>& p) {
  p.require_shape_of(a);
  std::ranges::fill(*p.sizes(), 0.0);
  try {
    for_each_ldlt_task(a.tile_rows(), LdltSink<T>(flow, kernels, a, p));
  } catch (const FootprintError& error) {
    const std::int32_t largest = p.largest_tile_in_memory();
    throw FootprintError(fmt::format("{}\n  A panel of up to {} rows is factored as a whole: {}",
                                     error.what(), a.rows(),
                                     largest == 0 ? "memory is too small for any tile."
                                                  : fmt::format("use tiles of at most {0} x {0}.", largest)));
  }
}

template <class T>
void solve_ldlt_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a,
                         const SymmetricPivots<T>& p, const TiledMatrix<T>& b) {
  p.require_shape_of(a);
  require_system(a, b);
  const RowExchangeKernels<T> rows(kernels);
  const SolveKernels<T> lower(kernels, Factors::lu);
  const auto solve_above = solve_unit_transposed<T>(kernels, mirroring<T>(p.symmetry()));
  const auto update = update_above<T>(kernels, p.symmetry());
  const std::int32_t nt = a.tile_rows();
  const auto row = [&](std::int32_t k) { return static_cast<std::int64_t>(k) * a.tile(); };
  const auto submit = [&](const auto& call) {
    for (std::int32_t c = 0; c < b.tile_columns(); ++c) flow.submit(call(c));
  };
  for (std::int32_t k = 0; k + 1 < nt; ++k)
    submit([&](std::int32_t c) { return rows.exchange(p.panel(k), column_from(b, k + 1, c), row(k + 1)); });
  for (std::int32_t k = 1; k < nt; ++k) {
    submit([&](std::int32_t c) { return lower.solve_lower(a(k, k - 1), b(k, c)); });
    for (std::int32_t i = k + 1; i < nt; ++i)
      submit([&](std::int32_t c) {
        return on_owner_of(lower.update_lower(a(i, k - 1), b(k, c), b(i, c)), a, i, k - 1, b);
      });
  }
  for (std::int32_t k = 0; k < nt; ++k) {
    submit([&](std::int32_t c) {
      std::vector<Handle<Tile<T>>> tiles{b(k, c)};
      if (k + 1 < nt) tiles.push_back(b(k + 1, c));
      return rows.exchange_and_solve(p.band_diagonal(k), p.band_exchanges(k), tiles, row(k));
    });
    if (k + 1 < nt)
      submit([&](std::int32_t c) { return lower.update_lower(p.band_below(k), b(k, c), b(k + 1, c)); });
  }
  for (std::int32_t k = nt - 1; k >= 0; --k) {
    for (std::int32_t d = 1; d <= 2 && k + d < nt; ++d)
      submit([&](std::int32_t c) { return lower.update_upper(p.band_right(k, d), b(k + d, c), b(k, c)); });
    submit([&](std::int32_t c) { return lower.solve_upper(p.band_diagonal(k), b(k, c)); });
  }
  for (std::int32_t k = nt - 1; k >= 1; --k) {
    for (std::int32_t i = nt - 1; i > k; --i)
      submit(
          [&](std::int32_t c) { return on_owner_of(update(a(i, k - 1), b(i, c), b(k, c)), a, i, k - 1, b); });
    submit([&](std::int32_t c) { return solve_above(a(k, k - 1), b(k, c)); });
  }
  for (std::int32_t k = nt - 2; k >= 0; --k)
    submit(
        [&](std::int32_t c) { return rows.undo_exchange(p.panel(k), column_from(b, k + 1, c), row(k + 1)); });
}

std::uint64_t ldlt_tasks(std::int64_t tiles) noexcept {
  std::uint64_t tasks = 0;
  const auto n = static_cast<std::uint64_t>(tiles);
  if (n == 0) return 0;
  for (std::uint64_t j = 0; j < n; ++j) {
    const std::uint64_t below = n - 1 - j;
    if (j > 0)
      tasks += 3 * (j - 1) - (j > 1 ? 1 : 0) + (j - 1);  // products, and updates of the diagonal tile
    tasks += 2;                                          // T[j, j]
    if (below == 0) continue;
    if (j > 0) tasks += (j > 1 ? 2 : 1) + below * j + 1;
    tasks += 3 + j;  // the panel and its exchanges in L
    tasks += 1 + (below - 1) + (below - 1) * below / 2 + below + below - 1;  // those of rows and columns
  }
  return tasks + 2 * n + 2 * (n - 1) + (n > 1 ? 3 * (n - 2) : 0);
}

std::uint64_t ldlt_solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept {
  const auto n = static_cast<std::uint64_t>(tiles), columns = static_cast<std::uint64_t>(columns_of_tiles);
  if (n == 0) return 0;
  const std::uint64_t exchanges = 2 * (n - 1), triangles = n * (n - 1), band = 2 * n + 2 * (n - 1);
  return columns * (exchanges + triangles + band + (n > 1 ? n - 2 : 0));
}

#define FAIRLEAD_LDLT_OF(T)                                                                              \
  template void factor_ldlt<T>(Flow&, const Kernels&, const TiledMatrix<T>&, const SymmetricPivots<T>&); \
  template void solve_ldlt_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,                     \
                                       const SymmetricPivots<T>&, const TiledMatrix<T>&);
FAIRLEAD_LDLT_OF(float)
FAIRLEAD_LDLT_OF(double)
FAIRLEAD_LDLT_OF(std::complex<float>)
FAIRLEAD_LDLT_OF(std::complex<double>)
#undef FAIRLEAD_LDLT_OF

}  // namespace fairlead::linalg
