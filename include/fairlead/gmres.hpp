// GMRES(m): a system of equations by the products of its matrix with vectors alone (Saad, Schultz 1986).
//
//   const auto result = fairlead::linalg::gmres(runtime, kernels, a, b, x, {.restart = 50, .tolerance = 1e-12});
//   if (!result.converged) ...
//
// The matrix is in tiles, in memory, on disk, or generated when it is needed; over ranks it is dealt out, and stays where it
// is: vectors travel.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <vector>

namespace fairlead::linalg {

struct GmresSettings {
  int restart = 30;          ///< m: how many vectors are kept before it begins again from where it has come
  double tolerance = 1e-10;  ///< of || b - A x || / || b ||, in the two norm
  int most_iterations = 1000;
};

struct GmresResult {
  bool converged = false;
  int iterations = 0;   ///< products with A but those for residuals
  double residual = 0;  ///< || b - A x || / || b ||, of the x that is returned
  /// The same before the first iteration and after each, as the method knows it: it never grows but for rounding.
  std::vector<double> history{};
};

/// x := A^-1 b, from the x that is given; b and x have one column, in tiles of the same side as those of A. Sums go in a fixed
/// order in double precision, so the bits are the same on every grid. Over ranks all call it; each gets the result. Not
/// converged: `most_iterations` were not enough, or rounding lets it come no nearer. Throws UsageError if the shapes do not match,
/// NumericalError for numbers that are not finite. T is float or double.
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
