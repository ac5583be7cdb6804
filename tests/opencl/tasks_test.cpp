// Tasks on OpenCL devices, from the codelet to the values and the bytes copied: on an installed platform, here PoCL, whose
// devices are the cores.
#include <fairlead/block.hpp>
#include <fairlead/fairlead.hpp>
#include <fairlead/opencl.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "opencl/platform.hpp"
#include "schedule/policies.hpp"
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

/// x(i) := factor x(i) + i, for long numbers.
const OpenclKernel& step_kernel() {
  static const OpenclKernel kernel("advance", R"(
    kernel void advance(global long* x, ulong at, long factor) {
      const size_t i = get_global_id(0);
      x[at + i] = factor * x[at + i] + i;
    })");
  return kernel;
}
auto step_codelet() {
  return codelet("step")
      .cpu([](InOut<Vector<long>> x, long factor) {
        for (long i = 0; i < x.size(); ++i) x(i) = factor * x(i) + i;
      })
      .opencl([](OpenclQueue queue, InOut<Vector<long>> x, long factor) {
        const auto [memory, offset] = queue.buffer(x);
        queue.run(step_kernel(), {x.size()}, memory, offset, factor);
      })
      .emulated();
}
/// The same body for OpenCL devices only.
auto step_there() {
  return codelet("step there").opencl([](OpenclQueue queue, InOut<Vector<long>> x, long factor) {
    const auto [memory, offset] = queue.buffer(x);
    queue.run(step_kernel(), {x.size()}, memory, offset, factor);
  });
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
    Runtime runtime(opencl_machine(devices));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// By hand: x is copied to the device once, and home when the wait ends.
TEST(OpenclTasks, RunKernelsOnDataCopiedOnceInEachDirection) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  std::vector<long> numbers(1000);
  for (long i = 0; i < 1000; ++i) numbers[static_cast<std::size_t>(i)] = i * i;
  {
    Runtime runtime(opencl_machine("opencl:0,memory=64KiB"));
    EXPECT_EQ(runtime.devices(), 1);
    const auto x = runtime.vector<long>("x", numbers.data(), 1000);
    const auto step = step_there();
    Flow flow(runtime);
    flow.submit(step(x, 3));
    flow.submit(step(x, -2));
    flow.wait();
    EXPECT_EQ(over_wire(runtime, "opencl 0", true), 8000u);
    EXPECT_GE(over_wire(runtime, "opencl 0", false), 8000u);
    EXPECT_LE(over_wire(runtime, "opencl 0", false), 16000u);  // perhaps written back early, and again
    EXPECT_EQ(runtime.statistics().nodes.back().peak_bytes, 8192u);
  }
  for (long i = 0; i < 1000; ++i)
    ASSERT_EQ(numbers[static_cast<std::size_t>(i)], -2 * (3 * i * i + i) + i) << i;
}

TEST(OpenclTasks, AlternateWithCores) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  std::vector<long> numbers(10, 1), expected(10, 1);
  Runtime runtime(opencl_machine("opencl:0,memory=64KiB"));
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
  EXPECT_EQ(over_wire(runtime, "opencl 0", true), 12 * 80u);
  EXPECT_EQ(over_wire(runtime, "opencl 0", false), 12 * 80u);
}

// One datum over three devices, and home: they have no link, each copy is through RAM.
TEST(OpenclTasks, CopyDataToOtherDevicesThroughRam) {
  FAIRLEAD_NEEDS_OPENCL(2u);
  std::vector<long> numbers(512, 1), expected(512, 1);
  Runtime runtime(opencl_machine("opencl:0,memory=64KiB + emulated:memory=64KiB + opencl:1,memory=8KiB"));
  EXPECT_EQ(runtime.devices(), 3);
  const auto x = runtime.vector<long>("x", numbers.data(), 512);
  const auto step = step_codelet();
  Flow flow(runtime);
  for (const char* name : {"opencl 0", "emulated 1", "opencl 2"}) {
    flow.submit(step(x, 5).on(runtime.memory_node(name)));
    for (std::size_t i = 0; i < 512; ++i) expected[i] = 5 * expected[i] + static_cast<long>(i);
  }
  flow.wait();
  for (const char* name : {"opencl 0", "emulated 1", "opencl 2"}) {
    EXPECT_EQ(over_wire(runtime, name, true), 4096u) << name;
    EXPECT_EQ(over_wire(runtime, name, false), 4096u) << name;
  }
  EXPECT_EQ(numbers, expected);
}

// Every layout that is not one block in user memory, and one that functions pack.
TEST(OpenclTasks, CopyDataOfAllLayoutsInBothDirections) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  const OpenclKernel add("add", R"(
    kernel void add(global int* x, ulong at) { x[at + get_global_id(0)] += 1 + (int)get_global_id(0); })");
  std::vector<int> tile(9 * 4, -1), line(7 * 3, -1), block(4 * 5 * 3, -1);
  int single = 41;
  {
    Runtime runtime(opencl_machine("opencl:0,memory=64KiB"));
    const auto t = runtime.matrix<int>("t", tile.data(), 5, 4, 9);
    const auto v = runtime.vector<int>("v", line.data(), 7, 3);
    const auto b = runtime.block<int>("b", block.data(), {3, 2, 3}, {4, 20});
    const auto s = runtime.value("s", single);
    const auto change =
        codelet("change").opencl([add](OpenclQueue queue, InOut<Tile<int>> x, InOut<Vector<int>> y,
                                       InOut<Block<int>> z, InOut<int> w) {
          const auto all = [&](const auto& parameter, int elements) {
            const auto [memory, offset] = queue.buffer(parameter);
            queue.run(add, {elements}, memory, offset);
          };
          all(x, 20);
          all(y, 7);
          all(z, 18);
          all(w, 1);
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

// Scratch is on the device as well, and counts as its memory.
TEST(OpenclTasks, HaveScratchOnTheDevice) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  const OpenclKernel turn("turn", R"(
    kernel void keep(global const long* x, ulong at, global long* work, ulong work_at) {
      work[work_at + get_global_id(0)] = x[at + get_global_id(0)];
    }
    kernel void turn(global long* x, ulong at, global const long* work, ulong work_at, ulong size) {
      x[at + get_global_id(0)] = work[work_at + size - 1 - get_global_id(0)];
    })");
  const OpenclKernel keep("keep", turn.text().source);
  std::vector<long> numbers(100);
  for (std::size_t i = 0; i < 100; ++i) numbers[i] = static_cast<long>(i);
  Runtime runtime(opencl_machine("opencl:0,memory=8KiB"));
  const auto x = runtime.vector<long>("x", numbers.data(), 100);
  const auto reverse =
      codelet("reverse").opencl([turn, keep](OpenclQueue queue, InOut<Vector<long>> v, Scratch<long> work) {
        const auto [memory, offset] = queue.buffer(v);
        const auto [work_memory, work_offset] = queue.buffer(work);
        queue.run(keep, {v.size()}, memory, offset, work_memory, work_offset);
        queue.run(turn, OpenclRange(v.size()).in_groups_of(10), memory, offset, work_memory, work_offset,
                  static_cast<std::uint64_t>(v.size()));
      });
  Flow flow(runtime);
  flow.submit(reverse(x, scratch(100)));
  flow.wait();
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(numbers[i], static_cast<long>(99 - i));
  EXPECT_EQ(runtime.statistics().nodes.back().peak_bytes, 8192u);
}

// Three tiers: data on disk are copied through RAM, which holds a part of them.
TEST(OpenclTasks, RunOnDataOnDisk) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  constexpr long size = 8192, many = 40;  // 64 KiB each
  std::vector<long> sums(many);
  Runtime runtime(opencl_machine("opencl:0,memory=256KiB", "eager", "1MiB"));
  const auto fill = codelet("fill").cpu([](Out<Vector<long>> v, long by) {
    for (long i = 0; i < v.size(); ++i) v(i) = by;
  });
  const auto sum = codelet("sum").cpu([](In<Vector<long>> v, InOut<long> to) {
    for (long i = 0; i < v.size(); ++i) *to += v(i);
  });
  const auto step = step_there();
  Flow flow(runtime);
  std::vector<Handle<Vector<long>>> data;
  for (long i = 0; i < many; ++i) data.push_back(runtime.vector<long>("d" + std::to_string(i), size));
  for (long i = 0; i < many; ++i) flow.submit(fill(data[static_cast<std::size_t>(i)], i));
  for (int round = 0; round < 2; ++round)
    for (long i = 0; i < many; ++i) flow.submit(step(data[static_cast<std::size_t>(i)], 2));
  for (long i = 0; i < many; ++i) {
    const auto at = static_cast<std::size_t>(i);
    flow.submit(sum(data[at], runtime.value("sum " + std::to_string(i), sums[at])));
  }
  flow.wait();
  for (long i = 0; i < many; ++i)  // 2 (2 x + j) + j over all j
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], size * 4 * i + 3 * (size * (size - 1) / 2)) << i;
  EXPECT_GT(over_wire(runtime, "disk", true), 0u);
}

// Several queues of one device, and the same device twice: only their memory distinguishes them.
TEST(OpenclTasks, RunOnSeveralQueuesAtOnce) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  std::vector<std::vector<long>> numbers(30, std::vector<long>(64, 1));
  Runtime runtime(opencl_machine("opencl:0,memory=16KiB,queues=3 + opencl:device=0,memory=12KiB,count=2"));
  EXPECT_EQ(runtime.devices(), 3);
  const auto step = step_there();
  Flow flow(runtime);
  std::vector<Handle<Vector<long>>> data;
  for (auto& one : numbers) data.push_back(runtime.vector<long>("x", one.data(), 64));
  for (int round = 0; round < 5; ++round)
    for (const auto& one : data) flow.submit(step(one, 2));
  flow.wait();
  for (const auto& one : numbers)
    for (long i = 0; i < 64; ++i) ASSERT_EQ(one[static_cast<std::size_t>(i)], 32 + 31 * i);
}

TEST(OpenclErrors, ContainTheCompilersMessage) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  long x = 1, y = 1;
  Runtime runtime(opencl_machine("opencl:0,memory=64KiB"));
  const auto datum = runtime.value("x", x), other = runtime.value("y", y);
  const OpenclKernel wrong("wrong", "kernel void wrong(global long* x) { x[0] = no_such_name; }");
  const auto fails = codelet("fails").opencl(
      [wrong](OpenclQueue queue, InOut<long> v) { queue.run(wrong, {1}, queue.buffer(v).memory); });
  const auto fine = codelet("fine").cpu([](InOut<long> v) { ++*v; });
  Flow flow(runtime);
  flow.submit(fails(datum));
  flow.submit(fine(other));
  const std::string text = error_of(flow);
  EXPECT_THAT(text, HasSubstr("fails"));
  EXPECT_THAT(text, HasSubstr("opencl 0 ("));
  EXPECT_THAT(text, HasSubstr("compiling the kernel \"wrong\": CL_BUILD_PROGRAM_FAILURE (-11)"));
  EXPECT_THAT(text, HasSubstr("no_such_name"));
  EXPECT_EQ(x, 1);
  EXPECT_EQ(y, 2);  // other tasks continue
}

TEST(OpenclErrors, NameTheRejectedKernelAndTheReason) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  long x = 1;
  Runtime runtime(opencl_machine("opencl:0,memory=64KiB"));
  const auto error_of_body = [&](auto body) {
    Flow flow(runtime);
    flow.submit(
        codelet("refused").opencl(body)(runtime.vector<long>("x", &x, 1)));  // otherwise it is poisoned
    return error_of(flow);
  };
  using X = InOut<Vector<long>>;
  EXPECT_THAT(error_of_body([](OpenclQueue queue, X) {
                queue.run(OpenclKernel("absent", step_kernel().text().source), {1});
              }),
              HasSubstr("the kernel \"absent\": CL_INVALID_KERNEL_NAME (-46)"));
  EXPECT_THAT(error_of_body([](OpenclQueue queue, X) { queue.run(step_kernel(), {1}, 1, 2, 3, 4); }),
              HasSubstr("argument 0, counted from 0, of the kernel \"advance\""));
  EXPECT_THAT(error_of_body([](OpenclQueue queue, X v) {
                queue.run(step_kernel(), OpenclRange(10).in_groups_of(3), queue.buffer(v).memory,
                          queue.buffer(v).offset, 1L);
              }),
              HasSubstr("launching the kernel \"advance\": CL_INVALID_WORK_GROUP_SIZE (-54)"));
  EXPECT_THAT(error_of_body([](OpenclQueue queue, X) { queue.check(-5, "clOfMyOwn"); }),
              HasSubstr("clOfMyOwn: CL_OUT_OF_RESOURCES (-5)"));
  std::vector<long> not_there(1);
  EXPECT_THAT(error_of_body([&](OpenclQueue queue, X) { queue.buffer(not_there); }),
              HasSubstr("an address outside of its memory"));
}

// Launched work finishes before the task's data are released.
TEST(OpenclErrors, ContainTheExceptionThrownAfterALaunch) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  std::vector<long> numbers(1000, 1), others(1000, 1);
  Runtime runtime(opencl_machine("opencl:0,memory=64KiB"));
  const auto x = runtime.vector<long>("x", numbers.data(), 1000);
  const auto y = runtime.vector<long>("y", others.data(), 1000);
  const auto launches = codelet("launches and throws").opencl([](OpenclQueue queue, InOut<Vector<long>> v) {
    const auto [memory, offset] = queue.buffer(v);
    for (int i = 0; i < 20; ++i) queue.run(step_kernel(), {v.size()}, memory, offset, 1L);
    throw std::runtime_error("on second thoughts");
  });
  const auto step = step_there();
  Flow flow(runtime);
  flow.submit(launches(x));
  flow.submit(step(y, 3));
  EXPECT_THAT(error_of(flow), HasSubstr("on second thoughts"));
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(others[i], 3 + static_cast<long>(i));
}

TEST(OpenclErrors, RejectMissingDevices) {
  const auto& found = opencl_devices();
  EXPECT_THAT(refusal("opencl:0"),
              HasSubstr("\"opencl:0\" needs a memory size, as in opencl:0,memory=256MiB"));
  EXPECT_THAT(refusal("opencl:0,memroy=1MiB"),
              HasSubstr("unknown \"memroy\" in \"opencl:0,memroy=1MiB\" (did you mean memory?)"));
  EXPECT_THAT(refusal("opencl:0,memory=1MiB,queues=0"),
              HasSubstr("queues of \"opencl:0,memory=1MiB,queues=0\""));
  EXPECT_THAT(refusal("emulated:0,memory=1MiB"), HasSubstr("unknown \"0\""));
  EXPECT_THAT(refusal("opencl:99,memory=1MiB"), HasSubstr("\"opencl:99,memory=1MiB\" is not there"));
  if (found.devices.empty()) {
    EXPECT_FALSE(found.problem.empty());
    EXPECT_THAT(refusal("opencl:0,memory=1MiB"), HasSubstr(found.problem));
    return;
  }
  EXPECT_THAT(refusal("opencl:99,memory=1MiB"), HasSubstr("0: " + found.devices[0].name));
  EXPECT_THAT(refusal("opencl:0,memory=1000TB"), HasSubstr("requests"));
  EXPECT_THAT(refusal("opencl:0,memory=1MiB,workspace=1MiB"), HasSubstr("leave nothing"));
}

TEST(OpenclErrors, RejectTasksThatFitNowhere) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  std::vector<long> numbers(1025, 1);
  Runtime runtime(opencl_machine("opencl:0,memory=8KiB"));
  const auto x = runtime.vector<long>("x", numbers.data(), 1025);
  const auto step = step_there();
  Flow flow(runtime);
  try {
    flow.submit(step(x, 1));
    FAIL() << "no error";
  } catch (const FootprintError& error) {
    EXPECT_THAT(error.what(), HasSubstr("opencl 0"));
  }
}

class OpenclPrograms : public ::testing::TestWithParam<std::string> {};

// Random programs on integers, so that the result is unique; with device memory from the footprint of the largest task
// upwards, alone, twice, and with cores and an emulated device.
TEST_P(OpenclPrograms, GiveTheValuesOfASequentialRun) {
  FAIRLEAD_NEEDS_OPENCL(2u);
  const OpenclKernel mix_kernel("combine", R"(
    kernel void combine(global const long* x, ulong x_at, global const long* y, ulong y_at, global long* z, ulong z_at,
                    long f) {
      const size_t i = get_global_id(0);
      z[z_at + i] = (f * z[z_at + i] + 3 * x[x_at + i] - y[y_at + i]) % 1000003;
    })");
  const auto mix = codelet("mix")
                       .cpu([](In<Vector<long>> x, In<Vector<long>> y, InOut<Vector<long>> z, long f) {
                         for (long i = 0; i < z.size(); ++i) z(i) = (f * z(i) + 3 * x(i) - y(i)) % 1000003;
                       })
                       .opencl([mix_kernel](OpenclQueue queue, In<Vector<long>> x, In<Vector<long>> y,
                                            InOut<Vector<long>> z, long f) {
                         const auto [xm, xa] = queue.buffer(x);
                         const auto [ym, ya] = queue.buffer(y);
                         const auto [zm, za] = queue.buffer(z);
                         queue.run(mix_kernel, {z.size()}, xm, xa, ym, ya, zm, za, f);
                       })
                       .emulated();
  const auto step = step_codelet();
  constexpr long size = 700, vectors = 9;  // 2 pages each
  const std::array<const char*, 6> machines{
      "opencl:0,memory=24KiB",
      "opencl:0,memory=24KiB + opencl:1,memory=36KiB",
      "opencl:0,memory=40KiB,queues=2",
      "opencl:0,memory=24KiB + emulated:memory=24KiB,copies=blocking",
      "opencl:1,memory=48KiB + emulated:memory=32KiB + opencl:0,memory=28KiB",
      "opencl:0,memory=1MiB"};
  for (const std::uint64_t seed : seeds_for(GetParam(), 1, 4)) {
    Random random(seed);
    std::vector<std::vector<long>> numbers(vectors, std::vector<long>(size)), expected;
    for (auto& one : numbers)
      for (long& number : one) number = static_cast<long>(random.below(1000));
    expected = numbers;
    const char* const machine = machines[random.below(machines.size())];
    {
      Runtime runtime(opencl_machine(machine, GetParam(), "8MiB", 1 + static_cast<int>(random.below(2))));
      std::vector<Handle<Vector<long>>> data;
      for (auto& one : numbers) data.push_back(runtime.vector<long>("v", one.data(), size));
      Flow flow(runtime);
      for (int task = 0; task < 60; ++task) {
        const std::size_t x = random.below(vectors), y = random.below(vectors), z = random.below(vectors);
        const long f = static_cast<long>(random.below(5)) - 2;
        if (x == z || y == z || x == y) {
          flow.submit(step(data[z], f));
          for (std::size_t i = 0; i < size; ++i) expected[z][i] = f * expected[z][i] + static_cast<long>(i);
        } else {
          flow.submit(mix(data[x], data[y], data[z], f));
          for (std::size_t i = 0; i < size; ++i)
            expected[z][i] = (f * expected[z][i] + 3 * expected[x][i] - expected[y][i]) % 1000003;
        }
        if (random.below(20) == 0) flow.wait();
      }
      flow.wait();
    }
    EXPECT_TRUE(numbers == expected) << "seed " << seed << " on " << machine;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, OpenclPrograms, ::testing::ValuesIn(every_policy()), name_of_test);

}  // namespace fairlead::tests
