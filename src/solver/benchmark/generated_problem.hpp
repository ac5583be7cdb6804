// The matrix that a benchmark factors, on one rank and over several.
#pragma once
#include <cstdint>
#include <memory>

#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/triangle_source.hpp"
#include "solver/dense_problem.hpp"

namespace fairlead::solver {

/// A matrix that the method of the problem suits.
template <class U>
std::shared_ptr<const linalg::MatrixSource<U>> generated_matrix(const DenseProblem& problem,
                                                                std::uint64_t seed) {
  const std::int64_t n = problem.n;
  switch (problem.operation->solve->matrices) {
    case MatrixKind::dominant:
      return std::make_shared<linalg::GeneratedUniform<U>>(n, n, seed, static_cast<double>(n));
    case MatrixKind::definite:
      return std::make_shared<linalg::GeneratedSpd<U>>(n, seed);
    case MatrixKind::symmetric:
      return std::make_shared<linalg::GeneratedSpd<U>>(n, seed, 1.0);
    case MatrixKind::triangular:
      return std::make_shared<linalg::TriangleSource<U>>(
          std::make_shared<linalg::GeneratedUniform<U>>(n, n, seed, static_cast<double>(n)),
          linalg::Stored::lower);
    case MatrixKind::general:
      break;
  }
  return std::make_shared<linalg::GeneratedUniform<U>>(problem.rows(), n, seed);
}

}  // namespace fairlead::solver
