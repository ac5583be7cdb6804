// Kernels of which policies expect another duration than they have: models are measured on other data, on a quiet
// machine, or not at all.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

struct Misjudged {
  std::string kernel;
  double times = 1;  ///< so many times as long as it takes is what policies expect
};

/// "gemm:2,potrf:0.5": gemm is expected to take twice as long as it does, potrf half as long. Throws ConfigError
/// that shows how it is written.
std::vector<Misjudged> misjudged_in(std::string_view written);

/// By kernel of the program; of one that is named twice, the product. Throws ConfigError if it has no such kernel.
std::vector<double> by_kernel(const std::vector<Misjudged>& misjudged, const Program& program);

}  // namespace fairlead::simulate
