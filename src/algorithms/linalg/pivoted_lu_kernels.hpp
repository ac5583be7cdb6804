// The codelets of an LU factorization with partial pivoting whose data are whole columns of tiles.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstdint>

namespace fairlead::linalg {

/// The distance between the columns of a panel's copy, in elements: an odd number of cache lines, since columns a power
/// of two apart would map to the same cache sets.
constexpr std::int64_t panel_leading_dimension(std::int64_t rows) noexcept {
  return ((rows + 7) / 8 | 1) * 8;
}

/// The matrix of a panel, which decides what a zero pivot means.
enum class PanelOf : std::uint8_t {
  matrix,     ///< the matrix is singular
  band,       ///< so is the band matrix T of a symmetric factorization, and with it the matrix
  symmetric,  ///< nothing: the panel may be rank-deficient in an LTL^T factorization of a regular matrix
};

template <class T>
struct PivotedPanelKernel {
  using Tile = fairlead::Tile<T>;
  using Exchanges = Vector<std::int32_t>;

  explicit PivotedPanelKernel(const Kernels& kernels, PanelOf of = PanelOf::matrix);

  /// Factors the panel whose first row, and column, is the last parameter. The scratch memory is for a copy of the
  /// panel.
  Codelet<Many<InOut<Tile>>, Out<Exchanges>, Scratch<T>, std::int64_t> getrf;
};

template <class T>
struct RowExchangeKernels {
  using Tile = fairlead::Tile<T>;
  using Exchanges = Vector<std::int32_t>;

  explicit RowExchangeKernels(const Kernels& kernels);

  /// Exchanges the rows of a column of tiles, from the panel's first row on, which is the last parameter, and solves
  /// with the unit lower triangle of the panel: C := P C, then the first tile X := L^-1 X.
  Codelet<In<Tile>, In<Exchanges>, Many<InOut<Tile>>, std::int64_t> exchange_and_solve;
  /// The adjoint: the first tile X := L^-H X, then C := P^T C.
  Codelet<In<Tile>, In<Exchanges>, Many<InOut<Tile>>, std::int64_t> solve_and_exchange;
  /// Only the exchanges: C := P C, and C := P^T C.
  Codelet<In<Exchanges>, Many<InOut<Tile>>, std::int64_t> exchange, undo_exchange;
};

extern template struct PivotedPanelKernel<float>;
extern template struct PivotedPanelKernel<double>;
extern template struct PivotedPanelKernel<std::complex<float>>;
extern template struct PivotedPanelKernel<std::complex<double>>;
extern template struct RowExchangeKernels<float>;
extern template struct RowExchangeKernels<double>;
extern template struct RowExchangeKernels<std::complex<float>>;
extern template struct RowExchangeKernels<std::complex<double>>;

}  // namespace fairlead::linalg
