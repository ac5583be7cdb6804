// Devices lost during a program, after a number of operations or by a call of the driver. Then each datum has the value of a
// sequential run, or reading it fails with the device and the driver's error; the program continues without an error if every
// lost datum has another replica, which the driver counts; and later runs are correct.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"
#include "engine/event_log.hpp"
#include "engine/replay.hpp"
#include "sanitized.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::tests {

namespace {

using ::testing::AnyOf;
using ::testing::AnyOfArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr long size = 700;  // 2 pages
constexpr std::size_t vectors = 8;
constexpr int tasks = 50;
constexpr int launch_failed = 719, illegal_address = 700;

/// `names`: the runtime's names of its devices on each device of the driver.
struct Machine {
  const char* devices;
  std::array<std::vector<const char*>, 2> names;
  const char* others;  // the devices without the driver's first one
  const char* memory = "16MiB";
  /// Only one accelerator. Otherwise a copy from another one may be the only replica although no kernel wrote it there.
  bool only_one = false;
};
const std::array<Machine, 8>& machines_with_losses() {
  static const std::array<Machine, 8> all{{
      {"cuda:0,memory=36KiB,streams=2", {{{"cuda 0"}, {}}}, "cuda:1,memory=36KiB", "16MiB", true},
      {"cuda:0,memory=256KiB,streams=4", {{{"cuda 0"}, {}}}, "cuda:1,memory=28KiB", "16MiB", true},
      // Little RAM, so that data spill.
      {"cuda:0,memory=40KiB", {{{"cuda 0"}, {}}}, "cuda:1,memory=36KiB", "96KiB", true},
      {"cuda:0,memory=36KiB,streams=2 + cuda:1,memory=28KiB",
       {{{"cuda 0"}, {"cuda 1"}}},
       "cuda:1,memory=36KiB,streams=2"},
      {"cuda:1,memory=64KiB,streams=4 + emulated:memory=32KiB + cuda:0,memory=28KiB",
       {{{"cuda 2"}, {"cuda 0"}}},
       "emulated:memory=32KiB + cuda:1,memory=64KiB"},
      {"cuda:0,memory=40KiB,count=2", {{{"cuda 0", "cuda 1"}, {}}}, "emulated:memory=24KiB"},
      {"cuda:0,memory=1MiB,streams=3 + emulated:memory=28KiB,copies=blocking",
       {{{"cuda 0"}, {}}},
       "cuda:1,memory=1MiB"},
      {"cuda:0,memory=36KiB + cuda:1,memory=36KiB,streams=2",
       {{{"cuda 0"}, {"cuda 1"}}},
       "cuda:1,memory=36KiB",
       "96KiB"},
  }};
  return all;
}

// Bodies without the workspace, so that kernels write data only. `struck`: a kernel was not launched, since the device is lost.
// Then the task had started there, and the data that it changes count as lost.
using Struck = std::atomic<bool>;
constexpr std::size_t bytes_of_one = static_cast<std::size_t>(size) * sizeof(long);

void check(Struck& struck, const CudaStream& stream, int status) {
  if (status >= illegal_address) struck = true;
  stream.check(status, "the kernel");
}
auto change_codelet(Struck& struck) {
  return codelet("change")
      .cpu([](InOut<Vector<long>> x, long f) { advance(x.data(), size, f); })
      .cuda([&struck](CudaStream stream, InOut<Vector<long>> x, long f) {
        check(struck, stream, step_kernel(stream, x.data(), size, f));
      })
      .emulated();
}
auto blend_codelet(Struck& struck) {
  return codelet("blend")
      .cpu([](In<Vector<long>> x, In<Vector<long>> y, InOut<Vector<long>> z, long f) {
        combine(x.data(), y.data(), z.data(), size, f);
      })
      .cuda([&struck](CudaStream stream, In<Vector<long>> x, In<Vector<long>> y, InOut<Vector<long>> z,
                      long f) {
        const int status = fake_cuda::launch(stream, "blend",
                                             {{x.data(), bytes_of_one, false},
                                              {y.data(), bytes_of_one, false},
                                              {z.data(), bytes_of_one, true}},
                                             [f](auto at) {
                                               combine(reinterpret_cast<const long*>(at[0]),
                                                       reinterpret_cast<const long*>(at[1]),
                                                       reinterpret_cast<long*>(at[2]), size, f);
                                             });
        check(struck, stream, status);
      })
      .emulated();
}
auto renew_codelet(Struck& struck) {
  return codelet("renew")
      .cpu([](Out<Vector<long>> x, long f) { std::fill_n(x.data(), size, f); })
      .cuda([&struck](CudaStream stream, Out<Vector<long>> x, long f) {
        const int status = fake_cuda::launch(stream, "renew", {{x.data(), bytes_of_one, true}}, [f](auto at) {
          std::fill_n(reinterpret_cast<long*>(at[0]), size, f);
        });
        check(struck, stream, status);
      })
      .emulated();
}

/// Data of a runtime, half of them in user memory, and the values of a sequential run.
class Program {
 public:
  Program(const Config& config, std::uint64_t seed)
      : random_(seed), numbers_(vectors, std::vector<long>(size, 1)), expected_(numbers_), runtime_(config) {
    for (std::size_t i = 0; i < vectors; ++i)
      data_.push_back(i % 2 == 0 ? runtime_.vector<long>("v" + std::to_string(i), numbers_[i].data(), size)
                                 : runtime_.vector<long>("w" + std::to_string(i), size));
  }

  /// Overwrites all data, then runs random tasks. Returns the first error; empty: none.
  std::string run(int more) {
    try {
      Flow flow(runtime_);
      const auto change = change_codelet(struck_);
      const auto blend = blend_codelet(struck_);
      const auto renew = renew_codelet(struck_);
      const auto write = [&](std::size_t at) {
        const long value = static_cast<long>(random_.below(1000));
        expected_[at].assign(size, value);
        flow.submit(renew(data_[at], value));
      };
      for (std::size_t i = 0; i < vectors; ++i) write(i);
      for (int task = 0; task < more; ++task) {
        const std::size_t x = random_.below(vectors), y = random_.below(vectors), z = random_.below(vectors);
        const long f = static_cast<long>(random_.below(5)) - 2;
        if (x == z && y == z) {
          write(z);
        } else if (x == z || y == z || x == y) {
          advance(expected_[z].data(), size, f);
          flow.submit(change(data_[z], f));
        } else {
          combine(expected_[x].data(), expected_[y].data(), expected_[z].data(), size, f);
          flow.submit(blend(data_[x], data_[y], data_[z], f));
        }
        if (random_.below(20) == 0) flow.wait();
      }
      flow.wait();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  /// The errors of all inaccessible data. The values of the others must be correct.
  std::vector<std::string> refusals() {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < vectors; ++i) {
      Flow flow(runtime_);
      try {
        const auto hold = flow.acquire(read(data_[i]));
        const In<Vector<long>> there = hold.get<0>();
        EXPECT_TRUE(std::equal(there.data(), there.data() + size, expected_[i].begin())) << "datum " << i;
      } catch (const Error& error) {
        all.emplace_back(error.what());
      }
    }
    return all;
  }

  bool struck() const { return struck_; }
  bool knows_of_a_loss() const {
    return std::ranges::any_of(runtime_.statistics().nodes,
                               [](const auto& node) { return !node.lost.empty(); });
  }

 private:
  Random random_;
  Struck struck_ = false;
  std::vector<std::vector<long>> numbers_, expected_;
  Runtime runtime_;
  std::vector<Handle<Vector<long>>> data_;
};

/// Calls made while tasks run.
constexpr std::array<const char*, 12> calls_of_runs{
    "cuCtxPushCurrent_v2",  "cuEventQuery",      "cuEventRecord",        "cuEventSynchronize",
    "cuLaunchKernel",       "cuMemHostAlloc",    "cuMemFreeHost",        "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2", "cuMemcpyPeerAsync", "cuMemcpyDtoDAsync_v2", "cuCtxEnablePeerAccess"};

Config config_of(const Machine& machine, std::uint64_t seed) {
  const std::vector<std::string> policies = every_policy();
  return cuda_machine(machine.devices, policies[seed % policies.size()], machine.memory,
                      1 + static_cast<int>(seed % 2));
}

/// Half of them without peer access.
void begin_devices(std::uint64_t seed, fake_cuda::Peers peers = fake_cuda::Peers::by_seed) {
  fake_cuda::begin({.seed = seed, .devices = 2, .longest_delay_us = 20, .peers = peers});
}

/// The calls and operations of a run of this seed without a loss. The placement of tasks varies, so other runs only have about
/// this length.
struct Length {
  std::map<std::string, int> calls;
  std::uint64_t operations = 0;
};
Length length_of(const Machine& machine, std::uint64_t seed) {
  begin_devices(seed);
  {
    Program program(config_of(machine, seed), seed);
    EXPECT_EQ(program.run(tasks), "") << machine.devices;
    EXPECT_THAT(program.refusals(), IsEmpty()) << machine.devices;
  }
  const Length length{fake_cuda::calls(), fake_cuda::operations()};
  EXPECT_THAT(fake_cuda::end(), IsEmpty()) << machine.devices;
  return length;
}

/// Which of the driver's devices is lost; -1: none.
int lost_device() { return fake_cuda::is_lost(0) ? 0 : fake_cuda::is_lost(1) ? 1 : -1; }

}  // namespace

TEST(CudaLosses, KeepDataWithAnotherReplicaAndNameLostData) {
  constexpr int tasks_afterwards = 15;
  int lost = 0, errors = 0, unharmed = 0, kept = 0;
  const std::uint64_t points = at_length() ? 2000 : thread_sanitized ? 12 : sanitized ? 25 : 60;
  for (std::uint64_t point = 1; point <= points; ++point) {
    Random random(point);
    const Machine& machine = machines_with_losses()[random.below(machines_with_losses().size())];
    const int status = random.once_in(3) ? illegal_address : launch_failed;
    Length length = length_of(machine, point);
    begin_devices(point);
    std::string where = std::to_string(point) + ", on " + machine.devices + ": ";
    if (random.once_in(2)) {
      const int device = machine.names[1].empty() ? 0 : static_cast<int>(random.below(2));
      const std::uint64_t after = 1 + random.below(std::max<std::uint64_t>(1, length.operations));
      fake_cuda::lose(device, after, status);
      where += "device " + std::to_string(device) + " after " + std::to_string(after) + ": ";
    } else {
      std::vector<std::string> called;
      std::ranges::copy_if(calls_of_runs, std::back_inserter(called),
                           [&](const std::string& function) { return length.calls[function] > 0; });
      ASSERT_FALSE(called.empty()) << where;
      const std::string function = called[random.below(called.size())];
      const auto calls = static_cast<std::uint64_t>(length.calls[function]);
      const int call = 1 + static_cast<int>(random.below(calls));
      fake_cuda::fail(function.c_str(), call, false, status);
      where += function + " in call " + std::to_string(call) + ": ";
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto says_what_is_lost = [&](const std::string& text, int device) {
      std::vector<::testing::Matcher<std::string>> names;
      for (const char* name : machine.names[static_cast<std::size_t>(device)])
        names.push_back(HasSubstr("\"" + std::string(name) + "\""));
      EXPECT_THAT(text, AnyOfArray(names)) << where;
      EXPECT_THAT(text, HasSubstr(status == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal"
                                                            : "CUDA_ERROR_LAUNCH_FAILED (719): unspecified"))
          << where;
    };
    try {
      Program program(config_of(machine, point), point);
      const std::string said = program.run(tasks);
      const std::vector<std::string> refused = program.refusals();
      fake_cuda::fail(nullptr);  // no more failures, including those by copies in flight
      for (const int one : {0, 1}) fake_cuda::lose(one, std::uint64_t{1} << 40);
      const int device = lost_device();
      if (device < 0) {
        EXPECT_EQ(said, "") << where;
        EXPECT_THAT(refused, IsEmpty()) << where;
      } else {
        ++lost;
        const bool something = fake_cuda::lost_bytes(device) > 0 || program.struck();
        if (!said.empty()) {
          says_what_is_lost(said, device);
          EXPECT_THAT(said, AnyOf(HasSubstr("the task "), HasSubstr("the newest value of "))) << where;
        }
        for (const std::string& text : refused)
          if (said.empty() || text.find("a task that writes it failed") == text.npos)
            says_what_is_lost(text, device);
        EXPECT_TRUE(something || !machine.only_one || (said.empty() && refused.empty()))
            << where << "nothing was lost: " << said;
        (said.empty() ? unharmed : errors) += 1;
        kept += !something && machine.only_one;
      }
      // On the remaining devices of the same runtime, with the lost data. The loss may be detected only now.
      if (device >= 0 && !program.knows_of_a_loss())
        if (const std::string late = program.run(tasks_afterwards); !late.empty())
          says_what_is_lost(late, device);
      EXPECT_EQ(program.run(tasks_afterwards), "") << where;
      EXPECT_THAT(program.refusals(), IsEmpty()) << where;
    } catch (const Error& error) {  // lost before the runtime was constructed
      const int device = lost_device();
      ASSERT_GE(device, 0) << where << error.what();
      says_what_is_lost(error.what(), device);
    }
    fake_cuda::fail(nullptr);
    if (lost_device() == 0) {
      // It stays lost in the process; another runtime can use the other devices.
      EXPECT_THROW(Program(config_of(machine, point), point), SystemError) << where;
      Program another(cuda_machine(machine.others), point);
      EXPECT_EQ(another.run(tasks_afterwards), "") << where;
      EXPECT_THAT(another.refusals(), IsEmpty()) << where;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, longest_run) << where;
    EXPECT_THAT(fake_cuda::end(), IsEmpty()) << where;
  }
  std::cout << points << " points: " << lost << " losses, " << errors << " errors, " << unharmed
            << " runs unharmed, " << kept << " losses of no datum without another replica\n";
  EXPECT_GE(lost * 2, static_cast<int>(points));
  EXPECT_GE(errors * 5, lost);
  EXPECT_TRUE(!at_length() || kept * 200 >= lost) << kept;  // may be none for few points
}

// If the call that makes the device current reports the loss, the body has not been called, and the task runs on the core; the
// log records this.
TEST(CudaLosses, LetOtherWorkersRunATaskThatHasNotStarted) {
  const std::string path = testing::TempDir() + "lost_" + std::to_string(getpid()) + ".log";
  int unharmed = 0;
  for (int call = 4; call <= 8; ++call) {  // the first three precede the tasks
    begin_devices(static_cast<std::uint64_t>(call));
    fake_cuda::fail("cuCtxPushCurrent_v2", call, false, launch_failed);
    // All tasks are for the device: otherwise the core may run them before the device starts.
    Config config = cuda_machine("cuda:0,memory=256KiB", "owner-user");
    config.set("event-log", path);
    Runtime::Digest digest;
    {
      Struck struck = false;
      std::vector<std::vector<long>> numbers(vectors, std::vector<long>(size, 1));
      Runtime runtime(config);
      Flow flow(runtime);
      const auto change = change_codelet(struck);
      for (auto& one : numbers) {
        const auto datum = runtime.vector<long>("v", one.data(), size);
        runtime.advise(datum, 0);
        flow.submit(change(datum, 3));
      }
      try {
        flow.wait();
        for (const auto& one : numbers)
          for (long i = 0; i < size; ++i) ASSERT_EQ(one[static_cast<std::size_t>(i)], 3 + i) << call;
        unharmed += fake_cuda::is_lost(0);
      } catch (const Error& error) {
        EXPECT_GT(fake_cuda::lost_bytes(0), 0u) << call << ": " << error.what();
      }
      digest = runtime.command_digest();
    }
    EXPECT_THAT(fake_cuda::end(), IsEmpty()) << call;
    const engine::LogFile log = engine::EventLog::read(path);
    std::filesystem::remove(path);
    EXPECT_EQ(engine::replay(log.head, schedule::make_policy(log.head.policy), log.words).digest,
              digest.value)
        << call;
  }
  EXPECT_GT(unharmed, 0);  // at least if no operation had been submitted
}

}  // namespace fairlead::tests
