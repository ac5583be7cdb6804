// The CPU time of waiting for CUDA devices: almost none while they are idle or busy; and never more than one polling core.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backend/cuda/cuda.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"
#include "sanitized.hpp"

namespace fairlead::tests {

namespace {

namespace cu = backend::cu;
using namespace std::chrono_literals;

constexpr auto long_time = 400ms;
constexpr int devices = 4;
constexpr const char* four_devices =
    "cuda:0,memory=64KiB,streams=4 + cuda:1,memory=64KiB,streams=4 + cuda:2,memory=64KiB,streams=4 + "
    "cuda:3,memory=64KiB,streams=4";

/// CPU time of all threads of the process.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// The CPU time of the process during `wait`, the least of three runs.
template <class Wait>
std::chrono::nanoseconds processor_time_of(const Wait& wait) {
  auto least = std::chrono::nanoseconds::max();
  for (int i = 0; i < 3 && least > 1ms; ++i) {
    const auto before = processor_time();
    wait();
    least = std::min(least, processor_time() - before);
  }
  return least;
}

/// 2 ms of a second for each device; a sanitizer makes every instruction slower.
constexpr std::chrono::nanoseconds allowed = devices * long_time / 500 * (sanitized ? 10 : 1);

}  // namespace

TEST(CudaIdle, CostsAlmostNoCpuTimeWhileACoreComputes) {
  const FakeDevices there(devices);
  std::vector<std::vector<long>> numbers(16, std::vector<long>(100, 1));
  long nothing = 0;
  Runtime runtime(cuda_machine(four_devices));
  const auto step = step_there();
  Flow flow(runtime);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    flow.submit(
        step(runtime.vector<long>("v", numbers[i].data(), 100), 2).on_device(static_cast<int>(i) % devices));
  flow.wait();
  const auto sleeps = codelet("sleeps").cpu([](InOut<long>) { std::this_thread::sleep_for(long_time); });
  const auto one = runtime.value("one", nothing);
  const auto took = processor_time_of([&] {
    flow.submit(sleeps(one));
    flow.wait();
  });
  std::cout << "idle: " << static_cast<double>(took.count()) / 1e6 << " ms of " << long_time / 1ms << '\n';
  EXPECT_LT(took, allowed);
}

// By permanent polling each of them would take as long as the kernels.
TEST(CudaIdle, CostsLittleCpuTimeWhileDevicesCompute) {
  const FakeDevices there(devices);
  std::vector<std::vector<long>> numbers(16, std::vector<long>(100, 1));
  Runtime runtime(cuda_machine(four_devices));
  const auto long_one = codelet("long").cuda([](CudaStream stream, InOut<Vector<long>> x) {
    stream.check(fake_cuda::launch(stream, "long", {{x.data(), 800, true}},
                                   [](auto) { std::this_thread::sleep_for(long_time / 16); }),
                 "the kernel");
  });
  Flow flow(runtime);
  std::vector<Handle<Vector<long>>> data;
  for (auto& one : numbers) data.push_back(runtime.vector<long>("v", one.data(), 100));
  const auto took = processor_time_of([&] {
    for (std::size_t i = 0; i < data.size(); ++i)
      flow.submit(long_one(data[i]).on_device(static_cast<int>(i) % devices));
    flow.wait();
  });
  std::cout << "busy: " << static_cast<double>(took.count()) / 1e6 << " ms of some " << long_time / 1ms
            << '\n';
  EXPECT_LT(took, sanitized ? long_time : long_time / 8);
}

namespace {

/// Number of threads that poll now. A global, since the driver's functions have no object.
struct Asking {
  std::shared_ptr<const cu::CudaDriver> real;
  std::atomic<int> now = 0, most = 0;
  std::atomic<long> again = 0;
};
Asking& asking() {
  static Asking one;
  return one;
}
thread_local bool has_asked = false;

cu::Status ask(cu::Event event) {
  const bool again = has_asked;
  if (again) {
    ++asking().again;
    const int now = ++asking().now;
    int most = asking().most;
    while (most < now && !asking().most.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(200us);  // so that other threads could start polling
  }
  const cu::Status status = asking().real->cuEventQuery(event);
  has_asked = status == cu::not_ready;
  if (again) --asking().now;
  return status;
}

}  // namespace

TEST(CudaIdle, OneThreadPollsAtATime) {
  const FakeDevices there(devices, 1, 200);
  cu::CudaDevices found = cu::find_devices();
  asking().real = found.driver;
  asking().most = 0;
  asking().again = 0;
  auto driver = std::make_shared<cu::CudaDriver>(*found.driver);
  driver->cuEventQuery = ask;
  driver->cuEventSynchronize = [](cu::Event event) {
    has_asked = false;
    return asking().real->cuEventSynchronize(event);
  };
  found.driver = driver;
  backend::Backends backends = backend::default_backends();
  for (auto& one : backends)
    if (one->kind() == "cuda") one = std::make_shared<backend::CudaBackend>([found] { return found; });
  const ProgramRun run = run_program(1, cuda_machine(four_devices), backends);
  EXPECT_EQ(run.said, "");
  EXPECT_TRUE(run.right);
  EXPECT_EQ(asking().most, 1);
  EXPECT_GT(asking().again, 10);
}

}  // namespace fairlead::tests
