// Selects the accelerators of this machine that speed up a problem. Compares assumed rates, since none are
// measured.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <string>

#include "backend/cuda/driver.hpp"
#include "backend/opencl/driver.hpp"

namespace fairlead::solver {

/// The work of a problem, and the speed of the cores.
struct ProblemWork {
  double flops = 0;
  Bytes bytes = 0;  ///< of the matrices
  std::size_t element_bytes = 8;
  double core_flops_per_second = 0;  ///< of all workers together
  std::string only_on_cores{};       ///< operation without a body for devices: "QR"; empty: it has one
  std::string without_opencl{};      ///< operation without bodies for OpenCL devices; empty: it has some
  double part_of_peak = 0.5;         ///< assumed efficiency on a device
  /// The least major compute capability that the CUDA kernels are compiled for.
  int least_capability = 0;
  std::string own_kernels{};  ///< image of the kernels for the driver; empty: none are needed
};
struct DevicesToUse {
  std::string list;  ///< as the setting `devices`; empty: none
  std::string line;  ///< for the report
};

/// Selects for all ranks of this machine together. Calls `find_cuda` and `find_opencl` only if the cores need
/// longer than the start of a device.
DevicesToUse devices_for(const ProblemWork& work, std::size_t ranks_on_machine,
                         backend::cu::CudaDevices (*find_cuda)(),
                         backend::cl::OpenclDevices (*find_opencl)());

}  // namespace fairlead::solver
