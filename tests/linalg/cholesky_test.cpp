// Factorizations and solves on real threads, judged as LAPACK's own tests do.
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"

namespace fairlead::linalg {
namespace {

Config settings(std::size_t workers, Bytes memory, const char* scheduler) {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  return config;
}

const Kernels& kernels() {
  static const Kernels loaded = Kernels::load();
  return loaded;
}

TEST(Cholesky, SolvesInCore) {
  const int n = 500;
  Runtime runtime(settings(2, Bytes{64} << 20, "lws"));
  auto a = runtime.tiled<double>("A", n, n, 96, Tiles::lower);
  std::vector<double> x(n);
  const auto source = std::make_shared<GeneratedSpd<double>>(n, 1);
  const auto b = std::make_shared<GeneratedUniform<double>>(n, 1, 2);
  b->read(0, n, 0, 1, x.data(), n);
  auto tiled_x = runtime.tiled_in_place<double>("x", x.data(), n, 1, n, 96);
  Flow flow(runtime);
  fill<double>(flow, source, a, Tiles::lower);
  solve(flow, kernels(), a, tiled_x);
  wait_for_results(flow);
  BackwardError<double> error(kernels(), source, b, x.data(), 1);
  error.submit(flow);
  flow.wait();
  EXPECT_LT(error.value(), 1e-15);
  EXPECT_GT(error.value(), 0);
}

}  // namespace
}  // namespace fairlead::linalg
