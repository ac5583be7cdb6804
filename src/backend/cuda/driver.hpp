// The functions of CUDA's driver, from a library that is looked for when a program runs: who has none misses nothing
// until he asks for a device. And what of its errors end a device for the process.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/types.hpp"

namespace fairlead::backend::cu {

struct Driver {
  /// "libcuda.so.1", as the loader finds it; ready for any thread. Throws SystemError, with the loader's reason, if
  /// there is none or if it lacks a function.
  static std::shared_ptr<const Driver> load();

#define FAIRLEAD_CUDA_DECLARE(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  FAIRLEAD_CUDA_FUNCTIONS(FAIRLEAD_CUDA_DECLARE)
#undef FAIRLEAD_CUDA_DECLARE

  /// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", in the driver's words.
  std::string name_of_status(Status status) const;
};

/// After it every call for that device fails, in this process: what is in its memory is lost.
bool ends_the_device(Status status) noexcept;

/// A device, and what it says of itself.
struct FoundDevice {
  Device device = 0;
  std::string name;
  std::size_t memory_bytes = 0;
  int major = 0, minor = 0;  ///< of its compute capability
  int multiprocessors = 0, clock_kilohertz = 0;
};

/// What there is, or in a line why there is nothing.
struct Found {
  std::shared_ptr<const Driver> driver;  ///< null: no library
  std::vector<FoundDevice> devices;      ///< in the order in which the driver names them
  std::string problem;                   ///< if there is no device
};
Found find_devices();

/// Two of them have access to each other's memory, says the driver.
bool may_be_peers(const Found& found, std::size_t first, std::size_t second);

/// What it has left now, by itself: a context of its own is begun for asking, and takes its part. `take`: of that, so much
/// is really taken, as a run would, and given back. Throws SystemError if it does not give that.
Bytes free_memory(const Driver& driver, const FoundDevice& device,
                  const std::function<Bytes(Bytes free)>& take);

/// Whether its driver takes kernels that come so, a fat binary or PTX: one that is older than their compiler may not. A context
/// of its own is begun for asking. Throws SystemError, in the driver's words.
void try_kernels(const Driver& driver, const FoundDevice& device, const std::string& image);

/// Operations a second that its cores could do at most, by its data sheet; without tensor cores. 0: it does not say.
double peak_flops_per_second(const FoundDevice& device, std::size_t element_bytes) noexcept;

}  // namespace fairlead::backend::cu
