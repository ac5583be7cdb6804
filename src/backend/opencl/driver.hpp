// The functions of OpenCL, from a library that is looked for when a program runs: who has none misses nothing until
// he asks for a device. And what the library's error numbers are called.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/opencl/types.hpp"

namespace fairlead::backend::cl {

struct Driver {
  /// "libOpenCL.so.1", as the loader finds it. Throws SystemError, with the loader's reason, if there is none or if it
  /// lacks a function.
  static std::shared_ptr<const Driver> load();

#define FAIRLEAD_OPENCL_DECLARE(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  FAIRLEAD_OPENCL_FUNCTIONS(FAIRLEAD_OPENCL_DECLARE)
#undef FAIRLEAD_OPENCL_DECLARE
};

/// "CL_OUT_OF_RESOURCES (-5)".
std::string name_of_status(Status status);

/// A device of some platform, and what it says of itself.
struct FoundDevice {
  Platform platform = nullptr;
  Device device = nullptr;
  std::string platform_name, name, version;
  std::size_t memory_bytes = 0, largest_buffer_bytes = 0;
  bool doubles = false;
  bool is_gpu = false;
  unsigned cores = 0;  ///< if it is cores of this machine: how many
};

/// What there is, or in a line why there is nothing.
struct Found {
  std::shared_ptr<const Driver> driver;  ///< null: no library
  std::vector<FoundDevice> devices;      ///< of all platforms, in the order in which the library names them
  std::string problem;                   ///< if there is no device
};
Found find_devices();

}  // namespace fairlead::backend::cl
