// Shared by the programs that measure a CUDA device: the device through the driver API, and medians.
#pragma once
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "base/json.hpp"
#include "base/shared_library.hpp"
#include "median.hpp"

namespace gpu {

using fairlead::Json;
using Clock = std::chrono::steady_clock;
namespace cu = fairlead::backend::cu;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// "--name value" pairs; numbers only.
class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) given_[argv[i]] = argv[i + 1];
    if (argc % 2 == 0) throw fairlead::ConfigError(fmt::format("{} needs a value", argv[argc - 1]));
  }
  std::int64_t number(const std::string& name, std::int64_t otherwise) {
    const std::string text = this->text(name, "");
    if (text.empty()) return otherwise;
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (*end != '\0' || value < 0)
      throw fairlead::ConfigError(fmt::format("{} {}: not a whole number", name, text));
    return value;
  }
  std::string text(const std::string& name, const std::string& otherwise) {
    const auto found = given_.extract(name);
    return found.empty() ? otherwise : found.mapped();
  }
  void require_all_used() const {
    if (!given_.empty()) throw fairlead::ConfigError("unknown option " + given_.begin()->first);
  }

 private:
  std::map<std::string, std::string> given_;
};

/// A device's context, current for the thread during its lifetime.
class Device {
 public:
  explicit Device(std::int64_t number) : found_(cu::find_devices()) {
    if (number >= static_cast<std::int64_t>(found_.devices.size()))
      throw fairlead::SystemError(found_.devices.empty() ? found_.problem
                                                         : fmt::format("CUDA has no device {}", number));
    device_ = &found_.devices[static_cast<std::size_t>(number)];
    check(driver().cuDevicePrimaryCtxRetain(&context_, device_->device), "cuDevicePrimaryCtxRetain");
    check(driver().cuCtxPushCurrent_v2(context_), "cuCtxPushCurrent");
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    cu::Context context = nullptr;
    driver().cuCtxPopCurrent_v2(&context);
    driver().cuDevicePrimaryCtxRelease_v2(device_->device);
  }
  const cu::CudaDriver& driver() const noexcept { return *found_.driver; }
  const cu::CudaDeviceInfo& found() const noexcept { return *device_; }
  const cu::CudaDevices& all() const noexcept { return found_; }
  cu::Context context() const noexcept { return context_; }
  void check(cu::Status status, const char* what) const {
    if (status != cu::success)
      throw fairlead::SystemError(fmt::format("{}: {}", what, driver().name_of_status(status)));
  }
  /// A driver function that the library itself does not use.
  template <class Function>
  Function* function(const char* name) const {
    return fairlead::SharedLibrary::open("libcuda.so.1").require<Function>(name);
  }
  std::size_t free_bytes() const {
    std::size_t free = 0, all = 0;
    check(driver().cuMemGetInfo_v2(&free, &all), "cuMemGetInfo");
    return free;
  }

 private:
  cu::CudaDevices found_;
  const cu::CudaDeviceInfo* device_ = nullptr;
  cu::Context context_ = nullptr;
};

/// Makes a device current during its lifetime, if several are open.
class Current {
 public:
  explicit Current(const Device& device) : device_(device) {
    device.check(device.driver().cuCtxPushCurrent_v2(device.context()), "cuCtxPushCurrent");
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    cu::Context context = nullptr;
    device_.driver().cuCtxPopCurrent_v2(&context);
  }

 private:
  const Device& device_;
};

/// A block of the device's memory.
class Block {
 public:
  Block(const Device& device, std::size_t bytes) : device_(device) {
    device.check(device.driver().cuMemAlloc_v2(&at, bytes), "cuMemAlloc");
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    const Current current(device_);
    device_.driver().cuMemFree_v2(at);
  }
  cu::Pointer at = 0;

 private:
  const Device& device_;
};

class Stream {
 public:
  explicit Stream(const Device& device) : device_(device) {
    device.check(device.driver().cuStreamCreate(&stream, cu::stream_non_blocking), "cuStreamCreate");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    const Current current(device_);
    device_.driver().cuStreamDestroy_v2(stream);
  }
  void wait() const { device_.check(device_.driver().cuStreamSynchronize(stream), "cuStreamSynchronize"); }
  cu::Stream stream = nullptr;

 private:
  const Device& device_;
};

/// The main program: prints the result of `body` as JSON, an error as one line on standard error.
template <class Body>
int run(int argc, char** argv, const Body& body) {
  try {
    Arguments arguments(argc, argv);
    fmt::print("{}", body(arguments).text());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace gpu
