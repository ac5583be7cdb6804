// The fake driver itself, called in ways that Fairlead does not use: it varies unspecified behaviour of real drivers by its
// seed, and reports invalid use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "fake_cuda/fake_cuda.hpp"

namespace fairlead::tests {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace cu = backend::cu;

/// A context, a stream and memory for one number.
struct Calls {
  explicit Calls(std::uint64_t seed) {
    fake_cuda::begin({.seed = seed, .longest_delay_us = 300});
    driver = cu::CudaDriver::load();
    EXPECT_EQ(driver->cuInit(0), cu::success);
    EXPECT_EQ(driver->cuDevicePrimaryCtxRetain(&context, 0), cu::success);
    EXPECT_EQ(driver->cuCtxPushCurrent_v2(context), cu::success);
    EXPECT_EQ(driver->cuStreamCreate(&stream, cu::stream_non_blocking), cu::success);
    EXPECT_EQ(driver->cuMemAlloc_v2(&memory, sizeof(long)), cu::success);
  }
  std::vector<std::string> end() {
    driver->cuMemFree_v2(memory);
    driver->cuStreamDestroy_v2(stream);
    driver->cuCtxPopCurrent_v2(&context);
    driver->cuDevicePrimaryCtxRelease_v2(0);
    return fake_cuda::end();
  }
  /// The value after all operations.
  long value() const {
    long value = 0;
    EXPECT_EQ(driver->cuMemHostRegister_v2(&value, sizeof value, cu::register_for_all), cu::success);
    EXPECT_EQ(driver->cuMemcpyDtoHAsync_v2(&value, memory, sizeof value, stream), cu::success);
    EXPECT_EQ(driver->cuStreamSynchronize(stream), cu::success);
    EXPECT_EQ(driver->cuMemHostUnregister(&value), cu::success);
    return value;
  }

  std::shared_ptr<const cu::CudaDriver> driver;
  cu::Context context = nullptr;
  cu::Stream stream = nullptr;
  cu::Pointer memory = 0;
};

constexpr const char* not_registered = "a copy that is not waited for takes RAM that is not registered";

}  // namespace

TEST(FakeCuda, ReadsUnregisteredRamAtTheCallOrLater) {
  std::set<long> values;
  for (std::uint64_t seed = 1; seed <= 200 && values.size() < 2; ++seed) {
    Calls calls(seed);
    std::atomic<bool> changed = false;
    fake_cuda::launch(calls.stream, "wait", {}, [&](auto) { changed.wait(false); });
    long from = 1;
    EXPECT_EQ(calls.driver->cuMemcpyHtoDAsync_v2(calls.memory, &from, sizeof from, calls.stream),
              cu::success);
    from = 2;
    changed = true, changed.notify_all();
    EXPECT_EQ(calls.driver->cuStreamSynchronize(calls.stream), cu::success);
    values.insert(calls.value());
    EXPECT_THAT(calls.end(), ElementsAre(not_registered));
  }
  EXPECT_THAT(values, ElementsAre(1, 2));
}

TEST(FakeCuda, MayWaitForCopiesIntoUnregisteredRam) {
  std::set<long> values;
  for (std::uint64_t seed = 1; seed <= 200 && values.size() < 2; ++seed) {
    Calls calls(seed);
    fake_cuda::launch(calls.stream, "set", {{reinterpret_cast<void*>(calls.memory), sizeof(long), true}},
                      [](auto at) { *reinterpret_cast<long*>(at[0]) = 2; });
    const auto to = std::make_unique<long>(1);
    EXPECT_EQ(calls.driver->cuMemcpyDtoHAsync_v2(to.get(), calls.memory, sizeof(long), calls.stream),
              cu::success);
    values.insert(fake_cuda::operations() == 2 ? 2 : 1);
    EXPECT_EQ(calls.driver->cuStreamSynchronize(calls.stream), cu::success);
    EXPECT_EQ(*to, 2);
    EXPECT_THAT(calls.end(), ElementsAre(not_registered));
  }
  EXPECT_THAT(values, ElementsAre(1, 2));
}

TEST(FakeCuda, ReportsEachUseOfTheDefaultStream) {
  Calls calls(1);
  cu::Event event = nullptr;
  EXPECT_EQ(calls.driver->cuEventCreate(&event, cu::event_plain), cu::success);
  EXPECT_NE(calls.driver->cuStreamSynchronize(nullptr), cu::success);
  EXPECT_NE(calls.driver->cuEventRecord(event, nullptr), cu::success);
  EXPECT_NE(fake_cuda::launch(nullptr, "a kernel", {}, [](auto) {}), cu::success);
  EXPECT_EQ(calls.driver->cuEventDestroy_v2(event), cu::success);
  EXPECT_THAT(calls.end(), ElementsAre("\"a kernel\" was put into the default stream",
                                       "an event was recorded in the default stream",
                                       "the default stream was waited for"));
}

// A thread that observes the completion may not have published it before its next call.
TEST(FakeCuda, CountsCopiedBytesAsSavedAfterTheObserversNextCall) {
  for (const bool calls_again : {false, true}) {
    Calls calls(1);
    const auto* const driver = calls.driver.get();
    fake_cuda::launch(calls.stream, "set", {{reinterpret_cast<void*>(calls.memory), sizeof(long), true}},
                      [](auto at) { *reinterpret_cast<long*>(at[0]) = 2; });
    long home = 0;
    cu::Event event = nullptr;
    EXPECT_EQ(driver->cuMemHostRegister_v2(&home, sizeof home, cu::register_for_all), cu::success);
    EXPECT_EQ(driver->cuEventCreate(&event, cu::event_plain), cu::success);
    EXPECT_EQ(driver->cuMemcpyDtoHAsync_v2(&home, calls.memory, sizeof home, calls.stream), cu::success);
    EXPECT_EQ(driver->cuEventRecord(event, calls.stream), cu::success);
    std::thread([&] {
      cu::Context context = calls.context;
      EXPECT_EQ(driver->cuCtxPushCurrent_v2(context), cu::success);
      EXPECT_EQ(driver->cuEventSynchronize(event), cu::success);
      if (calls_again) driver->cuCtxPopCurrent_v2(&context);
    }).join();
    fake_cuda::fail("cuStreamSynchronize", 1, false, 719);
    EXPECT_EQ(driver->cuStreamSynchronize(calls.stream), 719);
    EXPECT_EQ(fake_cuda::lost_bytes(0), calls_again ? 0 : sizeof(long));
    EXPECT_EQ(driver->cuCtxPopCurrent_v2(&calls.context), cu::success);
    EXPECT_THAT(fake_cuda::end(), IsEmpty());
  }
}

// Either stream may be first: the event finishes with its last record, independent of the first one, and stays finished.
TEST(FakeCuda, FinishesAnEventWithItsLastRecord) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Calls calls(seed);
    cu::Stream other = nullptr;
    cu::Event event = nullptr;
    EXPECT_EQ(calls.driver->cuStreamCreate(&other, cu::stream_non_blocking), cu::success);
    EXPECT_EQ(calls.driver->cuEventCreate(&event, cu::event_plain), cu::success);
    EXPECT_EQ(calls.driver->cuEventRecord(event, calls.stream), cu::success);
    EXPECT_EQ(calls.driver->cuEventRecord(event, other), cu::success);
    EXPECT_EQ(calls.driver->cuEventSynchronize(event), cu::success);
    EXPECT_EQ(calls.driver->cuStreamSynchronize(calls.stream), cu::success);
    EXPECT_EQ(calls.driver->cuEventQuery(event), cu::success) << seed;
    EXPECT_EQ(calls.driver->cuEventDestroy_v2(event), cu::success);
    EXPECT_EQ(calls.driver->cuStreamDestroy_v2(other), cu::success);
    EXPECT_THAT(calls.end(), ElementsAre("an event was used again while it was asked")) << seed;
  }
}

TEST(FakeCuda, ReportsAnEventDestroyedBeforeItFinishes) {
  Calls calls(1);
  cu::Event event = nullptr;
  EXPECT_EQ(calls.driver->cuEventCreate(&event, cu::event_plain), cu::success);
  std::atomic<bool> destroyed = false;
  fake_cuda::launch(calls.stream, "wait", {}, [&](auto) { destroyed.wait(false); });
  EXPECT_EQ(calls.driver->cuEventRecord(event, calls.stream), cu::success);
  EXPECT_EQ(calls.driver->cuEventDestroy_v2(event), cu::success);
  destroyed = true, destroyed.notify_all();
  EXPECT_EQ(calls.driver->cuStreamSynchronize(calls.stream), cu::success);
  EXPECT_THAT(calls.end(), ElementsAre("an event was given back before it was over"));
}

// A network that writes device memory: a kernel launched in the meantime is unordered with it, whichever runs first.
TEST(FakeCuda, ChecksTheOrderOfNetworkWritesAndKernels) {
  const auto found = [](auto use) {
    Calls calls(1);
    auto* const memory = reinterpret_cast<void*>(calls.memory);
    const auto launch = [&] {
      fake_cuda::launch(calls.stream, "read", {{memory, sizeof(long), false}}, [](auto) {});
    };
    const auto come = [&] {
      const fake_cuda::Outside outside = fake_cuda::begin_outside("a payload", memory, sizeof(long), true);
      EXPECT_NE(outside.bytes, nullptr);
      return outside;
    };
    use(calls, launch, come);
    EXPECT_EQ(calls.driver->cuStreamSynchronize(calls.stream), cu::success);
    return calls.end();
  };
  EXPECT_THAT(found([](Calls& calls, const auto& launch, const auto& come) {
                fake_cuda::end_outside(come());
                launch();
                EXPECT_EQ(calls.driver->cuStreamSynchronize(calls.stream), cu::success);
                fake_cuda::end_outside(come());
              }),
              IsEmpty());
  EXPECT_THAT(found([](Calls&, const auto& launch, const auto& come) {
                const fake_cuda::Outside comes = come();
                launch();
                fake_cuda::end_outside(comes);
              }),
              ElementsAre("a race: \"read\" reads what \"a payload\" writes, and nothing orders them"));
  EXPECT_THAT(found([](Calls&, const auto& launch, const auto& come) {
                launch();
                fake_cuda::end_outside(come());
              }),
              ElementsAre("a race: \"a payload\" writes what \"read\" reads, and nothing orders them"));
  EXPECT_THAT(found([](Calls& calls, const auto&, const auto& come) {
                cu::Context context = nullptr;
                calls.driver->cuCtxPopCurrent_v2(&context);
                fake_cuda::end_outside(come());
                calls.driver->cuCtxPushCurrent_v2(context);
              }),
              ElementsAre("\"a payload\" goes to a device without a context"));
  long elsewhere = 0;
  EXPECT_EQ(fake_cuda::begin_outside("a payload", &elsewhere, sizeof elsewhere, true).bytes, nullptr);
}

}  // namespace fairlead::tests
