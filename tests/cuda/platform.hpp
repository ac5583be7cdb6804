// Shared by tests on the fake CUDA devices: a driver for each test, which must have no findings at the end.
#pragma once
#include <fairlead/config.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "fake_cuda/fake_cuda.hpp"
#include "sanitized.hpp"

namespace fairlead::tests {

/// Devices during its lifetime.
class FakeDevices {
 public:
  explicit FakeDevices(int devices = 1, std::uint64_t seed = 1, unsigned longest_delay_us = 60,
                       fake_cuda::Peers peers = fake_cuda::Peers::all)
      : seed_(seed) {
    fake_cuda::begin(
        {.seed = seed, .devices = devices, .longest_delay_us = longest_delay_us, .peers = peers});
  }
  FakeDevices(const FakeDevices&) = delete;
  FakeDevices& operator=(const FakeDevices&) = delete;
  ~FakeDevices() {
    for (const std::string& text : fake_cuda::end()) ADD_FAILURE() << "seed " << seed_ << ": " << text;
  }

 private:
  const std::uint64_t seed_;
};

/// Limit for a run that takes some ten milliseconds on an idle machine: exceeded only by a wait that times out.
inline constexpr std::chrono::seconds longest_run{sanitized ? 60 : 20};

/// Placeholder for the compiled kernels of Fairlead: the fake driver has them for cores and accepts this image.
inline constexpr const char* image_of_kernels = "fake_cuda";

inline Config cuda_machine(const std::string& devices, const std::string& scheduler = "eager",
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
