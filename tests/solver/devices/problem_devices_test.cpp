// The work of a problem, by which devices are selected, and the element types that devices do not compute with.
#include "solver/devices/problem_devices.hpp"

#include <fairlead/error.hpp>

#include <gtest/gtest.h>

namespace fairlead::solver {
namespace {

DenseProblem problem_of(const DenseOperation& operation, ElementType element) {
  return {.operation = &operation, .title = operation.name, .n = 3000, .element = element};
}

TEST(ProblemDevices, KnowTheWorkOfAFactorization) {
  Config config;
  config.set("workers", 4);
  const ProblemWork work = problem_work(problem_of(cholesky_operation, ElementType::float64), 10, config);
  EXPECT_NEAR(work.flops, 9e9, 0.01e9);
  EXPECT_EQ(work.bytes, Bytes{3000} * 3001 / 2 * 8);
  EXPECT_EQ(work.core_flops_per_second, 4 * 10e9);
  EXPECT_EQ(work.only_on_cores, "");
  EXPECT_EQ(work.without_opencl, "");
  const ProblemWork single = problem_work(problem_of(cholesky_operation, ElementType::float32), 10, config);
  EXPECT_EQ(single.core_flops_per_second, 2 * 4 * 10e9) << "vectors have twice as many elements";
  EXPECT_EQ(single.bytes, work.bytes / 2);
}

TEST(ProblemDevices, KnowWhatRunsOnlyOnCores) {
  const Config config;
  const ProblemWork complex =
      problem_work(problem_of(cholesky_operation, ElementType::complex128), 10, config);
  EXPECT_EQ(complex.only_on_cores, "Cholesky factorization of complex numbers");
  EXPECT_EQ(problem_work(problem_of(qr_operation, ElementType::float64), 10, config).without_opencl,
            "QR factorization");
}

TEST(ProblemDevices, RefuseComplexNumbersOnNamedDevices) {
  Config config;
  EXPECT_NO_THROW(require_devices_for(config, ElementType::complex128));
  config.set("devices", "cuda:0,memory=1MiB");
  EXPECT_NO_THROW(require_devices_for(config, ElementType::float64));
  EXPECT_THROW(require_devices_for(config, ElementType::complex64), ConfigError);
}

}  // namespace
}  // namespace fairlead::solver
