// See driver.hpp.
#include "backend/cuda/driver.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/shared_library.hpp"

namespace fairlead::backend::cu {

namespace {

constexpr const char* library_name = "libcuda.so.1";  // libcuda.so may be the toolkit's, which does nothing

}  // namespace

std::shared_ptr<const Driver> Driver::load() {
  const SharedLibrary library = SharedLibrary::open(library_name);
  auto driver = std::make_shared<Driver>();
#define FAIRLEAD_CUDA_FIND(name, result, ...) driver->name = library.require<result(__VA_ARGS__)>(#name);
  FAIRLEAD_CUDA_FUNCTIONS(FAIRLEAD_CUDA_FIND)
#undef FAIRLEAD_CUDA_FIND
  return driver;
}

std::string Driver::name_of_status(Status status) const {
  const char *name = nullptr, *words = nullptr;
  if (cuGetErrorName(status, &name) != success || name == nullptr) return fmt::format("the error {}", status);
  if (cuGetErrorString(status, &words) != success || words == nullptr)
    return fmt::format("{} ({})", name, status);
  return fmt::format("{} ({}): {}", name, status, words);
}

bool ends_the_device(Status status) noexcept {
  // CUDA_ERROR_DEVICE_UNAVAILABLE, ECC_UNCORRECTABLE, NVLINK_UNCORRECTABLE, CONTAINED, ILLEGAL_ADDRESS, LAUNCH_TIMEOUT,
  // CONTEXT_IS_DESTROYED, ASSERT, HARDWARE_STACK_ERROR to INVALID_PC, LAUNCH_FAILED, TENSOR_MEMORY_LEAK, UNKNOWN.
  constexpr std::array<Status, 16> ends{46,  214, 220, 226, 700, 702, 709, 710,
                                        714, 715, 716, 717, 718, 719, 721, 999};
  return std::ranges::find(ends, status) != ends.end();
}

Found find_devices() {
  Found found;
  try {
    found.driver = Driver::load();
  } catch (const SystemError& error) {
    found.problem = error.what();
    return found;
  }
  const Driver& driver = *found.driver;
  const auto gives = [&](Status status, const char* what) {
    if (status != success && found.problem.empty())
      found.problem = status == no_device
                          ? fmt::format("{} is there, but names no device", library_name)
                          : fmt::format("{}: {}: {}", library_name, what, driver.name_of_status(status));
    return status == success;
  };
  int count = 0;
  if (!gives(driver.cuInit(0), "cuInit") || !gives(driver.cuDeviceGetCount(&count), "cuDeviceGetCount"))
    return found;
  for (int i = 0; i < count; ++i) {
    FoundDevice device;
    std::array<char, 256> name{};
    if (!gives(driver.cuDeviceGet(&device.device, i), "cuDeviceGet") ||
        !gives(driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device.device),
               "cuDeviceGetName") ||
        !gives(driver.cuDeviceTotalMem_v2(&device.memory_bytes, device.device), "cuDeviceTotalMem")) {
      found.devices.clear();  // else the numbers of the others would mean something else
      return found;
    }
    driver.cuDeviceGetAttribute(&device.major, capability_major, device.device);
    driver.cuDeviceGetAttribute(&device.minor, capability_minor, device.device);
    device.name = name.data();
    found.devices.push_back(std::move(device));
  }
  if (found.devices.empty()) gives(no_device, "");
  return found;
}

}  // namespace fairlead::backend::cu
