// The machine as a solve finds it: cores, memory, disk, kernels, devices, the measurements of earlier runs, and other ranks; as
// text and JSON.
#pragma once
#include <fairlead/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/linalg/blas/choose_kernels.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/opencl/driver.hpp"
#include "base/json.hpp"
#include "front/runtime/kept_measurements.hpp"
#include "machine/disk.hpp"
#include "machine/machine.hpp"
#include "net/launched.hpp"
#include "solver/load_kernels.hpp"

namespace fairlead::solver {

/// The supported MPI libraries, and the network between the processes that run together.
struct MpiReport {
  std::vector<net::MpiSupport> mpis;
  std::uint32_t rank = 0, ranks = 1, on_machine = 1;
  std::string description{}, driver{};  ///< empty: this process is the only rank
  std::uint64_t eager_bytes = 0;
  std::string why_not_into_devices{};  ///< empty: payloads can arrive in the memory of CUDA devices
};

/// Collective; call it once.
MpiReport mpi_report();

struct MachineReport {
  machine::Machine machine;
  machine::Disk disk;
  linalg::KernelChoice kernels;
  backend::cu::CudaDevices cuda;
  backend::cl::OpenclDevices opencl;
  front::KeptMeasurements kept;
  MpiReport mpi;
};
/// For runs with these settings. Times the kernels unless an earlier run has.
MachineReport machine_report(const Config& config, const KernelEnvironment& environment, MpiReport mpi);

// `config`: the settings, which may limit what a run uses.
std::string text(const MachineReport& report, const Config& config);
/// With all settings and their origins.
Json json(const MachineReport& report, const Config& config);

}  // namespace fairlead::solver
