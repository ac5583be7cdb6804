// The kernels of this process, with the environment of the command.
#pragma once
#include "solver/load_kernels.hpp"

namespace fairlead::app {

/// LD_LIBRARY_PATH, OPENBLAS_CORETYPE, and this program as the helper that times a BLAS. Announces timings on
/// the standard error stream.
solver::KernelEnvironment kernel_environment();

}  // namespace fairlead::app
