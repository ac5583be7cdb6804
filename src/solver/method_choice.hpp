// The method of a system whose user has chosen none.
#pragma once
#include <cstdint>
#include <string>

#include "solver/dense_problem.hpp"

namespace fairlead::solver {

struct MethodChoice {
  const DenseOperation* operation;
  const DenseOperation* fallback = nullptr;            ///< if the matrix turns out not to be symmetric
  const DenseOperation* symmetric_fallback = nullptr;  ///< if it is symmetric, but not positive definite
  std::string reason{};
};

/// For a matrix of which all elements are stored.
inline MethodChoice choose_method_by_shape(std::int64_t rows, std::int64_t columns) {
  if (rows != columns) return {.operation = &qr_operation, .reason = "the matrix has more rows than columns"};
  return {.operation = &cholesky_operation,
          .fallback = &pivoted_lu_operation,
          .symmetric_fallback = &ldlt_operation,
          .reason = "the matrix is symmetric positive definite"};
}

}  // namespace fairlead::solver
