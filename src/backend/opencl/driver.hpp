// The functions of OpenCL, from a library loaded at run time: a program without OpenCL devices does not need it. Also
// the names of its error codes.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/opencl/types.hpp"

namespace fairlead::backend::cl {

struct OpenclDriver {
  /// Loads "libOpenCL.so.1" by the loader's search rules. Throws SystemError, with the loader's reason, if it is
  /// missing or lacks a function.
  static std::shared_ptr<const OpenclDriver> load();

#define FAIRLEAD_OPENCL_DECLARE(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  FAIRLEAD_OPENCL_FUNCTIONS(FAIRLEAD_OPENCL_DECLARE)
#undef FAIRLEAD_OPENCL_DECLARE
};

/// "CL_OUT_OF_RESOURCES (-5)".
std::string name_of_status(Status status);

/// A device of some platform with its properties.
struct OpenclDeviceInfo {
  Platform platform = nullptr;
  Device device = nullptr;
  std::string platform_name, name, version;
  std::size_t memory_bytes = 0, largest_buffer_bytes = 0;
  bool doubles = false;
  bool is_gpu = false;
  unsigned cores = 0;  ///< if it is the processor of this machine: number of cores
};

/// The devices, or one line with the reason why there are none.
struct OpenclDevices {
  std::shared_ptr<const OpenclDriver> driver;  ///< null: no library
  std::vector<OpenclDeviceInfo> devices;       ///< of all platforms, in the library's order
  std::string problem;                         ///< if there is no device
};
OpenclDevices find_devices();

}  // namespace fairlead::backend::cl
