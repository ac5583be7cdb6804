// The fake CUDA devices that a command selects automatically, the memory that it uses, and its message otherwise. The devices
// report the properties of an H200: the expected rate is 16.7 TFlop/s.
#include "solver/devices/gainful_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/device_list.hpp"
#include "cuda/platform.hpp"

namespace fairlead::solver {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Bytes mebibyte = Bytes{1} << 20;

bool searched = false;
backend::cu::CudaDevices cuda_there() {
  searched = true;
  return backend::cu::find_devices();
}
backend::cl::OpenclDevices nothing_of_opencl() { return {}; }
backend::cl::OpenclDevices one_of_opencl(bool is_gpu) {
  backend::cl::OpenclDevices found;
  found.devices.emplace_back().name = "Some device";
  found.devices.front().is_gpu = is_gpu;
  return found;
}
backend::cl::OpenclDevices a_gpu_of_opencl() { return one_of_opencl(true); }
backend::cl::OpenclDevices cores_by_opencl() { return one_of_opencl(false); }

/// Cholesky of n x n, where the cores do so many GFlop/s.
ProblemWork work(double n, double gflops, std::size_t element_bytes = 8) {
  return {.flops = n * n * n / 3,
          .bytes = static_cast<Bytes>(n * n / 2) * element_bytes,
          .element_bytes = element_bytes,
          .core_flops_per_second = gflops * 1e9};
}
DevicesToUse found(const ProblemWork& work, std::size_t ranks = 1) {
  searched = false;
  return devices_for(work, ranks, cuda_there, nothing_of_opencl);
}

}  // namespace

TEST(GainfulDevices, AreUsedIfFaster) {
  const tests::FakeDevices devices(2);
  const DevicesToUse use = found(work(5000, 10));  // 4 s on the cores
  EXPECT_THAT(use.line, StartsWith("cuda:0 (Fake CUDA device 0, "));
  EXPECT_THAT(use.line, HasSubstr("cuda:1 (Fake CUDA device 1, "));
  EXPECT_EQ(backend::devices_from(use.list, backend::default_backends()).size(), 2u);
}

TEST(GainfulDevices, AreNotSearchedIfTheCoresFinishBefore) {
  const tests::FakeDevices devices;
  for (const double n : {1, 200, 3000}) {
    const DevicesToUse use = found(work(n, 10));
    EXPECT_EQ(use.list, "");
    EXPECT_THAT(use.line, StartsWith("none looked for: the cores take about "));
    EXPECT_FALSE(searched) << n;
  }
}

TEST(GainfulDevices, AreNotUsedIfInitializationDominates) {
  const tests::FakeDevices devices;
  const DevicesToUse use = found(work(3250, 10));  // 1.14 s on the cores
  EXPECT_EQ(use.list, "");
  EXPECT_THAT(use.line, StartsWith("none: Fake CUDA device 0 would take about 1.0"));
}

TEST(GainfulDevices, AreNotSearchedForOperationsWithoutBodies) {
  const tests::FakeDevices devices;
  ProblemWork qr = work(50'000, 10);
  qr.only_on_cores = "QR factorization";
  EXPECT_EQ(found(qr).line, "none: QR factorization runs only on cores");
  EXPECT_FALSE(searched);
}

TEST(GainfulDevices, AreSkippedWithoutCompiledKernelsForThem) {
  const tests::FakeDevices devices;  // of compute capability 9.0
  ProblemWork qr = work(20'000, 10);
  qr.least_capability = 9;
  EXPECT_THAT(found(qr).list, StartsWith("cuda:0,memory="));
  qr.least_capability = 10;
  EXPECT_EQ(found(qr).list, "");
  EXPECT_EQ(found(qr).line,
            "none: Fake CUDA device 0 has compute capability 9.0, and Fairlead's own kernels require 10.0 or "
            "later");
}

// Such as a driver older than the compiler of the kernels.
TEST(GainfulDevices, AreSkippedIfTheirDriverRejectsTheKernels) {
  const tests::FakeDevices devices;
  ProblemWork qr = work(20'000, 10);
  qr.own_kernels = tests::image_of_kernels;
  EXPECT_THAT(found(qr).list, StartsWith("cuda:0,memory="));
  qr.own_kernels = "not what it takes";
  EXPECT_EQ(found(qr).list, "");
  EXPECT_THAT(found(qr).line, StartsWith("none: cuda:0: Fake CUDA device 0: cuModuleLoadData: "));
}

TEST(GainfulDevices, AreNotUsedForALowPartOfTheirPeak) {
  const tests::FakeDevices devices;
  ProblemWork qr = work(20'000, 10);
  EXPECT_NE(found(qr).list, "");
  qr.part_of_peak = 1e-4;
  EXPECT_EQ(found(qr).list, "");
}

// The memory of the matrix, at most the free memory less a reserve; divided among all ranks.
TEST(GainfulDevices, LeaveAReserveOfTheMemory) {
  const tests::FakeDevices devices;  // 1 GiB
  const auto memory = [](const DevicesToUse& use) {
    return backend::smallest_shared_device_memory(use.list, backend::default_backends()).value_or(0) /
           mebibyte;
  };
  EXPECT_EQ(memory(found(work(4000, 1))), 61u + 256);  // 64 MB of matrix
  EXPECT_EQ(memory(found(work(20'000, 10))), 512u);
  EXPECT_EQ(found(work(20'000, 10), 2).list, "");  // 512 MiB for each rank leave nothing
  EXPECT_THAT(found(work(20'000, 10), 2).line, HasSubstr("cuda:0: has 1.0 GiB left"));
  EXPECT_EQ(fake_cuda::bytes(0), 0u);
}

TEST(GainfulDevices, AreSkippedIfAllocationFails) {
  const tests::FakeDevices devices;
  fake_cuda::fail("cuMemAlloc_v2", 1, true);
  EXPECT_EQ(found(work(5000, 10)).list, "");
  EXPECT_THAT(found(work(5000, 10)).line, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_GT(fake_cuda::failures(), 0);
}

TEST(GainfulDevices, AreNoErrorIfMissing) {
  const tests::FakeDevices devices(0);
  EXPECT_EQ(found(work(9000, 10)).line, "none: no GPU found (libcuda.so.1 is there, but names no device)");
  EXPECT_THAT(devices_for(work(9000, 10), 1, cuda_there, a_gpu_of_opencl).line,
              HasSubstr("--devices opencl:0,memory="));
  EXPECT_THAT(devices_for(work(9000, 10), 1, cuda_there, cores_by_opencl).line,
              StartsWith("none: no GPU found ("));
}

TEST(GainfulDevices, OpenclIsRecommendedOnlyIfTheOperationHasBodiesForIt) {
  const tests::FakeDevices devices(0);
  ProblemWork qr = work(9000, 10);
  qr.without_opencl = "QR factorization";
  EXPECT_EQ(devices_for(qr, 1, cuda_there, a_gpu_of_opencl).line,
            "none: OpenCL has Some device, but QR factorization has no kernels for OpenCL");
  EXPECT_THAT(devices_for(qr, 1, cuda_there, cores_by_opencl).line, StartsWith("none: no GPU found ("));
}

// As on most machines: the loader's error about a driver that is not installed is omitted. Other errors of a driver are
// reported by their first line.
TEST(GainfulDevices, AMissingDriverIsReportedWithoutItsLibrary) {
  const auto line = [](backend::cu::CudaDevices (*find)()) {
    return devices_for(work(9000, 10), 1, find, nothing_of_opencl).line;
  };
  const std::string none = line([] {
    backend::cu::CudaDevices found;
    found.problem = "libcuda.so.1: cannot open shared object file: No such file or directory";
    return found;
  });
  EXPECT_EQ(none, "none there: no CUDA driver is installed, and OpenCL has no GPU");
  EXPECT_EQ(line([] {
              backend::cu::CudaDevices found;
              found.problem = "libcuda.so.1: wrong ELF class\nmore about it";
              return found;
            }),
            "none: no GPU found (libcuda.so.1: wrong ELF class)");
}

// 64 times slower in double precision: NVIDIA's figure for graphics cards.
TEST(GainfulDevices, AreRatedByTheirDataSheet) {
  const auto peak = [](int major, int minor, int multiprocessors, int kilohertz, std::size_t element_bytes) {
    backend::cu::CudaDeviceInfo device;
    device.major = major;
    device.minor = minor;
    device.multiprocessors = multiprocessors;
    device.clock_kilohertz = kilohertz;
    return backend::cu::peak_flops_per_second(device, element_bytes);
  };
  EXPECT_DOUBLE_EQ(peak(8, 9, 100, 2'000'000, 4), 51.2e12);
  EXPECT_DOUBLE_EQ(peak(8, 9, 100, 2'000'000, 8), 0.8e12);
  EXPECT_NEAR(peak(9, 0, 132, 1'980'000, 8), 33.5e12, 0.1e12);  // H200
  EXPECT_NEAR(peak(9, 0, 132, 1'980'000, 4), 66.9e12, 0.1e12);
}

}  // namespace fairlead::solver
