// The accelerators of this machine from which a problem gains, by assumed rates, since there are no
// measurements.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <string>

#include "backend/cuda/driver.hpp"
#include "backend/opencl/driver.hpp"

namespace fairlead::app {

/// The work to do, and the speed of the cores.
struct WorkToDo {
  double flops = 0;
  Bytes bytes = 0;  ///< of the matrices
  std::size_t element_bytes = 8;
  double core_flops_per_second = 0;  ///< of all workers together
  std::string only_on_cores{};       ///< operation without a body for devices: "QR"; empty: it has one
  std::string without_opencl{};      ///< operation without bodies for OpenCL devices; empty: it has some
  double part_of_peak = 0.5;         ///< of a device's, that it is assumed to reach there
  /// CUDA's, the number before the point: for others its kernels were not compiled.
  int least_capability = 0;
  std::string own_kernels{};  ///< as a driver takes them; empty: it needs none
};
struct DevicesToUse {
  std::string list;  ///< as the setting `devices`; empty: none
  std::string line;  ///< for the report
};

/// For all ranks of this machine together. `find...`: called only if the cores would take longer than
/// starting a device.
DevicesToUse devices_for(const WorkToDo& work, std::size_t ranks_on_machine,
                         backend::cu::CudaDevices (*find_cuda)(),
                         backend::cl::OpenclDevices (*find_opencl)());

}  // namespace fairlead::app
