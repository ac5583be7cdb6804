// Fairlead's own kernels in OpenCL C, alone and by one thread, compared with plain loops: multiples of blocks and panels and
// other sizes, with gaps between columns. They also run on a device simulator that detects races and accesses outside of buffers
// (CMakeLists.txt).
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/opencl/opencl_blas.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "backend/opencl/processor.hpp"
#include "base/random.hpp"
#include "opencl/platform.hpp"

namespace fairlead::tests {

namespace {

namespace cl = backend::cl;
using linalg::OpenclMatrix;

constexpr Bytes half = 64 << 10, memory = 2 * half;

/// A device with two matrices in its memory, and its kernels.
class Device {
 public:
  using Act = std::function<void(const OpenclQueue&)>;
  Device() { std::cout << "on " << opencl_devices().devices.front().name << '\n'; }
  void run(const Act& act) {
    Implementation body;
    body.run = [](const void* what, TaskContext& context) {
      (*static_cast<const Act*>(what))(OpenclQueue(context));
    };
    body.body = std::make_shared<const Act>(act);
    TaskContext context;
    ASSERT_TRUE(processor_.run(body, context));
  }
  template <class T>
  OpenclMatrix put(Bytes at, const std::vector<T>& numbers, std::size_t ld) {
    device_.check(device_.driver().clEnqueueWriteBuffer(processor_.queue(), device_.at(0).memory, 1, at,
                                                        numbers.size() * sizeof(T), numbers.data(), 0,
                                                        nullptr, nullptr),
                  "clEnqueueWriteBuffer");
    return {{device_.at(0).memory, at / sizeof(T)}, ld};
  }
  template <class T>
  std::vector<T> get(Bytes at, std::size_t count) {
    std::vector<T> numbers(count);
    device_.check(
        device_.driver().clEnqueueReadBuffer(processor_.queue(), device_.at(0).memory, 1, at,
                                             count * sizeof(T), numbers.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
    return numbers;
  }

 private:
  cl::OpenclDevice device_{opencl_devices().driver, opencl_devices().devices.front(),
                           cl::OpenclDevice::Settings{"opencl 0", memory, std::uintptr_t{1} << 40}};
  cl::Programs programs_{device_};
  cl::OpenclProcessor processor_{device_, programs_, 0};
};

template <class T>
std::vector<T> numbers_of(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> numbers(count);
  for (T& number : numbers) number = static_cast<T>(random.unit()) - T{0.5};
  return numbers;
}

template <class T>
class OpenclKernels : public ::testing::Test {};
using KernelPrecisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(OpenclKernels, KernelPrecisions);

template <class T>
double allowed(std::size_t terms) {
  return static_cast<double>(terms + 1) * std::numeric_limits<T>::epsilon();
}

}  // namespace

TYPED_TEST(OpenclKernels, SubtractProductsFromATriangle) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  using T = TypeParam;
  Device device;
  const linalg::OpenclBlas blas;
  for (const auto& size : {std::pair<std::size_t, std::size_t>{1, 1}, {8, 8}, {9, 7}, {16, 24}, {21, 13}}) {
    const std::size_t n = size.first, k = size.second;
    const std::size_t ld_a = n + 3, ld_c = n + 1;
    const std::vector<T> a = numbers_of<T>(ld_a * k, n), before = numbers_of<T>(ld_c * n, k + 100);
    const OpenclMatrix left = device.put(0, a, ld_a), result = device.put(half, before, ld_c);
    device.run([&](const OpenclQueue& queue) { blas.syrk_lower<T>(queue, n, k, left, result); });
    const std::vector<T> after = device.get<T>(half, before.size());
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < ld_c; ++i) {
        double expected = static_cast<double>(before[i + j * ld_c]);
        if (i < n && i >= j)
          for (std::size_t p = 0; p < k; ++p)
            expected -= static_cast<double>(a[i + p * ld_a]) * static_cast<double>(a[j + p * ld_a]);
        EXPECT_NEAR(static_cast<double>(after[i + j * ld_c]), expected, i < n && i >= j ? allowed<T>(k) : 0)
            << n << " x " << k << ": " << i << ", " << j;
      }
  }
}

// Op(T) X = B or X op(T) = B: the solution times op(T) is B.
TYPED_TEST(OpenclKernels, SolveWithTriangles) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  using T = TypeParam;
  using namespace linalg;
  Device device;
  const OpenclBlas blas;
  for (const std::size_t order : {1, 7, 32})
    for (const std::size_t others : {1, 10})
      for (const Side side : {Side::left, Side::right})
        for (const bool lower : {true, false})
          for (const bool unit : {true, false}) {
            // Forwards: lower from the left as it is, from the right as its transpose; upper the other way round.
            const Transpose op = lower == (side == Side::left) ? Transpose::no : Transpose::yes;
            const TriangularSolve how{.side = side,
                                      .triangle = lower ? Triangle::lower : Triangle::upper,
                                      .op = op,
                                      .diagonal = unit ? Diagonal::unit : Diagonal::general};
            const bool right = side == Side::right;
            const std::size_t m = right ? others : order, n = right ? order : others, ld_t = order + 2,
                              ld = m + 1;
            std::vector<T> t = numbers_of<T>(ld_t * order, order);
            for (std::size_t i = 0; i < order; ++i) t[i + i * ld_t] += static_cast<T>(order);
            const std::vector<T> b = numbers_of<T>(ld * n, others + 7);
            const OpenclMatrix triangle = device.put(0, t, ld_t), unknown = device.put(half, b, ld);
            device.run([&](const OpenclQueue& queue) { blas.solve<T>(queue, how, m, n, triangle, unknown); });
            const std::vector<T> x = device.get<T>(half, b.size());
            const auto of_t = [&](std::size_t i, std::size_t j) {
              if (op == Transpose::yes) std::swap(i, j);
              if (i == j && unit) return 1.0;
              return lower ? (i >= j ? static_cast<double>(t[i + j * ld_t]) : 0.0)
                           : (i <= j ? static_cast<double>(t[i + j * ld_t]) : 0.0);
            };
            for (std::size_t j = 0; j < n; ++j)
              for (std::size_t i = 0; i < m; ++i) {
                double product = 0, size = 0;
                for (std::size_t p = 0; p < order; ++p) {
                  const double term = right ? static_cast<double>(x[i + p * ld]) * of_t(p, j)
                                            : of_t(i, p) * static_cast<double>(x[p + j * ld]);
                  product += term;
                  size += std::abs(term);
                }
                EXPECT_NEAR(product, static_cast<double>(b[i + j * ld]), allowed<T>(order) * (size + 1))
                    << order << ", " << others << (right ? " right" : " left")
                    << (lower ? " lower" : " upper");
              }
          }
}

}  // namespace fairlead::tests
