// The functions of CUDA's driver, from a library loaded at run time: a program without CUDA devices does not need it.
// Also classifies the errors that end the use of a device in this process.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/types.hpp"

namespace fairlead::backend::cu {

struct CudaDriver {
  /// Loads "libcuda.so.1" by the loader's search rules; usable by any thread. Throws SystemError, with the loader's
  /// reason, if it is missing or lacks a function.
  static std::shared_ptr<const CudaDriver> load();

#define FAIRLEAD_CUDA_DECLARE(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  FAIRLEAD_CUDA_FUNCTIONS(FAIRLEAD_CUDA_DECLARE)
#undef FAIRLEAD_CUDA_DECLARE

  /// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", with the driver's text.
  std::string name_of_status(Status status) const;
};

/// True for an error after which every call for that device fails in this process: the content of its memory is lost.
bool is_fatal(Status status) noexcept;

/// A device with its properties.
struct CudaDeviceInfo {
  Device device = 0;
  std::string name;
  std::size_t memory_bytes = 0;
  int major = 0, minor = 0;  ///< of the compute capability
  int multiprocessors = 0, clock_kilohertz = 0;
};

/// The devices, or one line with the reason why there are none.
struct CudaDevices {
  std::shared_ptr<const CudaDriver> driver;  ///< null: no library
  std::vector<CudaDeviceInfo> devices;       ///< in the driver's order
  std::string problem;                       ///< if there is no device
};
CudaDevices find_devices();

/// True if the driver reports that the two can access each other's memory.
bool may_be_peers(const CudaDevices& found, std::size_t first, std::size_t second);

/// Free memory of the device. The query needs a context, which takes some of it. Allocates and frees take(free) bytes
/// to test that a run could have them. Throws SystemError if the device refuses.
Bytes free_memory(const CudaDriver& driver, const CudaDeviceInfo& device,
                  const std::function<Bytes(Bytes free)>& take);

/// Tests whether the driver accepts a kernel image, a fat binary or PTX: a driver older than the compiler may not.
/// Uses a context of its own. Throws SystemError with the driver's text.
void try_kernels(const CudaDriver& driver, const CudaDeviceInfo& device, const std::string& image);

/// Theoretical peak of the device's cores without tensor cores, in operations per second. 0: unknown.
double peak_flops_per_second(const CudaDeviceInfo& device, std::size_t element_bytes) noexcept;

}  // namespace fairlead::backend::cu
