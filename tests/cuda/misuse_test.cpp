// Mistakes that are made with CUDA devices, in configurations and in bodies: each gives an error that says what is wrong, where and
// what to do, and the runtime that is left, if there is one, works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"
#include "misuse/api/refused.hpp"

namespace fairlead::tests {

namespace {

using misuse::refused;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string refusal_of(const std::string& devices) {
  return refused<ConfigError>([&] { Runtime runtime(cuda_machine(devices)); });
}

void expect_works(Runtime& runtime) {
  long x = 5;
  Flow flow(runtime);
  flow.submit(codelet("add").cpu([](InOut<long> v) { *v += 2; })(runtime.value("x", x)));
  flow.wait();
  EXPECT_EQ(x, 7);
}

template <class Body>
std::string failure_of(Runtime& runtime, const Body& body) {
  std::vector<long> numbers(100, 1);
  const auto x = runtime.vector<long>("x", numbers.data(), 100);
  Flow flow(runtime);
  flow.submit(codelet("mistake").cuda(body)(x));
  const std::string text = refused<TaskError>([&] { flow.wait(); });
  EXPECT_THAT(text, AllOf(HasSubstr("the task mistake(x)"), HasSubstr("misuse_test.cpp:")));
  expect_works(runtime);
  return text;
}

}  // namespace

TEST(CudaMisuse, ListsThatNameNoDevice) {
  const FakeDevices devices(2);
  EXPECT_THAT(
      refusal_of("cuda:7,memory=1MiB"),
      HasSubstr(
          "\"cuda:7,memory=1MiB\" is not there; CUDA has 0: Fake CUDA device 0, 1: Fake CUDA device 1"));
  for (const char* number : {"x", "-1"})
    EXPECT_THAT(refusal_of("cuda:" + std::string(number) + ",memory=1MiB"),
                AllOf(HasSubstr("unknown \"" + std::string(number) + "\" in \"cuda:"),
                      HasSubstr("there are device,")));
  for (const char* list : {"cuda:0,memory=1MiB + + cuda:1,memory=1MiB", "cuda:0,memory=1MiB +", "+"})
    EXPECT_THAT(refusal_of(list), HasSubstr("an entry of the list is empty; write one \"+\" between two"));
}

TEST(CudaMisuse, OptionsThatCannotBe) {
  const FakeDevices devices;
  EXPECT_THAT(refusal_of("cuda:0,memory=1MiB,streams=17"),
              HasSubstr("streams of \"cuda:0,memory=1MiB,streams=17\" must be between 1 and 16"));
  EXPECT_THAT(refusal_of("cuda:0,memory=1KiB"),
              HasSubstr("memory of \"cuda:0,memory=1KiB\" must be at least 4KiB"));
  EXPECT_THAT(refusal_of("cuda:0,memory=lots"),
              HasSubstr("memory of \"cuda:0,memory=lots\" is not a size; write bytes, or"));
}

TEST(CudaMisuse, MoreMemoryThanIsFree) {
  fake_cuda::begin({.devices = 1, .memory_bytes = 1 << 20});
  const auto driver = backend::cu::CudaDriver::load();
  backend::cu::Context context = nullptr;
  backend::cu::Pointer others = 0;
  ASSERT_EQ(driver->cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(driver->cuCtxPushCurrent_v2(context), 0);
  ASSERT_EQ(driver->cuMemAlloc_v2(&others, 600u << 10), 0);
  EXPECT_THAT(
      refused<SystemError>([] { Runtime runtime(cuda_machine("cuda:0,memory=900KiB")); }),
      AllOf(HasSubstr("cuda 0 (Fake CUDA device 0): cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"),
            HasSubstr("It cannot allocate 900 KiB: let Fairlead use less of its memory.")));
  driver->cuMemFree_v2(others);
  driver->cuCtxPopCurrent_v2(&context);
  driver->cuDevicePrimaryCtxRelease_v2(0);
  EXPECT_THAT(fake_cuda::end(), IsEmpty());
}

TEST(CudaMisuse, DataLargerThanTheDevicesMemory) {
  const FakeDevices devices;
  std::vector<long> numbers(10000, 1);
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  const auto x = runtime.vector<long>("x", numbers.data(), 10000);
  Flow flow(runtime);
  EXPECT_THAT(
      refused<FootprintError>([&] { flow.submit(step_there()(x, 2)); }),
      AllOf(HasSubstr(
                "step there(x) needs 81920 bytes at once in memory node \"cuda 0\", which can hold 57344"),
            HasSubstr("misuse_test.cpp:"),
            HasSubstr("Use smaller tiles, or give \"cuda 0\" at least 81920 bytes")));
  expect_works(runtime);
}

TEST(CudaMisuse, BodiesForDevicesThatAreNotThere) {
  std::vector<long> numbers(100, 1);
  Config config;
  config.set("workers", "1");
  Runtime runtime(config);
  const auto x = runtime.vector<long>("x", numbers.data(), 100);
  Flow flow(runtime);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(step_there()(x, 2)); }),
              AllOf(HasSubstr("the task step there(x) has no implementation for any worker of this machine"),
                    HasSubstr("misuse_test.cpp:"),
                    HasSubstr("It has bodies for cuda, the workers there are cpu: give it a body for these, "
                              "or name a device")));
  expect_works(runtime);
}

TEST(CudaMisuse, DevicesForWhichThereIsNoBody) {
  const FakeDevices devices;
  std::vector<long> numbers(100, 1);
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  const auto x = runtime.vector<long>("x", numbers.data(), 100);
  Flow flow(runtime);
  const auto here = codelet("here").cpu([](InOut<Vector<long>>) {});
  EXPECT_THAT(
      refused<UsageError>([&] { flow.submit(here(x).on(runtime.memory_node("cuda 0"))); }),
      AllOf(HasSubstr("the task here(x) has no implementation for any worker of memory node \"cuda 0\""),
            HasSubstr("It has bodies for cpu, the workers there are cuda: give it a body for these, or let "
                      "it run elsewhere")));
  expect_works(runtime);
}

// It is the driver that says so, when the kernel runs; the device is lost by it, and the rest goes on.
TEST(CudaMisuse, AnAddressInRamInAKernel) {
  fake_cuda::begin({.devices = 1});
  std::vector<long> in_ram(100, 1);
  {
    Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
    EXPECT_THAT(failure_of(runtime,
                           [&](CudaStream stream, InOut<Vector<long>>) {
                             stream.check(step_kernel(stream, in_ram.data(), 100, 2), "the kernel");
                           }),
                AllOf(HasSubstr("\"cuda 0\" is lost"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)")));
  }
  EXPECT_THAT(fake_cuda::end(), ElementsAre("\"advance\" goes where the device has nothing"));
}

TEST(CudaMisuse, AnAddressOfAnotherDeviceInAKernel) {
  fake_cuda::begin({.devices = 2});
  {
    std::vector<long> numbers(100, 1);
    Runtime runtime(cuda_machine("cuda:0,memory=64KiB + cuda:1,memory=64KiB"));
    const auto x = runtime.vector<long>("x", numbers.data(), 100);
    const auto tell =
        codelet("tell").cuda([](CudaStream, InOut<Vector<long>> v, long** there) { *there = v.data(); });
    const auto wrong = codelet("wrong").cuda([](CudaStream stream, InOut<Vector<long>>, long** there) {
      stream.check(step_kernel(stream, *there, 100, 2), "the kernel");
    });
    long* there = nullptr;
    Flow flow(runtime);
    flow.submit(tell(x, &there).on(runtime.memory_node("cuda 0")));
    flow.submit(wrong(x, &there).on(runtime.memory_node("cuda 1")));
    EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }),
                AllOf(HasSubstr("the task wrong(x)"), HasSubstr("\"cuda 1\" is lost"),
                      HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)")));
    expect_works(runtime);
  }
  EXPECT_THAT(fake_cuda::end(), ElementsAre("\"advance\" goes where the device has nothing"));
}

TEST(CudaMisuse, TheDefaultStreamInABody) {
  fake_cuda::begin({.devices = 1});
  {
    Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
    EXPECT_THAT(failure_of(runtime,
                           [](CudaStream stream, InOut<Vector<long>> x) {
                             stream.check(step_kernel(nullptr, x.data(), 100, 2), "my kernel");
                           }),
                HasSubstr("cuda 0 (Fake CUDA device 0): my kernel: CUDA_ERROR_INVALID_HANDLE (400)"));
  }
  EXPECT_THAT(fake_cuda::end(), ElementsAre("\"advance\" was put into the default stream"));
}

// It costs time, and is not noticed.
TEST(CudaMisuse, ABodyThatWaitsForTheDevice) {
  const FakeDevices devices;
  const auto driver = backend::cu::CudaDriver::load();
  std::vector<std::vector<long>> numbers(8, std::vector<long>(100, 1));
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB,streams=4"));
  const auto waits = codelet("waits").cuda([&driver](CudaStream stream, InOut<Vector<long>> x) {
    stream.check(step_kernel(stream, x.data(), 100, 2), "the kernel");
    stream.check(driver->cuStreamSynchronize(stream), "cuStreamSynchronize");
    stream.check(step_kernel(stream, x.data(), 100, 3), "the kernel");
  });
  Flow flow(runtime);
  for (auto& one : numbers) flow.submit(waits(runtime.vector<long>("x", one.data(), 100)));
  flow.wait();
  for (const auto& one : numbers)
    for (long i = 0; i < 100; ++i) ASSERT_EQ(one[static_cast<std::size_t>(i)], 3 * (2 + i) + i);
}

TEST(CudaMisuse, ABodyOrACheckThatWaitsForTasks) {
  const FakeDevices devices;
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  Flow flow(runtime);
  const char* const said =
      "wait was called by another thread than the one that created the runtime: a task's body";
  EXPECT_THAT(failure_of(runtime, [&](CudaStream, InOut<Vector<long>>) { flow.wait(); }), HasSubstr(said));
  EXPECT_THAT(
      failure_of(runtime, [&](CudaStream stream, InOut<Vector<long>>) { stream.then([&] { flow.wait(); }); }),
      HasSubstr(said));
}

TEST(CudaMisuse, ABodyThatThrowsWhatIsNoException) {
  const FakeDevices devices;
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  EXPECT_THAT(failure_of(runtime,
                         [](CudaStream stream, InOut<Vector<long>> x) {
                           step_kernel(stream, x.data(), 100, 2);
                           throw 42;
                         }),
              HasSubstr("not a std::exception"));
}

}  // namespace fairlead::tests
