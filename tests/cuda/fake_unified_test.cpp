// Functions of the fake driver that only benchmarks call: managed memory, accessible to cores and devices at the same
// addresses, and graphs of kernels. The driver reports their invalid use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "base/shared_library.hpp"
#include "fake_cuda/fake_cuda.hpp"

namespace fairlead::tests {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace cu = backend::cu;

struct Graph;
struct Node;
struct ReadyGraph;
struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v1
  cu::Function function = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1}, threads{1, 1, 1};
  unsigned shared_bytes = 0;
  void **arguments = nullptr, **more = nullptr;
};

class FakeUnified : public testing::Test {
 protected:
  FakeUnified() {
    fake_cuda::begin({.seed = 3, .memory_bytes = 1 << 20, .longest_delay_us = 100});
    driver = cu::CudaDriver::load();
    EXPECT_EQ(driver->cuInit(0), cu::success);
    EXPECT_EQ(driver->cuDevicePrimaryCtxRetain(&context, 0), cu::success);
    EXPECT_EQ(driver->cuCtxPushCurrent_v2(context), cu::success);
    EXPECT_EQ(driver->cuStreamCreate(&stream, cu::stream_non_blocking), cu::success);
  }
  std::vector<std::string> end() {
    driver->cuStreamDestroy_v2(stream);
    driver->cuCtxPopCurrent_v2(&context);
    driver->cuDevicePrimaryCtxRelease_v2(0);
    return fake_cuda::end();
  }
  template <class Function>
  static Function* function(const char* name) {
    return SharedLibrary::open("libcuda.so.1").require<Function>(name);
  }
  cu::Pointer managed(std::size_t bytes) {
    cu::Pointer at = 0;
    EXPECT_EQ((function<cu::Status(cu::Pointer*, std::size_t, unsigned)>("cuMemAllocManaged")(&at, bytes, 1)),
              cu::success);
    return at;
  }

  std::shared_ptr<const cu::CudaDriver> driver;
  cu::Context context = nullptr;
  cu::Stream stream = nullptr;
};

}  // namespace

TEST_F(FakeUnified, CoresAndKernelsAccessManagedMemoryAtTheSameAddress) {
  const cu::Pointer at = managed(sizeof(long));
  auto* const number = reinterpret_cast<long*>(at);
  *number = 20;
  EXPECT_EQ((function<cu::Status(cu::Pointer, std::size_t, int, cu::Device)>("cuMemAdvise")(at, sizeof(long),
                                                                                            3, 0)),
            cu::success);
  EXPECT_EQ((function<cu::Status(cu::Pointer, std::size_t, cu::Device, cu::Stream)>("cuMemPrefetchAsync")(
                at, sizeof(long), 0, stream)),
            cu::success);
  fake_cuda::launch(stream, "add", {{number, sizeof(long), true}},
                    [](auto places) { *reinterpret_cast<long*>(places[0]) += 3; });
  // A device copies from there into its own memory.
  cu::Pointer own = 0;
  EXPECT_EQ(driver->cuMemAlloc_v2(&own, sizeof(long)), cu::success);
  EXPECT_EQ(driver->cuMemcpyDtoDAsync_v2(own, at, sizeof(long), stream), cu::success);
  EXPECT_EQ(driver->cuStreamSynchronize(stream), cu::success);
  EXPECT_EQ(*number, 23);
  *number = 0;
  EXPECT_EQ(driver->cuMemcpyDtoHAsync_v2(number, own, sizeof(long), stream), cu::success);
  EXPECT_EQ(driver->cuStreamSynchronize(stream), cu::success);
  EXPECT_EQ(*number, 23);
  EXPECT_EQ(driver->cuMemFree_v2(own), cu::success);
  EXPECT_NE(driver->cuMemFreeHost(number), cu::success);  // nor was it allocated as host memory
  EXPECT_EQ(driver->cuMemFree_v2(at), cu::success);
  EXPECT_THAT(end(), IsEmpty());
}

TEST_F(FakeUnified, ReportsExcessAndLeakedManagedMemory) {
  managed(2 << 20);
  EXPECT_THAT(end(),
              ElementsAre("more managed memory is taken than the device has free", "RAM was not given back"));
}

TEST_F(FakeUnified, ReportsAdviceOnUnmanagedMemory) {
  long plain = 0;
  EXPECT_NE((function<cu::Status(cu::Pointer, std::size_t, int, cu::Device)>("cuMemAdvise")(
                reinterpret_cast<cu::Pointer>(&plain), sizeof plain, 3, 0)),
            cu::success);
  EXPECT_THAT(end(), ElementsAre("cuMemAdvise gets memory that is not managed"));
}

TEST_F(FakeUnified, RunsAGraphOnEachLaunch) {
  cu::Module module = nullptr;
  cu::Function kernel = nullptr;
  EXPECT_EQ(driver->cuModuleLoadData(&module, ".visible .entry nothing() { ret; }"), cu::success);
  EXPECT_EQ(driver->cuModuleGetFunction(&kernel, module, "nothing"), cu::success);
  Graph* graph = nullptr;
  ReadyGraph* ready = nullptr;
  EXPECT_EQ((function<cu::Status(Graph**, unsigned)>("cuGraphCreate")(&graph, 0)), cu::success);
  const auto add = function<cu::Status(Node**, Graph*, Node* const*, std::size_t, const KernelNode*)>(
      "cuGraphAddKernelNode");
  const KernelNode node{.function = kernel};
  Node *first = nullptr, *second = nullptr;
  EXPECT_EQ(add(&first, graph, nullptr, 0, &node), cu::success);
  EXPECT_EQ(add(&second, graph, &first, 1, &node), cu::success);
  Node* const stranger = reinterpret_cast<Node*>(&graph);
  EXPECT_NE(add(&second, graph, &stranger, 1, &node), cu::success);
  EXPECT_EQ((function<cu::Status(ReadyGraph**, Graph*, unsigned long long)>("cuGraphInstantiateWithFlags")(
                &ready, graph, 0)),
            cu::success);
  const auto launch = function<cu::Status(ReadyGraph*, cu::Stream)>("cuGraphLaunch");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(launch(ready, stream), cu::success);
  EXPECT_EQ(driver->cuStreamSynchronize(stream), cu::success);
  EXPECT_EQ(fake_cuda::operations(), 6u);
  EXPECT_EQ((function<cu::Status(Graph*)>("cuGraphDestroy")(graph)), cu::success);
  EXPECT_EQ(driver->cuModuleUnload(module), cu::success);
  EXPECT_THAT(end(), ElementsAre("a graph was not given back"));  // the instantiated one
}

}  // namespace fairlead::tests
