// The solve with an upper triangle in tiles: R of a QR or U of an LU factorization. The matrix may have more rows than
// columns; then the rows below the triangle are ignored. The factorization may not have detected that the matrix is
// singular, so the solve checks the diagonal.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace fairlead::linalg {

/// The name of the triangle in error messages, and the meaning of a zero on its diagonal.
struct UpperTriangle {
  std::string name;
  std::string zero_means;
};
inline const UpperTriangle r_of_qr{"R", "the columns of the matrix are not independent"};
inline const UpperTriangle u_of_lu{"U", "the matrix is singular"};

enum class UpperForm : std::uint8_t { plain, adjoint };

template <class T>
struct UpperKernels {
  using Tile = fairlead::Tile<T>;

  UpperKernels(const Kernels& kernels, const UpperTriangle& triangle, UpperForm form);

  /// X := op(U)^-1 X. The last parameter is the first column of U in the matrix.
  Codelet<In<Tile>, InOut<Tile>, std::int64_t> solve;
  /// Y := Y - op(U) X.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> update;
};

/// The first n rows of b := U^-1 b, or U^-H b, for each b, where U is on and above the diagonal of `a`. A task that
/// finds a zero on the diagonal fails with a SingularError, one that finds an element that is not finite with a
/// NumericalError; both name the column. The shapes must match: b has tiles of the same side.
template <class T>
void solve_upper(Flow& flow, const Kernels& kernels, const UpperTriangle& triangle, const TiledMatrix<T>& a,
                 std::initializer_list<const TiledMatrix<T>*> bs, UpperForm form = UpperForm::plain);

/// The number of tasks of solve_upper().
constexpr std::uint64_t upper_solve_tasks(std::int64_t tile_columns, std::int64_t columns_of_tiles) noexcept {
  return static_cast<std::uint64_t>(tile_columns * (tile_columns + 1) / 2 * columns_of_tiles);
}

extern template void solve_upper<float>(Flow&, const Kernels&, const UpperTriangle&,
                                        const TiledMatrix<float>&,
                                        std::initializer_list<const TiledMatrix<float>*>, UpperForm);
extern template void solve_upper<double>(Flow&, const Kernels&, const UpperTriangle&,
                                         const TiledMatrix<double>&,
                                         std::initializer_list<const TiledMatrix<double>*>, UpperForm);
extern template void solve_upper<std::complex<float>>(
    Flow&, const Kernels&, const UpperTriangle&, const TiledMatrix<std::complex<float>>&,
    std::initializer_list<const TiledMatrix<std::complex<float>>*>, UpperForm);
extern template void solve_upper<std::complex<double>>(
    Flow&, const Kernels&, const UpperTriangle&, const TiledMatrix<std::complex<double>>&,
    std::initializer_list<const TiledMatrix<std::complex<double>>*>, UpperForm);

}  // namespace fairlead::linalg
