// The bodies of tasks on columns of tiles: the factorization of a panel, and row exchanges.
#include "algorithms/linalg/pivoted_lu_kernels.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/singular_error.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
using ColumnOfTiles = Many<InOut<Tile<T>>>;

/// The rows of the tiles, or handles, of a column.
template <class Tiles>
std::int64_t rows_of_column(const Tiles& column) {
  std::int64_t rows = 0;
  for (const auto& tile : column) rows += tile.rows();
  return rows;
}

/// Copies the column between its tiles and contiguous memory: `copy(of_tile, of_copy, rows)` for each piece.
template <class T, class Copy>
void for_each_piece(const ColumnOfTiles<T>& column, T* contiguous, std::int64_t leading_dimension,
                    const Copy& copy) {
  for (std::int32_t j = 0; j < column.front().columns(); ++j) {
    T* to = contiguous + j * leading_dimension;
    for (const InOut<Tile<T>>& tile : column) {
      copy(tile.data() + static_cast<std::ptrdiff_t>(j) * tile.leading_dimension(), to, tile.rows());
      to += tile.rows();
    }
  }
}

double flops_of_panel(double rows, double columns) {
  return panel_getrf_flops(std::max(rows, columns), std::min(rows, columns));
}

[[noreturn]] void throw_bad_pivot(PanelOf of, std::int64_t column, bool is_zero) {
  const std::string pivot = fmt::format("the pivot {}in column {}, counted from 0, is {}",
                                        of == PanelOf::matrix ? "" : "of the band matrix T ", column,
                                        is_zero ? "zero" : "not finite");
  if (is_zero) throw SingularError("the matrix is singular: " + pivot);
  throw NumericalError(pivot);
}

template <class T>
void factor_panel(const Kernels& kernels, PanelOf of, const ColumnOfTiles<T>& column,
                  const Out<Vector<std::int32_t>>& exchanges, T* work, std::int64_t first) {
  const int rows = static_cast<int>(rows_of_column(column)), columns = column.front().columns();
  const int steps = std::min(rows, columns);
  const std::int64_t ld = panel_leading_dimension(rows);
  std::int32_t* const pivots = exchanges.data();
  for_each_piece<T>(column, work, ld,
                    [](const T* tile, T* copy, std::int32_t count) { std::copy_n(tile, count, copy); });
  // LAPACK goes on after a zero pivot; the first one is reported.
  const int info = kernels.blas().getrf<T>(rows, columns, work, static_cast<int>(ld), pivots);
  for (int j = 0; j < steps; ++j) {
    if (info == j + 1 && of != PanelOf::symmetric) throw_bad_pivot(of, first + j, true);
    if (!is_finite_number(work[j + j * ld]) || pivots[j] < j + 1 || pivots[j] > rows)
      throw_bad_pivot(of, first + j, false);
  }
  for_each_piece<T>(column, work, ld,
                    [](T* tile, const T* copy, std::int32_t count) { std::copy_n(copy, count, tile); });
  for (int j = 0; j < steps; ++j) pivots[j] += static_cast<std::int32_t>(first);
  kernels.count(Kernel::getrf, real_flops<T> * flops_of_panel(rows, columns));
}

/// The other row of an exchange, in the first column of its tile.
template <class T>
struct ExchangedRow {
  T* element;
  std::ptrdiff_t leading_dimension;
};

/// Checks exchanges that may have been on disk: a corrupted index must not access memory outside the column.
template <class T>
std::vector<ExchangedRow<T>> exchanged_rows(const ColumnOfTiles<T>& column,
                                            const In<Vector<std::int32_t>>& exchanges, std::int64_t first) {
  const std::int64_t rows = rows_of_column(column), side = column.front().rows();
  std::vector<ExchangedRow<T>> others;
  others.reserve(static_cast<std::size_t>(exchanges.size()));
  for (std::int64_t i = 0; i < exchanges.size(); ++i) {
    const std::int64_t row = exchanges(i) - 1 - first;
    if (row < i || row >= rows || exchanges.size() > side)
      throw SystemError(
          fmt::format("the exchanges of rows that were kept are no longer what they were (row {} with {}, of "
                      "{}): a disk or the memory has failed",
                      first + i, first + row, first + rows));
    const InOut<Tile<T>>& tile = column[static_cast<std::size_t>(row / side)];
    others.push_back({tile.data() + row % side, tile.leading_dimension()});
  }
  return others;
}

/// The rows of the first tile with others, in order; `undo`: in reverse order. Column by column, which stays in a cache.
template <class T>
void exchange_rows_of(const ColumnOfTiles<T>& column, const std::vector<ExchangedRow<T>>& others, bool undo) {
  const InOut<Tile<T>>& first = column.front();
  const auto count = static_cast<std::int32_t>(others.size());
  for (std::int32_t j = 0; j < first.columns(); ++j) {
    T* const own = first.data() + static_cast<std::ptrdiff_t>(j) * first.leading_dimension();
    for (std::int32_t step = 0; step < count; ++step) {
      const std::int32_t i = undo ? count - 1 - step : step;
      const ExchangedRow<T>& other = others[static_cast<std::size_t>(i)];
      std::swap(own[i], other.element[j * other.leading_dimension]);
    }
  }
}

/// X := op(L)^-1 X for the first tile of the column.
template <class T>
void solve_first(const Kernels& kernels, Transpose op, const In<Tile<T>>& l, const InOut<Tile<T>>& x) {
  const int n = l.columns(), columns = x.columns();
  if (columns == 1)
    kernels.blas().trsv<T>(Triangle::lower, op, Diagonal::unit, n, l.data(), l.leading_dimension(), x.data(),
                           1);
  else if (op != Transpose::no)
    kernels.blas().trsm<T>(Side::left, Triangle::lower, op, Diagonal::unit, n, columns, 1, l.data(),
                           l.leading_dimension(), x.data(), x.leading_dimension());
  else
    panel_solve<T>(kernels.blas(), right_of_lu, n, columns, l.data(), l.leading_dimension(), x.data(),
                   x.leading_dimension());
  kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(columns, n));
}

template <class T>
constexpr auto exchange_flops = [](auto& l, auto&, auto& column, auto&) {
  return real_flops<T> * trsm_flops(column.front().columns(), l.columns());
};

}  // namespace

template <class T>
PivotedPanelKernel<T>::PivotedPanelKernel(const Kernels& kernels, PanelOf of)
    : getrf(codelet("getrf_panel")
                .cpu(body_of_type<T>,
                     [kernels, of](Many<InOut<Tile>> column, Out<Exchanges> exchanges, Scratch<T> work,
                                   std::int64_t first) {
                       factor_panel<T>(kernels, of, column, exchanges, work.data(), first);
                     })
                .flops([](auto& column, auto&, auto&, auto&) {
                  return real_flops<T> * flops_of_panel(static_cast<double>(rows_of_column(column)),
                                                        column.front().columns());
                })
                .emulated()) {}

template <class T>
RowExchangeKernels<T>::RowExchangeKernels(const Kernels& kernels)
    : exchange_and_solve(codelet("laswp_trsm")
                             .cpu(body_of_type<T>,
                                  [kernels](In<Tile> l, In<Exchanges> exchanges, Many<InOut<Tile>> column,
                                            std::int64_t first) {
                                    exchange_rows_of<T>(column, exchanged_rows<T>(column, exchanges, first),
                                                        false);
                                    solve_first<T>(kernels, Transpose::no, l, column.front());
                                  })
                             .flops(exchange_flops<T>)
                             .emulated()),
      solve_and_exchange(codelet("trsm_laswp")
                             .cpu(body_of_type<T>,
                                  [kernels](In<Tile> l, In<Exchanges> exchanges, Many<InOut<Tile>> column,
                                            std::int64_t first) {
                                    solve_first<T>(kernels, adjoint<T>, l, column.front());
                                    exchange_rows_of<T>(column, exchanged_rows<T>(column, exchanges, first),
                                                        true);
                                  })
                             .flops(exchange_flops<T>)
                             .emulated()),
      exchange(codelet("laswp")
                   .cpu(body_of_type<T>,
                        [](In<Exchanges> exchanges, Many<InOut<Tile>> column, std::int64_t first) {
                          exchange_rows_of<T>(column, exchanged_rows<T>(column, exchanges, first), false);
                        })
                   .emulated()),
      undo_exchange(codelet("laswp")
                        .cpu(body_of_type<T>,
                             [](In<Exchanges> exchanges, Many<InOut<Tile>> column, std::int64_t first) {
                               exchange_rows_of<T>(column, exchanged_rows<T>(column, exchanges, first), true);
                             })
                        .emulated()) {}

template struct PivotedPanelKernel<float>;
template struct PivotedPanelKernel<double>;
template struct PivotedPanelKernel<std::complex<float>>;
template struct PivotedPanelKernel<std::complex<double>>;
template struct RowExchangeKernels<float>;
template struct RowExchangeKernels<double>;
template struct RowExchangeKernels<std::complex<float>>;
template struct RowExchangeKernels<std::complex<double>>;

}  // namespace fairlead::linalg
