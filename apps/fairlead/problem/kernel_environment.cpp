// See kernel_environment.hpp.
#include "fairlead/problem/kernel_environment.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace fairlead::app {

solver::KernelEnvironment kernel_environment() {
  solver::KernelEnvironment environment{
      .library_path = {},
      .inherited_core_type = {},
      .timing_helper = {"/proc/self/exe", "time-blas"},
      .before_timing = [](const std::string& text) { fmt::print(stderr, "fairlead: {}\n", text); }};
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) environment.library_path = path;
  if (const char* inherited = std::getenv("OPENBLAS_CORETYPE")) environment.inherited_core_type = inherited;
  return environment;
}

}  // namespace fairlead::app
