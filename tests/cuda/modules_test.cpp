// Kernels of one's own, launched by CudaModule and CudaStream::run(): loaded once on each device, by whichever task is first, and
// unloaded with it; what the driver refuses is an error of the task. And the tests' driver itself: it sees what kernels read and write,
// and that threads of a block wait for each other alike.
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "cuda/platform.hpp"
#include "fake_cuda/host_kernels.hpp"
#include "misuse/api/refused.hpp"

namespace fairlead::tests {

namespace {

using misuse::refused;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace cu = backend::cu;

CudaModule sums(std::vector<std::string> names = {"fairlead_add_64"}, const char* image = image_of_kernels) {
  return {image, std::move(names)};
}

/// y := 2 x + 3 y, by Fairlead's own kernel.
auto combine_codelet(const CudaModule& module) {
  return codelet("combine").cuda([module](CudaStream stream, In<Vector<double>> x, InOut<Vector<double>> y) {
    const int size = static_cast<int>(y.size());
    stream.run(module[module.content().names.back()], cuda_grid(1, 64), size, 1, 2.0, x.data(), size, 3.0,
               y.data(), size);
  });
}

}  // namespace

TEST(CudaModules, AreLoadedOnceOnEachDevice) {
  const FakeDevices devices(2, 5);
  std::vector<double> x(40);
  std::iota(x.begin(), x.end(), 1.0);
  std::vector<std::vector<double>> y(12, std::vector<double>(40, 1.0));
  {
    Runtime runtime(cuda_machine("cuda:0,memory=64KiB,streams=2 + cuda:1,memory=64KiB,streams=3"));
    const auto combine = combine_codelet(sums({"fairlead_add_32", "fairlead_add_64"}));
    const auto from = runtime.vector<double>("x", x.data(), 40);
    Flow flow(runtime);
    for (auto& one : y) {
      const auto to = runtime.vector<double>("y", one.data(), 40);
      for (int i = 0; i < 4; ++i) flow.submit(combine(from, to));
    }
    flow.wait();
    auto calls = fake_cuda::calls();
    EXPECT_GE(calls["cuModuleLoadData"], 1);
    EXPECT_LE(calls["cuModuleLoadData"], 2);
    EXPECT_EQ(calls["cuModuleGetFunction"], 2 * calls["cuModuleLoadData"]);  // all of them, at once
    EXPECT_EQ(calls["cuLaunchKernel"], 48);
  }
  auto calls = fake_cuda::calls();
  EXPECT_EQ(calls["cuModuleUnload"], calls["cuModuleLoadData"]);
  for (const auto& one : y)
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], 81 + 80 * x[i]);
}

TEST(CudaModules, ThatADeviceRefusesFailTheTask) {
  const FakeDevices devices;
  std::vector<double> x(8, 1), y(8, 1);
  std::deque<std::vector<double>> others;
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  const auto from = runtime.vector<double>("x", x.data(), 8);
  // What a task that failed was to write has no value any more.
  const auto said = [&](const auto& codelet) {
    Flow flow(runtime);
    flow.submit(codelet(from, runtime.vector<double>("y", others.emplace_back(8, 1.0).data(), 8)));
    return refused<TaskError>([&] { flow.wait(); });
  };
  EXPECT_THAT(
      said(combine_codelet(sums({"fairlead_add_64"}, "no image"))),
      AllOf(HasSubstr("combine(x, y)"), HasSubstr("cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE (200)")));
  EXPECT_THAT(said(combine_codelet(sums({"fairlead_add_64", "no kernel"}))),
              HasSubstr("cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500)"));
  EXPECT_THAT(refused<UsageError>([] { sums()["add"]; }), HasSubstr("\"add\" is not one of its kernels"));
  const auto too_many =
      codelet("too many")
          .cuda([module = sums()](CudaStream stream, In<Vector<double>> v, Out<Vector<double>> w) {
            stream.run(module["fairlead_add_64"], cuda_grid(1, 2048), 1, 1, 1.0, v.data(), 1, 0.0, w.data(),
                       1);
          });
  EXPECT_THAT(said(too_many), HasSubstr("cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1)"));
  Flow again(runtime);
  again.submit(combine_codelet(sums())(from, runtime.vector<double>("y", y.data(), 8)));
  again.wait();
  EXPECT_EQ(y, std::vector<double>(8, 5));
}

TEST(FakeCudaKernels, AreSeenToTouchWhatOthersTouch) {
  fake_cuda::begin({.seed = 2});
  const auto driver = cu::CudaDriver::load();
  cu::Context context = nullptr;
  cu::Module module = nullptr;
  cu::Function add = nullptr;
  cu::Pointer memory = 0;
  std::array<cu::Stream, 2> streams{};
  ASSERT_EQ(driver->cuDevicePrimaryCtxRetain(&context, 0), cu::success);
  ASSERT_EQ(driver->cuCtxPushCurrent_v2(context), cu::success);
  for (auto& stream : streams)
    ASSERT_EQ(driver->cuStreamCreate(&stream, cu::stream_non_blocking), cu::success);
  ASSERT_EQ(driver->cuMemAlloc_v2(&memory, 800), cu::success);
  ASSERT_EQ(driver->cuModuleLoadData(&module, image_of_kernels), cu::success);
  ASSERT_EQ(driver->cuModuleGetFunction(&add, module, "fairlead_add_64"), cu::success);
  // c := a + c of 10 numbers from the 50th on: in the first stream, then in the other one numbers that begin so far before.
  const auto launch = [&](cu::Stream stream, int before) {
    int rows = 10, columns = 1, ld = 10;
    double one = 1;
    const auto* const base = reinterpret_cast<double*>(memory);
    const double *from = base, *to = base + 50 - before;
    void* arguments[] = {&rows, &columns, &one, &from, &ld, &one, &to, &ld};
    EXPECT_EQ(driver->cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr), cu::success);
  };
  launch(streams[0], 0);
  launch(streams[1], 10);
  const auto end = [&] {
    for (auto& stream : streams) EXPECT_EQ(driver->cuStreamSynchronize(stream), cu::success);
    driver->cuModuleUnload(module);
    driver->cuMemFree_v2(memory);
    for (auto& stream : streams) driver->cuStreamDestroy_v2(stream);
    driver->cuCtxPopCurrent_v2(&context);
    driver->cuDevicePrimaryCtxRelease_v2(0);
    return fake_cuda::end();
  };
  launch(streams[0], 9);
  EXPECT_THAT(end(), ::testing::ElementsAre(
                         "a race: \"fairlead_add_64\" writes what \"fairlead_add_64\" writes, and nothing "
                         "orders them"));
}

TEST(FakeCudaKernels, AreThoseOfTheSource) {
  EXPECT_EQ(fake_cuda::host_kernel("fairlead_sub_64"), nullptr);
  ASSERT_NE(fake_cuda::host_kernel("fairlead_add_32"), nullptr);
}

}  // namespace fairlead::tests
