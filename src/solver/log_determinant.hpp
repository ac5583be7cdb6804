// The determinant of a factored square matrix, as its sign and the logarithm of its absolute value: the value itself
// overflows for most matrices.
#pragma once
#include <fairlead/factorization.hpp>

#include "solver/execution.hpp"
#include "solver/kept_factors.hpp"

namespace fairlead::solver {

/// A phase of the run. Throws UsageError if the matrix is not square.
template <class T>
linalg::LogDeterminant log_determinant(Execution& run, const KeptFactors<T>& factors);

}  // namespace fairlead::solver
