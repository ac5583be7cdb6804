// Loads OpenCL and enumerates its devices.
#include "backend/opencl/driver.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/shared_library.hpp"

namespace fairlead::backend::cl {

namespace {

constexpr const char* library_name = "libOpenCL.so.1";
constexpr Status no_platform = -1001;  // from the ICD loader, an extension

constexpr std::array<std::pair<Status, std::string_view>, 60> statuses{{
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-9, "CL_IMAGE_FORMAT_MISMATCH"},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-18, "CL_DEVICE_PARTITION_FAILED"},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    {-40, "CL_INVALID_IMAGE_SIZE"},
    {-41, "CL_INVALID_SAMPLER"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-60, "CL_INVALID_GL_OBJECT"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-62, "CL_INVALID_MIP_LEVEL"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-65, "CL_INVALID_IMAGE_DESCRIPTOR"},
    {-66, "CL_INVALID_COMPILER_OPTIONS"},
    {-67, "CL_INVALID_LINKER_OPTIONS"},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    {no_platform, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "an error of the driver: a kernel went where it may not"},  // specific to NVIDIA
}};

/// The text that `get` returns.
template <class Get>
std::string text_of(const Get& get) {
  std::size_t bytes = 0;
  if (get(0, nullptr, &bytes) != success || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (get(bytes, text.data(), nullptr) != success) return {};
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

}  // namespace

std::string name_of_status(Status status) {
  const auto* const found = std::ranges::find(statuses, status, &std::pair<Status, std::string_view>::first);
  return found == statuses.end() ? fmt::format("the error {}", status)
                                 : fmt::format("{} ({})", found->second, status);
}

std::shared_ptr<const OpenclDriver> OpenclDriver::load() {
  const SharedLibrary library = SharedLibrary::open(library_name);
  auto driver = std::make_shared<OpenclDriver>();
#define FAIRLEAD_OPENCL_FIND(name, result, ...) driver->name = library.require<result(__VA_ARGS__)>(#name);
  FAIRLEAD_OPENCL_FUNCTIONS(FAIRLEAD_OPENCL_FIND)
#undef FAIRLEAD_OPENCL_FIND
  return driver;
}

OpenclDevices find_devices() {
  OpenclDevices found;
  try {
    found.driver = OpenclDriver::load();
  } catch (const SystemError& error) {
    found.problem = error.what();
    return found;
  }
  const OpenclDriver& driver = *found.driver;
  Number count = 0;
  const Status status = driver.clGetPlatformIDs(0, nullptr, &count);
  if (status != success && status != no_platform) {
    found.problem = "OpenCL names no platforms: " + name_of_status(status);
    return found;
  }
  std::vector<Platform> platforms(status == success ? count : 0);
  if (!platforms.empty()) driver.clGetPlatformIDs(count, platforms.data(), nullptr);
  if (platforms.empty())
    found.problem = fmt::format("{} is there, but no driver of a device (an ICD)", library_name);
  for (const Platform platform : platforms) {
    Number devices_here = 0;
    if (driver.clGetDeviceIDs(platform, all_devices, 0, nullptr, &devices_here) != success) continue;
    std::vector<Device> devices(devices_here);
    if (driver.clGetDeviceIDs(platform, all_devices, devices_here, devices.data(), nullptr) != success)
      continue;
    const std::string platform_text = text_of([&](std::size_t bytes, void* to, std::size_t* size) {
      return driver.clGetPlatformInfo(platform, platform_name, bytes, to, size);
    });
    for (const Device device : devices) {
      const auto text = [&](Number what) {
        return text_of([&](std::size_t bytes, void* to, std::size_t* size) {
          return driver.clGetDeviceInfo(device, what, bytes, to, size);
        });
      };
      const auto number = [&](Number what) {
        std::uint64_t value = 0;
        return driver.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == success ? value : 0;
      };
      Number available = 0;
      driver.clGetDeviceInfo(device, device_available, sizeof available, &available, nullptr);
      if (available == 0) continue;
      found.devices.push_back({.platform = platform,
                               .device = device,
                               .platform_name = platform_text,
                               .name = text(device_name),
                               .version = text(device_version),
                               .memory_bytes = number(device_global_memory),
                               .largest_buffer_bytes = number(device_max_allocation),
                               .doubles = number(device_double_config) != 0,
                               .is_gpu = (number(device_type) & type_gpu) != 0,
                               .cores = (number(device_type) & type_processor) != 0
                                            ? static_cast<unsigned>(number(device_compute_units))
                                            : 0});
    }
  }
  if (found.devices.empty() && found.problem.empty())
    found.problem = fmt::format("{} names {} platform{}, without a device that is available", library_name,
                                platforms.size(), platforms.size() == 1 ? "" : "s");
  return found;
}

}  // namespace fairlead::backend::cl
