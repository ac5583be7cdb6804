// Kernels whose duration policies estimate wrongly, because the model was measured on other data, on a quiet machine,
// or not at all.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

struct EstimateError {
  std::string kernel;
  double times = 1;  ///< estimated duration divided by the actual one
};

/// Parses "gemm:2,potrf:0.5": the estimate of gemm is twice its duration, that of potrf half. Throws ConfigError with
/// the syntax.
std::vector<EstimateError> misjudged_in(std::string_view written);

/// By kernel of the program; for a kernel that is named twice, the product. Throws ConfigError for an unknown kernel.
std::vector<double> by_kernel(const std::vector<EstimateError>& misjudged, const Program& program);

}  // namespace fairlead::simulate
