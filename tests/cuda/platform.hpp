// What tests on the fake CUDA devices share: a driver for each test, which has to be content with it at the end.
#pragma once
#include <fairlead/config.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "fake_cuda/fake_cuda.hpp"
#include "sanitized.hpp"

namespace fairlead::tests {

/// Devices while it lives.
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

/// Of what takes some ten milliseconds on a machine with nothing else to do: longer only if somebody waits in vain for a while.
inline constexpr std::chrono::seconds longest_run{sanitized ? 60 : 20};

/// In place of what nvcc makes of Fairlead's own kernels: the tests' driver has them for cores, and takes this for them.
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
