// The helper program that Fairlead starts, once per machine, to time a BLAS with a core type in a process of
// its own, for programs that use the library without its command line.
#include <string>
#include <vector>

#include "algorithms/linalg/blas/blas_timing.hpp"

int main(int argc, char** argv) {
  return fairlead::linalg::time_blas_main(std::vector<std::string>(argv + (argc > 0), argv + argc));
}
