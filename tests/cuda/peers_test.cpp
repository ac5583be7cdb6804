// Copies between CUDA devices without RAM in between: they are made once, with the expected bytes; and the fallback with its
// message where they are impossible.
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/device.hpp"
#include "backend/cuda/peers.hpp"
#include "backend/device/no_peers.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"

namespace fairlead::tests {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace cu = backend::cu;

struct Crossed {
  Bytes away = 0, back = 0;
  std::uint64_t copies = 0;
  bool operator==(const Crossed&) const = default;
};
/// None: there is no such link.
std::optional<Crossed> crossed_wire(const Runtime& runtime, const std::string& wire) {
  for (const auto& link : runtime.statistics().links) {
    if (link.name != wire) continue;
    Crossed all{link.bytes_from_home(), link.bytes_to_home()};
    for (const auto* way : {&link.from_home, &link.to_home})
      for (const auto& count : *way) all.copies += count.copies;
    return all;
  }
  return {};
}

int times_called(const char* function) {
  const auto all = fake_cuda::calls();
  const auto found = all.find(function);
  return found == all.end() ? 0 : found->second;
}

constexpr long passed_elements = 1024;  // 8,192 bytes

/// Writes twice the first into the second, for CUDA devices only.
auto double_there() {
  return codelet("double there").cuda([](CudaStream stream, In<Vector<long>> x, Out<Vector<long>> y) {
    const auto bytes = static_cast<std::size_t>(passed_elements) * sizeof(long);
    stream.check(fake_cuda::launch(stream, "double", {{x.data(), bytes, false}, {y.data(), bytes, true}},
                                   [](auto at) {
                                     for (long i = 0; i < passed_elements; ++i)
                                       reinterpret_cast<long*>(at[1])[i] =
                                           2 * reinterpret_cast<const long*>(at[0])[i];
                                   }),
                 "the kernel");
  });
}
auto renew_there() {
  return codelet("renew there").cuda([](CudaStream stream, Out<Vector<long>> x) {
    stream.check(
        fake_cuda::launch(stream, "renew",
                          {{x.data(), static_cast<std::size_t>(passed_elements) * sizeof(long), true}},
                          [](auto at) {
                            for (long i = 0; i < passed_elements; ++i) reinterpret_cast<long*>(at[0])[i] = i;
                          }),
        "the kernel");
  });
}

/// x is written on the first device and changed on the second. Returns whether its value is correct.
bool pass_on(Runtime& runtime, const char* first, const char* second) {
  std::vector<long> numbers(passed_elements, 1), expected(passed_elements, 1);
  const auto x = runtime.vector<long>("x", numbers.data(), passed_elements);
  const auto step = step_there();
  {
    Flow flow(runtime);
    for (const char* name : {first, second, first}) {
      flow.submit(step(x, 3).on(runtime.memory_node(name)));
      advance(expected.data(), passed_elements, 3);
    }
    flow.wait();
  }
  return numbers == expected;
}

constexpr const char* two_devices = "cuda:0,memory=64KiB + cuda:1,memory=64KiB";

}  // namespace

// By hand: x is written on the first device and read on the second, where y is written, which a core reads. So x crosses the
// peer link once, y is copied to RAM once, and there is no other copy.
TEST(CudaPeers, CopyOnceAndNothingToRam) {
  const FakeDevices devices(2);
  Runtime runtime(cuda_machine(two_devices));
  EXPECT_THAT(backend::no_peer_reasons(front::core_of(runtime).topology()), IsEmpty());
  const int tried = times_called("cuMemcpyPeerAsync");
  EXPECT_EQ(tried, 2);  // once each way
  const auto x = runtime.vector<long>("x", passed_elements), y = runtime.vector<long>("y", passed_elements);
  const auto renew = renew_there();
  const auto twice = double_there();
  std::vector<long> seen(passed_elements);
  const auto look = codelet("look").cpu(
      [&seen](In<Vector<long>> v) { std::copy(v.data(), v.data() + passed_elements, seen.data()); });
  Flow flow(runtime);
  flow.submit(renew(x).on(runtime.memory_node("cuda 0")));
  flow.submit(twice(x, y).on(runtime.memory_node("cuda 1")));
  flow.wait();
  EXPECT_EQ(crossed_wire(runtime, "cuda 0 - cuda 1"), (Crossed{8192, 0, 1}));
  EXPECT_EQ(crossed_wire(runtime, "cuda 0"), (Crossed{0, 0, 0}));
  EXPECT_EQ(crossed_wire(runtime, "cuda 1"), (Crossed{0, 0, 0}));
  flow.submit(look(y));
  flow.wait();
  EXPECT_EQ(crossed_wire(runtime, "cuda 0 - cuda 1"), (Crossed{8192, 0, 1}));
  EXPECT_EQ(crossed_wire(runtime, "cuda 0"), (Crossed{0, 0, 0}));
  EXPECT_EQ(crossed_wire(runtime, "cuda 1"), (Crossed{0, 8192, 1}));
  EXPECT_EQ(times_called("cuMemcpyPeerAsync"), tried + 1);
  for (long i = 0; i < passed_elements; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], 2 * i);
}

// In both directions, each with a separate stream.
TEST(CudaPeers, CopyBothWays) {
  const FakeDevices devices(2);
  Runtime runtime(cuda_machine(two_devices));
  EXPECT_TRUE(pass_on(runtime, "cuda 0", "cuda 1"));
  EXPECT_EQ(crossed_wire(runtime, "cuda 0 - cuda 1"), (Crossed{8192, 8192, 2}));
  EXPECT_EQ(crossed_wire(runtime, "cuda 1"), (Crossed{0, 0, 0}));
}

// Two entries on one device of the driver copy within it, which needs no peer access.
TEST(CudaPeers, CopyWithinOneDeviceOfTheDriver) {
  const FakeDevices devices(1, 1, 60, fake_cuda::Peers::none);
  Runtime runtime(cuda_machine("cuda:0,memory=64KiB,count=2"));
  EXPECT_TRUE(pass_on(runtime, "cuda 0", "cuda 1"));
  EXPECT_EQ(crossed_wire(runtime, "cuda 0 - cuda 1"), (Crossed{8192, 8192, 2}));
  EXPECT_EQ(times_called("cuMemcpyDtoDAsync_v2"), 2);
  EXPECT_EQ(times_called("cuMemcpyPeerAsync"), 0);
  EXPECT_THAT(backend::no_peer_reasons(front::core_of(runtime).topology()), IsEmpty());
}

TEST(CudaPeers, ExcludeDevicesOfOtherKinds) {
  const FakeDevices devices(2);
  Runtime runtime(
      cuda_machine("cuda:0,memory=64KiB + emulated:memory=64KiB,peers=5GB/s + cuda:1,memory=64KiB"));
  EXPECT_EQ(crossed_wire(runtime, "cuda 0 - emulated 1"), std::nullopt);
  EXPECT_EQ(crossed_wire(runtime, "emulated 1 - cuda 2"), std::nullopt);
  EXPECT_EQ(crossed_wire(runtime, "cuda 0 - cuda 2"), (Crossed{0, 0, 0}));
}

// The values are correct, and a message states why there are no peers.
TEST(CudaPeers, CopyThroughRamWithoutPeerAccess) {
  struct Case {
    fake_cuda::Peers peers;
    const char* function;  // that fails
    int status;
    const char* said;
  };
  for (const Case& one :
       {Case{fake_cuda::Peers::none, nullptr, 0,
             "cuda 0 and cuda 1 copy through RAM: the driver gives cuda 0 no access to cuda 1"},
        Case{fake_cuda::Peers::silent, nullptr, 0,
             "cuda 0 and cuda 1 copy through RAM: the driver gives cuda 0 access to cuda 1, but bytes that "
             "are copied there do not arrive"},
        Case{fake_cuda::Peers::all, "cuCtxEnablePeerAccess", 711,
             "cuda 0 and cuda 1 copy through RAM: cuda 0 (Fake CUDA device 0): cuCtxEnablePeerAccess: "
             "CUDA_ERROR_TOO_MANY_PEERS (711): no more peers are possible"},
        Case{fake_cuda::Peers::all, "cuDeviceCanAccessPeer", 304,
             "cuda 0 and cuda 1 copy through RAM: cuda 0 (Fake CUDA device 0): cuDeviceCanAccessPeer: "
             "CUDA_ERROR_OPERATING_SYSTEM (304): OS call failed"},
        Case{fake_cuda::Peers::all, "cuMemcpyPeerAsync", 1,
             "cuda 0 and cuda 1 copy through RAM: cuda 0 (Fake CUDA device 0): cuMemcpyPeerAsync: "
             "CUDA_ERROR_INVALID_VALUE (1): invalid argument"},
        Case{fake_cuda::Peers::all, "cuDevicePrimaryCtxRetain", 2,
             "cuda 0 and cuda 1 copy through RAM: cuda 0 (Fake CUDA device 0): cuDevicePrimaryCtxRetain: "
             "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"}}) {
    const FakeDevices devices(2, 1, 60, one.peers);
    fake_cuda::fail(one.function, 1, false, one.status);
    Runtime runtime(cuda_machine(two_devices));
    EXPECT_THAT(backend::no_peer_reasons(front::core_of(runtime).topology()), ElementsAre(one.said));
    EXPECT_EQ(crossed_wire(runtime, "cuda 0 - cuda 1"), std::nullopt) << one.said;
    const int tried = times_called("cuMemcpyPeerAsync");
    EXPECT_TRUE(pass_on(runtime, "cuda 0", "cuda 1")) << one.said;
    EXPECT_EQ(times_called("cuMemcpyPeerAsync"), tried) << one.said;
    EXPECT_EQ(crossed_wire(runtime, "cuda 1"), (Crossed{8192, 8192, 2})) << one.said;
  }
}

// peers=off on one device is enough; then the driver is not queried.
TEST(CudaPeers, AreNotTriedIfOff) {
  for (const char* list : {"cuda:0,memory=64KiB,peers=off + cuda:1,memory=64KiB",
                           "cuda:0,memory=64KiB,peers=30GB/s + cuda:1,memory=64KiB,peers=off"}) {
    const FakeDevices devices(2);
    Runtime runtime(cuda_machine(list));
    EXPECT_TRUE(pass_on(runtime, "cuda 0", "cuda 1"));
    EXPECT_EQ(times_called("cuDeviceCanAccessPeer"), 0);
    EXPECT_EQ(times_called("cuMemcpyPeerAsync"), 0);
    EXPECT_THAT(backend::no_peer_reasons(front::core_of(runtime).topology()), IsEmpty());
  }
}

TEST(CudaPeers, AreSetByABandwidthOrOff) {
  const FakeDevices devices(2);
  try {
    Runtime runtime(cuda_machine("cuda:0,memory=64KiB,peers=fast + cuda:1,memory=64KiB"));
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("peers of \"cuda:0,memory=64KiB,peers=fast\" is not a bandwidth"));
  }
}

// The lower bandwidth and the larger latency determine the estimates of copies.
TEST(CudaPeers, HaveTheLowerBandwidthForEstimates) {
  const FakeDevices devices(2);
  Runtime runtime(cuda_machine(
      "cuda:0,memory=64KiB,peers=30GB/s,latency=3 + cuda:1,memory=64KiB,peers=50GB/s,latency=7"));
  const Topology& topology = front::core_of(runtime).topology();
  const LinkSpec& wire =
      topology
          .links[index(topology.link_between(runtime.memory_node("cuda 0"), runtime.memory_node("cuda 1")))];
  EXPECT_TRUE(wire.physical_links.empty());
  EXPECT_EQ(wire.bytes_per_second.out, 30e9);
  EXPECT_EQ(wire.bytes_per_second.in, 30e9);
  EXPECT_EQ(wire.latency, Duration(7000));
}

// Another runtime of the process has enabled access, and is destroyed first.
TEST(CudaPeers, ShareTheAccessWithOthersInTheProcess) {
  const FakeDevices devices(2);
  auto first = std::make_unique<Runtime>(cuda_machine(two_devices));
  Runtime second(cuda_machine(two_devices));
  EXPECT_TRUE(pass_on(*first, "cuda 0", "cuda 1"));
  first.reset();
  EXPECT_TRUE(pass_on(second, "cuda 0", "cuda 1"));
  EXPECT_EQ(crossed_wire(second, "cuda 0 - cuda 1"), (Crossed{8192, 8192, 2}));
}

namespace {

struct OpenPair {
  explicit OpenPair(Bytes bytes = 4096) {
    for (int i = 0; i < 2; ++i) {
      auto loss = std::make_shared<cu::LossState>([](const std::string&) {});
      all.push_back(std::make_unique<cu::CudaDevice>(
          found.driver, found.devices[static_cast<std::size_t>(i)],
          cu::CudaDevice::Settings{"cuda " + std::to_string(i), bytes, std::move(loss), &has_poller}));
    }
  }
  const cu::CudaDevice& operator[](std::size_t i) const { return *all[i]; }
  const cu::CudaDevices found = cu::find_devices();
  std::atomic<bool> has_poller = false;
  std::vector<std::unique_ptr<cu::CudaDevice>> all;
};

void become_lost(const cu::CudaDevice& device) {
  fake_cuda::fail("cuMemGetInfo_v2", 1, false, 719);
  EXPECT_THROW(device.query_and_throw_if_lost(), DeviceLostError);
  fake_cuda::fail(nullptr);
}

}  // namespace

// The call is made for the source device, but reports the loss of the target; the source stays available.
TEST(CudaPeers, DetermineWhichOfTheTwoIsLost) {
  for (const bool said_here_first : {true, false}) {
    const FakeDevices devices(2);
    const OpenPair pair;
    EXPECT_EQ(cu::join_peers(pair[0], pair[1]), "");
    cu::Stream stream = nullptr;
    {
      const cu::CudaDevice::Current current(pair[0]);
      stream = pair[0].make_stream();
    }
    if (said_here_first) {
      become_lost(pair[1]);
    } else {  // by other code in the process
      const cu::CudaDevice::Current current(pair[1]);
      fake_cuda::fail("cuMemGetInfo_v2", 1, false, 719);
      std::size_t free = 0, all = 0;
      EXPECT_EQ(pair[1].driver().cuMemGetInfo_v2(&free, &all), 719);
      fake_cuda::fail(nullptr);
    }
    const cu::CudaDevice::Current current(pair[0]);
    try {
      cu::copy_to_peer(pair[0], reinterpret_cast<cu::Pointer>(pair[0].at(0)), pair[1],
                       reinterpret_cast<cu::Pointer>(pair[1].at(0)), 4096, stream);
      FAIL() << "no error";
    } catch (const DeviceLostError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the device \"cuda 1\" is lost"));
    }
    EXPECT_FALSE(pair[0].lost());
    EXPECT_TRUE(pair[1].lost());
    pair[0].release(stream);
  }
}

}  // namespace fairlead::tests
