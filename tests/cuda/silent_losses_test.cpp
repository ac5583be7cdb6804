// Losses of a device that show in a call whose result is not checked by its caller: they are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/platform.hpp"
#include "cuda/programs.hpp"

namespace fairlead::tests {

namespace {

using ::testing::HasSubstr;

constexpr int silently_lost = 719;
constexpr const char* one_small_device = "cuda:0,memory=1MiB";

bool has_lost_device(const Runtime& runtime) {
  return std::ranges::any_of(runtime.statistics().nodes, [](const auto& node) { return !node.lost.empty(); });
}

}  // namespace

// A link has two buffers per direction, which copies alternate between: the third one here is too large for the first buffer.
TEST(CudaSilentLosses, AreReportedWhenABufferIsFreed) {
  const FakeDevices there;
  std::vector<std::vector<long>> numbers{std::vector<long>(100), std::vector<long>(100),
                                         std::vector<long>(5000)};
  Runtime runtime(cuda_machine(one_small_device));
  fake_cuda::fail("cuMemFreeHost", 1, false, silently_lost);
  const auto look = codelet("look").cuda([](CudaStream, In<Vector<long>>) {});
  Flow flow(runtime);
  std::vector<Handle<Vector<long>>> data;
  for (auto& one : numbers) data.push_back(runtime.vector<long>("v", one.data(), one.size()));
  std::string said;
  try {
    for (const auto& one : data) {
      flow.submit(look(one));
      flow.wait();
    }
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_EQ(fake_cuda::failures(), 1);
  EXPECT_THAT(said, HasSubstr("cuMemFreeHost: CUDA_ERROR_LAUNCH_FAILED (719)"));
  EXPECT_TRUE(has_lost_device(runtime));
  // No data were lost.
  flow.submit(step_codelet()(data.back(), 1));
  flow.wait();
  EXPECT_EQ(numbers.back()[4999], 4999);
}

// The last call of the runtime's construction: no later call would report it.
TEST(CudaSilentLosses, AreReportedByTheLastCallBeforeARun) {
  int calls = 0;
  for (const char* devices : {one_small_device, "cuda:0,memory=1MiB + cuda:1,memory=1MiB"}) {
    {
      const FakeDevices there(2);
      const Runtime runtime(cuda_machine(devices));
      calls = fake_cuda::calls()["cuCtxPopCurrent_v2"];
    }
    const FakeDevices there(2);
    fake_cuda::fail("cuCtxPopCurrent_v2", calls, false, silently_lost);
    try {
      const Runtime runtime(cuda_machine(devices));
      ADD_FAILURE() << devices;
    } catch (const DeviceLostError& error) {
      EXPECT_THAT(error.what(), HasSubstr("cuCtxPopCurrent: CUDA_ERROR_LAUNCH_FAILED (719)"));
    }
    EXPECT_EQ(fake_cuda::failures(), 1);
  }
}

}  // namespace fairlead::tests
