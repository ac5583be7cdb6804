// Shared by tests on OpenCL devices: whether there is a platform, the devices that they use, and PoCL's cache directory.
#pragma once
#include <fairlead/config.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "backend/opencl/driver.hpp"

namespace fairlead::tests {

/// All devices that there are; of PoCL two, which keep kernels in a folder for temporary files, from one test to
/// the next. Looked for once.
inline const backend::cl::OpenclDevices& opencl_devices() {
  static const backend::cl::OpenclDevices found = [] {
    const auto cache = std::filesystem::temp_directory_path() / "fairlead-tests-pocl";
    ::setenv("POCL_CACHE_DIR", cache.c_str(), 0);
    ::setenv("POCL_DEVICES", "pthread pthread", 0);
    std::error_code exists;
    std::filesystem::create_directory(cache, exists);
    return backend::cl::find_devices();
  }();
  return found;
}

inline Config opencl_machine(const std::string& devices, const std::string& scheduler = "eager",
                             const std::string& memory = "16MiB", int workers = 1) {
  Config config;
  config.set("workers", std::to_string(workers));
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  config.set("bind-threads", false);
  config.set("devices", devices);
  return config;
}

}  // namespace fairlead::tests

/// At the start of a test that needs this many devices.
#define FAIRLEAD_NEEDS_OPENCL(count)                                                                       \
  if (::fairlead::tests::opencl_devices().devices.size() < (count))                                        \
  GTEST_SKIP() << "OpenCL has " << ::fairlead::tests::opencl_devices().devices.size() << " of " << (count) \
               << " devices: " << ::fairlead::tests::opencl_devices().problem
