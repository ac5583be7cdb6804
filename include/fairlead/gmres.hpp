// GMRES(m): solves a linear system using only products of its matrix with vectors (Saad, Schultz 1986).
//
//   const auto result = fairlead::linalg::gmres(runtime, kernels, a, b, x, {.restart = 50, .tolerance = 1e-12});
//   if (!result.converged) ...
//
// The tiles of the matrix are in memory, on disk, or generated on demand. With several ranks the matrix is distributed
// and stays in place; only vectors are sent.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <vector>

namespace fairlead::linalg {

struct GmresSettings {
  int restart = 30;          ///< m: the number of basis vectors before a restart
  double tolerance = 1e-10;  ///< of || b - A x || / || b ||, in the 2-norm
  int most_iterations = 1000;
};

struct GmresResult {
  bool converged = false;
  int iterations = 0;   ///< products with A, without those for residuals
  double residual = 0;  ///< || b - A x || / || b || of the returned x
  /// The residual as estimated by the method, before the first iteration and after each. It never increases except by
  /// rounding.
  std::vector<double> history{};
};

/// x := A^-1 b, starting from the given x. b and x have one column, in tiles with the side of those of A. Sums are
/// computed in a fixed order in double precision, so the result is bitwise identical on every grid. Collective: all
/// ranks call it, and each gets the result. `converged` is false if `most_iterations` do not suffice, or if rounding
/// prevents further progress. Throws UsageError if the shapes do not match, NumericalError for numbers that are not
/// finite. T is float or double.
template <class T>
GmresResult gmres(Runtime& runtime, const Kernels& kernels, const TiledMatrix<T>& a, const TiledMatrix<T>& b,
                  const TiledMatrix<T>& x, const GmresSettings& settings = {});

extern template GmresResult gmres<float>(Runtime&, const Kernels&, const TiledMatrix<float>&,
                                         const TiledMatrix<float>&, const TiledMatrix<float>&,
                                         const GmresSettings&);
extern template GmresResult gmres<double>(Runtime&, const Kernels&, const TiledMatrix<double>&,
                                          const TiledMatrix<double>&, const TiledMatrix<double>&,
                                          const GmresSettings&);

}  // namespace fairlead::linalg
