// The matrix that a benchmark factors, on one rank and over several.
#pragma once
#include <cstdint>
#include <memory>

#include "algorithms/linalg/generated_matrix.hpp"
#include "solver/dense_problem.hpp"

namespace fairlead::solver {

/// A matrix for the operation: for LU diagonally dominant, for Cholesky positive definite, for LDL^T symmetric.
template <class U>
std::shared_ptr<const linalg::MatrixSource<U>> generated_matrix(const DenseProblem& problem,
                                                                std::uint64_t seed) {
  const std::int64_t n = problem.n;
  if (problem.operation == &unpivoted_lu_operation)
    return std::make_shared<linalg::GeneratedUniform<U>>(n, n, seed, static_cast<double>(n));
  if (problem.operation == &cholesky_operation) return std::make_shared<linalg::GeneratedSpd<U>>(n, seed);
  if (problem.operation == &ldlt_operation) return std::make_shared<linalg::GeneratedSpd<U>>(n, seed, 1.0);
  return std::make_shared<linalg::GeneratedUniform<U>>(problem.rows(), n, seed);
}

}  // namespace fairlead::solver
