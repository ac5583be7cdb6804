// The kernels that this process computes with: chosen by timing, once per machine, before the library loads.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>

#include <functional>
#include <string>
#include <vector>

#include "algorithms/linalg/blas/choose_kernels.hpp"

namespace fairlead::solver {

/// What a program passes on from its environment, which is not read here.
struct KernelEnvironment {
  std::string inherited_core_type;         ///< OPENBLAS_CORETYPE
  std::vector<std::string> timing_helper;  ///< as KernelSettings::helper
  /// Receives a sentence before a timing, which takes some seconds.
  std::function<void(const std::string&)> before_timing{};
};

/// Times the candidates, or reads what earlier runs have kept; the settings blas, blas-coretype and
/// cache-directory decide which and where.
linalg::KernelChoice choose_kernels(const Config& config, const KernelEnvironment& environment);

/// The same, then configures the process for the best and loads it. For programs that own their process: call
/// at the start, while no other thread runs. Reserves its buffers for all workers. Throws as choose_kernels,
/// set_blas_environment, Blas::load and Blas::reserve_buffers, and ConfigError if memory and buffers exceed
/// the limit of addresses. `settle`: called after loading, before anything is reserved for threads; may change
/// the settings of their number.
linalg::Kernels load_kernels(Config& config, const KernelEnvironment& environment,
                             const std::function<void(const linalg::KernelChoice&)>& settle = {});

/// For a library inside another program: the library of the setting `blas`, or OpenBLAS, without timing, and without
/// a change of the environment. Reserves its buffers for all workers. Throws as Kernels::load and
/// Blas::reserve_buffers.
linalg::Kernels load_kernels_unchanged(const Config& config);

/// Fairlead's own kernels for CUDA devices in the driver's format, by the setting cuda-kernels; empty: none.
/// Throws ConfigError if the named file cannot be read.
std::string cuda_kernels(const Config& config);
/// Whether Fairlead's own kernels for CUDA devices are available, by the setting cuda-kernels.
bool has_cuda_kernels(const Config& config);

/// "OpenBLAS 0.3.21 SkylakeX", as short as the library allows.
std::string name_of(const linalg::Kernels& kernels);

}  // namespace fairlead::solver
