// Resources released when a task or a runtime ends.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "backend/cuda/pinned_memory.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"

namespace fairlead::tests {

namespace {

namespace cu = backend::cu;

constexpr std::size_t pinned_chunks = 3;

}  // namespace

// A finished task keeps no object of the program, whether its check passed or threw.
TEST(CudaReleases, TheCapturesOfACheck) {
  const FakeDevices there;
  std::vector<long> numbers(100);
  Runtime runtime(cuda_machine("cuda:0,memory=1MiB"));
  const auto vector = runtime.vector<long>("v", numbers.data(), 100);
  Flow flow(runtime);
  for (const bool throws : {false, true}) {
    auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = held;
    {
      const auto checked = codelet("checked").cuda([&held, throws](CudaStream stream, InOut<Vector<long>>) {
        stream.then([held = std::move(held), throws] {
          if (throws) throw std::runtime_error("it is wrong");
        });
      });
      flow.submit(checked(vector));
      if (throws)
        EXPECT_THROW(flow.wait(), TaskError);
      else
        flow.wait();
    }
    EXPECT_TRUE(watched.expired()) << throws;
  }
}

// No calls are made for a device that is lost by it; another device unregisters the rest.
TEST(CudaReleases, RegistrationsThroughAnAvailableDevice) {
  for (const int others : {0, 1}) {
    const FakeDevices there(1 + others);
    const cu::CudaDevices found = cu::find_devices();
    bool loss_reported = false;
    std::atomic<bool> has_poller = false;
    std::deque<cu::CudaDevice> devices;
    for (const cu::CudaDeviceInfo& device : found.devices)
      devices.emplace_back(
          found.driver, device,
          cu::CudaDevice::Settings{"cuda", 4096, std::make_shared<cu::LossState>([&](const std::string&) {
                                     loss_reported = true;
                                   }),
                                   &has_poller});
    const std::size_t bytes = pinned_chunks * cu::PinnedMemory::chunk_bytes;
    const std::unique_ptr<std::byte[]> memory(new std::byte[bytes]);  // nothing is copied there
    {
      cu::PinnedMemory pinned({std::span(memory.get(), bytes)});
      for (std::size_t i = 0; i < pinned_chunks; ++i) {
        const cu::CudaDevice& device = devices[i % devices.size()];
        const cu::CudaDevice::Current current(device);
        ASSERT_TRUE(pinned.pin(device, memory.get() + i * cu::PinnedMemory::chunk_bytes, 1));
      }
      fake_cuda::fail("cuMemHostUnregister", 1, false, 719);
    }
    EXPECT_TRUE(devices.front().lost());
    EXPECT_FALSE(loss_reported);
    EXPECT_EQ(fake_cuda::calls()["cuMemHostUnregister"],
              others == 0 ? 1 : 1 + static_cast<int>(pinned_chunks));
  }
}

}  // namespace fairlead::tests
