// Tasks on CUDA devices, from the codelet to the values and the bytes copied, on the fake driver: the tests declare the accesses
// of kernels, and the driver checks their order.
#include <fairlead/block.hpp>
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"
#include "sanitized.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::tests {

namespace {

using ::testing::HasSubstr;

Bytes over_wire(const Runtime& runtime, const std::string& wire, bool away_from_home) {
  for (const auto& link : runtime.statistics().links)
    if (link.name == wire) return away_from_home ? link.bytes_from_home() : link.bytes_to_home();
  ADD_FAILURE() << "no link " << wire;
  return 0;
}

std::string error_of(Flow& flow) {
  try {
    flow.wait();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const std::string& devices) {
  try {
    Runtime runtime(cuda_machine(devices));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// By hand: x is copied to the device once, and home when the wait ends. Exactly the allowed device memory is allocated.
TEST(CudaTasks, RunKernelsOnDataCopiedOnceInEachDirection) {
  const FakeDevices devices;
  std::vector<long> numbers(1000);
  for (long i = 0; i < 1000; ++i) numbers[static_cast<std::size_t>(i)] = i * i;
  {
    Runtime runtime(cuda_machine("cuda:0,memory=64KiB,streams=2"));
    EXPECT_EQ(runtime.devices(), 1);
    EXPECT_EQ(fake_cuda::bytes(0), 64u << 10);
    const auto x = runtime.vector<long>("x", numbers.data(), 1000);
    const auto step = step_there();
    Flow flow(runtime);
    flow.submit(step(x, 3));
    flow.submit(step(x, -2));
    flow.wait();
    EXPECT_EQ(over_wire(runtime, "cuda 0", true), 8000u);
    EXPECT_GE(over_wire(runtime, "cuda 0", false), 8000u);
    EXPECT_LE(over_wire(runtime, "cuda 0", false), 16000u);  // perhaps written back early, and again
    EXPECT_EQ(runtime.statistics().nodes.back().peak_bytes, 8192u);
  }
  EXPECT_EQ(fake_cuda::most_bytes(0), 64u << 10);
  EXPECT_EQ(fake_cuda::bytes(0), 0u);
  for (long i = 0; i < 1000; ++i)
    ASSERT_EQ(numbers[static_cast<std::size_t>(i)], -2 * (3 * i * i + i) + i) << i;
}

TEST(CudaTasks, AlternateWithCores) {
  const FakeDevices devices;
  std::vector<long> numbers(10, 1), expected(10, 1);
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  const auto x = runtime.vector<long>("x", numbers.data(), 10);
  const auto here = codelet("here").cpu([](InOut<Vector<long>> v) {
    for (long i = 0; i < v.size(); ++i) v(i) += 7;
  });
  const auto step = step_there();
  Flow flow(runtime);
  for (int round = 0; round < 12; ++round) {
    flow.submit(here(x));
    flow.submit(step(x, 2));
    for (std::size_t i = 0; i < 10; ++i) expected[i] = 2 * (expected[i] + 7) + static_cast<long>(i);
  }
  flow.wait();
  EXPECT_EQ(numbers, expected);
  EXPECT_EQ(over_wire(runtime, "cuda 0", true), 12 * 80u);
  EXPECT_EQ(over_wire(runtime, "cuda 0", false), 12 * 80u);
}

// One datum over three devices, and home: devices of different kinds have no link, each copy is through RAM.
TEST(CudaTasks, CopyDataToOtherDevicesThroughRam) {
  const FakeDevices devices(2);
  std::vector<long> numbers(512, 1), expected(512, 1);
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB + emulated:memory=64KiB + cuda:1,memory=8KiB"));
  EXPECT_EQ(runtime.devices(), 3);
  const auto x = runtime.vector<long>("x", numbers.data(), 512);
  const auto step = step_codelet();
  Flow flow(runtime);
  for (const char* name : {"cuda 0", "emulated 1", "cuda 2"}) {
    flow.submit(step(x, 5).on(runtime.memory_node(name)));
    for (std::size_t i = 0; i < 512; ++i) expected[i] = 5 * expected[i] + static_cast<long>(i);
  }
  flow.wait();
  for (const char* name : {"cuda 0", "emulated 1", "cuda 2"}) {
    EXPECT_EQ(over_wire(runtime, name, true), 4096u) << name;
    EXPECT_EQ(over_wire(runtime, name, false), 4096u) << name;
  }
  EXPECT_EQ(numbers, expected);
}

// Every layout that is not one block in user memory, by a body that takes CUDA's own type.
TEST(CudaTasks, CopyDataOfAllLayoutsInBothDirections) {
  const FakeDevices devices;
  std::vector<int> tile(9 * 4, -1), line(7 * 3, -1), block(4 * 5 * 3, -1);
  int single = 41;
  {
    Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
    const auto t = runtime.matrix<int>("t", tile.data(), 5, 4, 9);
    const auto v = runtime.vector<int>("v", line.data(), 7, 3);
    const auto b = runtime.block<int>("b", block.data(), {3, 2, 3}, {4, 20});
    const auto s = runtime.value("s", single);
    const auto change = codelet("change").cuda(
        [](CUstream_st* stream, InOut<Tile<int>> x, InOut<Vector<int>> y, InOut<Block<int>> z, InOut<int> w) {
          const auto all = [&](int* data, std::size_t elements) {
            fake_cuda::launch(stream, "add", {{data, elements * sizeof(int), true}}, [=](auto at) {
              int* const to = reinterpret_cast<int*>(at[0]);
              for (std::size_t i = 0; i < elements; ++i) to[i] += 1 + static_cast<int>(i);
            });
          };
          all(x.data(), 20);
          all(y.data(), 7);
          all(z.data(), 18);
          all(w.operator->(), 1);
        });
    Flow flow(runtime);
    flow.submit(change(t, v, b, s));
    flow.submit(change(t, v, b, s));
    flow.wait();
  }
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 9; ++i)
      EXPECT_EQ(tile[static_cast<std::size_t>(i + 9 * j)], i < 5 ? -1 + 2 * (1 + i + 5 * j) : -1);
  for (int i = 0; i < 21; ++i)
    EXPECT_EQ(line[static_cast<std::size_t>(i)], i % 3 == 0 ? -1 + 2 * (1 + i / 3) : -1);
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(block[static_cast<std::size_t>(i + 4 * j + 20 * k)],
                  i < 3 && j < 2 ? -1 + 2 * (1 + i + 3 * j + 6 * k) : -1);
  EXPECT_EQ(single, 43);
}

// Three tiers: data on disk are copied through RAM, which holds a part of them; RAM is registered, so that copies need no
// staging. Data of 80 MiB cross the boundaries of registered chunks.
TEST(CudaTasks, RunOnDataOnDisk) {
  const FakeDevices devices(1, 1, 0);
  constexpr long mebi = sanitized ? 1 << 17 : 1 << 20, size = 5 * mebi, many = 5;  // 40 MiB each, or 5
  std::vector<long> sums(many);
  Runtime runtime(sanitized ? cuda_machine("cuda:0,memory=12MiB", "eager", "20MiB")
                            : cuda_machine("cuda:0,memory=90MiB", "eager", "160MiB"));
  const auto fill = codelet("fill").cpu([](Out<Vector<long>> v, long by) {
    for (long i = 0; i < v.size(); ++i) v(i) = by + i;
  });
  const auto sum = codelet("sum").cpu([](In<Vector<long>> v, InOut<long> to) {
    for (long i = 0; i < v.size(); ++i) *to += v(i);
  });
  const auto step = step_there();
  Flow flow(runtime);
  std::vector<Handle<Vector<long>>> data;
  for (long i = 0; i < many; ++i) data.push_back(runtime.vector<long>("d" + std::to_string(i), size));
  for (long i = 0; i < many; ++i) flow.submit(fill(data[static_cast<std::size_t>(i)], i));
  for (long i = 0; i < many; ++i) flow.submit(step(data[static_cast<std::size_t>(i)], 2));
  for (long i = 0; i < many; ++i) {
    const auto at = static_cast<std::size_t>(i);
    flow.submit(sum(data[at], runtime.value("sum " + std::to_string(i), sums[at])));
  }
  flow.wait();
  for (long i = 0; i < many; ++i)  // 2 (x + j) + j over all j
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], size * 2 * i + 3 * (size * (size - 1) / 2)) << i;
  EXPECT_GT(over_wire(runtime, "disk", true), 0u);
}

TEST(CudaTasks, HaveScratchAWorkspaceAndObjectsKeptByTheStream) {
  const FakeDevices devices;
  struct Counted {
    explicit Counted(int& destroyed) : destroyed_(destroyed) {}
    ~Counted() { ++destroyed_; }
    int tasks = 0;

   private:
    int& destroyed_;
  };
  std::vector<long> numbers(100);
  for (std::size_t i = 0; i < 100; ++i) numbers[i] = static_cast<long>(i);
  int destroyed = 0, tasks = 0;
  {
    Runtime runtime(cuda_machine("cuda:0,memory=16KiB,workspace=6KiB"));
    const auto x = runtime.vector<long>("x", numbers.data(), 100);
    const auto reverse = codelet("reverse").cuda(
        [&destroyed, &tasks](CudaStream stream, InOut<Vector<long>> v, Scratch<long> work) {
          EXPECT_EQ(stream.device(), 0);
          EXPECT_EQ(stream.workspace_bytes(), 8192u);  // in whole pages
          tasks = ++stream.kept<Counted>([&] { return new Counted(destroyed); }).tasks;
          long* const data = v.data();
          long* const scratch = work.data();
          fake_cuda::launch(
              stream, "turn",
              {{data, 800, true}, {scratch, 800, true}, {stream.workspace(), stream.workspace_bytes(), true}},
              [](auto at) {
                long *to = reinterpret_cast<long*>(at[0]), *between = reinterpret_cast<long*>(at[1]);
                for (int i = 0; i < 100; ++i) between[i] = to[99 - i];
                for (int i = 0; i < 100; ++i) to[i] = between[i];
              });
        });
    Flow flow(runtime);
    for (int i = 0; i < 3; ++i) flow.submit(reverse(x, scratch(100)));
    flow.wait();
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(tasks, 3);
  EXPECT_EQ(destroyed, 1);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(numbers[i], static_cast<long>(99 - i));
}

// The result of a kernel is available after the body has returned; a failed check still fails the task.
TEST(CudaErrors, ComeFromChecksAfterTheDeviceFinishes) {
  const FakeDevices devices;
  std::vector<long> numbers(10, 1), others(10, 1);
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  const auto ask = codelet("ask").cuda([](CudaStream stream, In<Vector<long>> v, long wanted) {
    long* const answer = stream.answer<long>();
    fake_cuda::launch(stream, "look", {{v.data(), 80, false}, {answer, sizeof(long), true}}, [](auto at) {
      *reinterpret_cast<long*>(at[1]) = *reinterpret_cast<const long*>(at[0]);
    });
    stream.then([answer, wanted] {
      if (*answer != wanted) throw NumericalError("it is " + std::to_string(*answer));
    });
  });
  const auto step = step_there();
  Flow flow(runtime);
  const auto x = runtime.vector<long>("x", numbers.data(), 10),
             y = runtime.vector<long>("y", others.data(), 10);
  flow.submit(step(x, 5));
  flow.submit(ask(x, 5));
  flow.submit(ask(y, 2));
  EXPECT_THAT(error_of(flow), HasSubstr("it is 1"));
}

// Launched work finishes before the task's data are released.
TEST(CudaErrors, ContainTheExceptionThrownAfterALaunch) {
  const FakeDevices devices;
  std::vector<long> numbers(1000, 1), others(1000, 1);
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  const auto x = runtime.vector<long>("x", numbers.data(), 1000);
  const auto y = runtime.vector<long>("y", others.data(), 1000);
  const auto launches = codelet("launches and throws").cuda([](CudaStream stream, InOut<Vector<long>> v) {
    for (int i = 0; i < 20; ++i) step_kernel(stream, v.data(), v.size(), 1);
    throw std::runtime_error("on second thoughts");
  });
  const auto step = step_there();
  Flow flow(runtime);
  flow.submit(launches(x));
  flow.submit(step(y, 3));
  EXPECT_THAT(error_of(flow), HasSubstr("on second thoughts"));
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(others[i], 3 + static_cast<long>(i));
}

TEST(CudaErrors, ContainTheDriversErrorOfACallByTheBody) {
  const FakeDevices devices;
  long x = 1;
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB"));
  Flow flow(runtime);
  const auto refused =
      codelet("refused").cuda([](CudaStream stream, InOut<long>) { stream.check(2, "cuOfMyOwn"); });
  flow.submit(refused(runtime.value("x", x)));
  EXPECT_THAT(
      error_of(flow),
      HasSubstr("cuda 0 (Fake CUDA device 0): cuOfMyOwn: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"));
}

TEST(CudaErrors, RejectMissingDevices) {
  {
    const FakeDevices devices(2);
    EXPECT_THAT(refusal("cuda:0"), HasSubstr("\"cuda:0\" needs a memory size, as in cuda:0,memory=2GiB"));
    EXPECT_THAT(refusal("cuda:0,memroy=1MiB"),
                HasSubstr("unknown \"memroy\" in \"cuda:0,memroy=1MiB\" (did you mean memory?)"));
    EXPECT_THAT(refusal("cuda:0,memory=1MiB,streams=0"),
                HasSubstr("streams of \"cuda:0,memory=1MiB,streams=0\""));
    EXPECT_THAT(
        refusal("cuda:2,memory=1MiB"),
        HasSubstr(
            "\"cuda:2,memory=1MiB\" is not there; CUDA has 0: Fake CUDA device 0, 1: Fake CUDA device 1"));
    EXPECT_THAT(refusal("cuda:1,memory=3GiB"),
                HasSubstr("requests 3.0 GiB of Fake CUDA device 1, which has 1.0 GiB"));
    EXPECT_THAT(refusal("cuda:0,memory=1MiB,workspace=1MiB"), HasSubstr("leave nothing"));
    EXPECT_THROW(Runtime(cuda_machine("cuda:0,memory=600MiB,count=2")), SystemError);  // each alone would fit
  }
  const FakeDevices none(0);
  EXPECT_THAT(refusal("cuda:0,memory=1MiB"),
              HasSubstr("\"cuda:0,memory=1MiB\" is not there: libcuda.so.1 is there, but names no device"));
}

class CudaPrograms : public ::testing::TestWithParam<std::string> {};

/// One to four devices of one to four streams each, with memory from the footprint of the largest task upwards; sometimes two on
/// one device of the driver, sometimes not peers, sometimes with an emulated device.
std::string drawn_machine(Random& random) {
  constexpr int of_driver = 4;
  std::string machine;
  const auto also = [&](const std::string& device) { machine += (machine.empty() ? "" : " + ") + device; };
  const int devices = 1 + static_cast<int>(random.below(of_driver));
  const int first = static_cast<int>(random.below(of_driver));
  const bool twice = random.once_in(8);
  for (int i = 0; i < devices; ++i) {
    const int number = twice ? first : (first + i) % of_driver;
    const std::uint64_t streams = 1 + random.below(4);
    const std::uint64_t kilobytes = 24 + 4 * streams + (random.once_in(6) ? 1000 : 4 * random.below(8));
    also("cuda:" + std::to_string(number) + ",memory=" + std::to_string(kilobytes) +
         "KiB,streams=" + std::to_string(streams) + (random.once_in(5) ? ",peers=off" : ""));
    if (random.once_in(12)) also("emulated:memory=24KiB,copies=blocking");
  }
  return machine;
}

// Random programs on integers, so that the result is unique. The driver has no findings.
TEST_P(CudaPrograms, GiveTheValuesOfASequentialRun) {
  std::uint64_t programs = 0, operations = 0, between = 0;
  for (const std::uint64_t seed : seeds_for(GetParam(), 1, at_length() ? 400 : 80)) {
    Random random(Random::mix(seed));
    const std::string machine = drawn_machine(random);
    constexpr fake_cuda::Peers peers[] = {fake_cuda::Peers::all,     fake_cuda::Peers::all,
                                          fake_cuda::Peers::by_seed, fake_cuda::Peers::by_seed,
                                          fake_cuda::Peers::none,    fake_cuda::Peers::silent};
    const FakeDevices devices(4, seed, 60, peers[random.below(std::size(peers))]);
    const ProgramRun run =
        run_program(seed, cuda_machine(machine, GetParam(), "8MiB", 1 + static_cast<int>(seed % 2)));
    EXPECT_EQ(run.said, "") << "seed " << seed << " on " << machine;
    EXPECT_TRUE(run.right) << "seed " << seed << " on " << machine;
    ++programs;
    operations += fake_cuda::operations();
    std::map<std::string, int> calls = fake_cuda::calls();
    // Without the trial copies, one for each enabled direction.
    between +=
        static_cast<std::uint64_t>(std::max(0, calls["cuMemcpyPeerAsync"] - calls["cuCtxEnablePeerAccess"]) +
                                   calls["cuMemcpyDtoDAsync_v2"]);
  }
  std::cout << programs << " programs, " << operations << " copies and kernels, " << between
            << " of them between devices\n";
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, CudaPrograms, ::testing::ValuesIn(some_policies(3)), name_of_test);

}  // namespace fairlead::tests
