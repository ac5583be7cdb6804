// Loads the driver and enumerates its devices.
#include "backend/cuda/driver.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/shared_library.hpp"

namespace fairlead::backend::cu {

namespace {

constexpr const char* library_name = "libcuda.so.1";  // libcuda.so may be the stub of the toolkit

}  // namespace

std::shared_ptr<const CudaDriver> CudaDriver::load() {
  const SharedLibrary library = SharedLibrary::open(library_name);
  auto driver = std::make_shared<CudaDriver>();
#define FAIRLEAD_CUDA_FIND(name, result, ...) driver->name = library.require<result(__VA_ARGS__)>(#name);
  FAIRLEAD_CUDA_FUNCTIONS(FAIRLEAD_CUDA_FIND)
#undef FAIRLEAD_CUDA_FIND
  return driver;
}

std::string CudaDriver::name_of_status(Status status) const {
  const char *name = nullptr, *words = nullptr;
  if (cuGetErrorName(status, &name) != success || name == nullptr) return fmt::format("the error {}", status);
  if (cuGetErrorString(status, &words) != success || words == nullptr)
    return fmt::format("{} ({})", name, status);
  return fmt::format("{} ({}): {}", name, status, words);
}

bool is_fatal(Status status) noexcept {
  // CUDA_ERROR_DEVICE_UNAVAILABLE, ECC_UNCORRECTABLE, NVLINK_UNCORRECTABLE, CONTAINED, ILLEGAL_ADDRESS, LAUNCH_TIMEOUT,
  // CONTEXT_IS_DESTROYED, ASSERT, HARDWARE_STACK_ERROR to INVALID_PC, LAUNCH_FAILED, TENSOR_MEMORY_LEAK, UNKNOWN.
  constexpr std::array<Status, 16> ends{46,  214, 220, 226, 700, 702, 709, 710,
                                        714, 715, 716, 717, 718, 719, 721, 999};
  return std::ranges::find(ends, status) != ends.end();
}

CudaDevices find_devices() {
  CudaDevices found;
  try {
    found.driver = CudaDriver::load();
  } catch (const SystemError& error) {
    found.problem = error.what();
    return found;
  }
  const CudaDriver& driver = *found.driver;
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
    CudaDeviceInfo device;
    std::array<char, 256> name{};
    if (!gives(driver.cuDeviceGet(&device.device, i), "cuDeviceGet") ||
        !gives(driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device.device),
               "cuDeviceGetName") ||
        !gives(driver.cuDeviceTotalMem_v2(&device.memory_bytes, device.device), "cuDeviceTotalMem")) {
      found.devices.clear();  // otherwise the numbers of the other devices would shift
      return found;
    }
    driver.cuDeviceGetAttribute(&device.major, capability_major, device.device);
    driver.cuDeviceGetAttribute(&device.minor, capability_minor, device.device);
    driver.cuDeviceGetAttribute(&device.multiprocessors, multiprocessors, device.device);
    driver.cuDeviceGetAttribute(&device.clock_kilohertz, clock_kilohertz, device.device);
    device.name = name.data();
    found.devices.push_back(std::move(device));
  }
  if (found.devices.empty()) gives(no_device, "");
  return found;
}

bool may_be_peers(const CudaDevices& found, std::size_t first, std::size_t second) {
  const Device one = found.devices[first].device, other = found.devices[second].device;
  const auto may = [&](Device from, Device to) {
    int answer = 0;
    return found.driver->cuDeviceCanAccessPeer(&answer, from, to) == success && answer != 0;
  };
  return may(one, other) && may(other, one);
}

namespace {

struct Answer {
  Status status = success;
  const char* of = "";  // the function that returned it
};

/// Calls `ask` in a context of the device, retained for this call. Throws SystemError for an error status.
template <class Ask>
void in_context_of(const CudaDriver& driver, const CudaDeviceInfo& device, const Ask& ask) {
  const auto check = [&](Status status, const char* what) {
    if (status != success)
      throw SystemError(fmt::format("{}: {}: {}", device.name, what, driver.name_of_status(status)));
  };
  Context context = nullptr;
  check(driver.cuDevicePrimaryCtxRetain(&context, device.device), "cuDevicePrimaryCtxRetain");
  try {
    check(driver.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
    const Answer answer = ask();
    driver.cuCtxPopCurrent_v2(&context);
    check(answer.status, answer.of);
  } catch (...) {
    driver.cuDevicePrimaryCtxRelease_v2(device.device);
    throw;
  }
  driver.cuDevicePrimaryCtxRelease_v2(device.device);
}

}  // namespace

Bytes free_memory(const CudaDriver& driver, const CudaDeviceInfo& device,
                  const std::function<Bytes(Bytes free)>& take) {
  std::size_t free = 0, all = 0;
  in_context_of(driver, device, [&]() -> Answer {
    if (const Status status = driver.cuMemGetInfo_v2(&free, &all); status != success)
      return {status, "cuMemGetInfo"};
    const Bytes wanted = take(free);
    if (wanted == 0) return {};
    Pointer memory = 0;
    const Status status = driver.cuMemAlloc_v2(&memory, wanted);
    return {status == success ? driver.cuMemFree_v2(memory) : status, "cuMemAlloc"};
  });
  return free;
}

void try_kernels(const CudaDriver& driver, const CudaDeviceInfo& device, const std::string& image) {
  in_context_of(driver, device, [&]() -> Answer {
    Module module = nullptr;
    const Status status = driver.cuModuleLoadData(&module, image.data());
    return {status == success ? driver.cuModuleUnload(module) : status, "cuModuleLoadData"};
  });
}

double peak_flops_per_second(const CudaDeviceInfo& device, std::size_t element_bytes) noexcept {
  // Multiply-adds per clock and multiprocessor, from NVIDIA's table of arithmetic throughput (CUDA C++ Programming
  // Guide).
  const int capability = device.major * 10 + device.minor;
  const bool wide = element_bytes == 8;
  int each = wide ? 2 : 128;  // graphics cards, and unknown devices
  if (capability == 60 || capability == 70 || capability == 80)
    each = wide ? 32 : 64;
  else if (capability == 90 || capability == 100)
    each = wide ? 64 : 128;
  else if (capability == 35 || capability == 37)
    each = wide ? 64 : 192;
  else if (capability == 72 || capability == 75)
    each = wide ? 2 : 64;
  return 2.0 * each * device.multiprocessors * device.clock_kilohertz * 1e3;
}

}  // namespace fairlead::backend::cu
