// Loading a BLAS: its version and core type, and the errors if it cannot be used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {
namespace {

using testing::HasSubstr;

std::string error_of(const BlasLibrary& library) {
  try {
    Blas::load(library);
  } catch (const SystemError& error) {
    return error.what();
  }
  return "no error";
}

TEST(BlasLoading, OpenBlasReportsItsVersionAndCoreType) {
  const auto blas = Blas::load();
  EXPECT_THAT(blas->path(), HasSubstr("libopenblas"));
  EXPECT_EQ(blas->lapack_path(), blas->path());
  EXPECT_THAT(blas->version(), HasSubstr("OpenBLAS"));
  EXPECT_THAT(blas->version(), HasSubstr(blas->core_type()));
  EXPECT_FALSE(blas->core_type().empty());
}

TEST(BlasLoading, TheErrorNamesAMissingLibraryAndTheReason) {
  const auto text = error_of({.blas = "libno_such_blas.so.7", .lapack = {}});
  EXPECT_THAT(text, HasSubstr("\"libno_such_blas.so.7\""));
  EXPECT_THAT(text, HasSubstr("No such file or directory"));
}

TEST(BlasLoading, TheErrorNamesTheMissingRoutineOfALibrary) {
  const auto text = error_of({.blas = "libm.so.6", .lapack = {}});
  EXPECT_THAT(text, HasSubstr("\"libm.so.6\""));
  EXPECT_THAT(text, HasSubstr("ddot_"));
}

TEST(BlasLoading, TheErrorNamesAMissingLapack) {
  EXPECT_THAT(error_of({.blas = "libopenblas.so.0", .lapack = "libno_such_lapack.so"}),
              HasSubstr("libno_such_lapack.so"));
}

// The OpenBLAS of scipy-openblas32 has the names scipy_dgemm_, ....
TEST(BlasLoading, ALibraryWhosePackageOfPythonPrefixesItsNamesIsUsed) {
  const auto blas = Blas::load({.blas = FAIRLEAD_PREFIXED_BLAS});
  const double a[2] = {2, 3}, b[2] = {5, 7};
  double c = 1;
  blas->gemm<double>(Transpose::no, Transpose::no, 1, 1, 2, 1, a, 1, b, 2, 1, &c, 1);
  EXPECT_EQ(c, 1 + 2 * 5 + 3 * 7);
  EXPECT_EQ(blas->path(), FAIRLEAD_PREFIXED_BLAS);
}

// A test library with 64-bit integers under the usual names.
TEST(BlasLoading, ALibraryWith64BitIntegersIsRejected) {
  const auto text = error_of({.blas = FAIRLEAD_WIDE_BLAS, .lapack = {}});
  EXPECT_THAT(text, HasSubstr(FAIRLEAD_WIDE_BLAS));
  EXPECT_THAT(text, HasSubstr("ILP64"));
}

}  // namespace
}  // namespace fairlead::linalg
