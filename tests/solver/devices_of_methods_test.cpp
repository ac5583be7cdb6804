// Which methods run on devices: those of which most tasks have bodies there.
#include <fairlead/config.hpp>

#include <gtest/gtest.h>

#include "solver/dense_problem.hpp"

namespace fairlead::solver {
namespace {

TEST(DevicesOfMethods, AreThoseWithBodiesForThem) {
  Config config;
  config.set("devices", "opencl:0");
  for (const DenseOperation* const operation :
       {&cholesky_operation, &unpivoted_lu_operation, &product_operation}) {
    EXPECT_TRUE(may_run_on_devices(*operation, ElementType::float64, config)) << operation->key;
    EXPECT_FALSE(may_run_on_devices(*operation, ElementType::complex128, config)) << operation->key;
  }
  // The kernels of QR are for CUDA.
  for (const DenseOperation* const operation : {&pivoted_lu_operation, &incremental_lu_operation,
                                                &ldlt_operation, &triangular_operation, &qr_operation})
    EXPECT_FALSE(may_run_on_devices(*operation, ElementType::float64, config)) << operation->key;
}

}  // namespace
}  // namespace fairlead::solver
