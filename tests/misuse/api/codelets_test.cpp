// Mistakes in making a codelet are reported at once, before there is a task.
#include "misuse/api/refused.hpp"

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const auto nothing = [](InOut<int>) {};

TEST(Codelets, TwoBodiesOfOneName) {
  const auto gemm = codelet("gemm").cpu("blas", nothing);
  EXPECT_THAT(refused<UsageError>([&] { gemm.cpu("blas", nothing); }),
              AllOf(HasSubstr("the codelet gemm"), HasSubstr("two bodies named \"blas\" for CPU cores")));
  EXPECT_THAT(refused<UsageError>([&] { gemm.cpu("small", nothing).cpu("blas", nothing); }),
              HasSubstr("\"blas\""));
  EXPECT_THAT(refused<UsageError>([&] { gemm.emulated("a", nothing).emulated("a", nothing); }),
              HasSubstr("two bodies named \"a\" for emulated accelerators"));
  gemm.emulated("blas", nothing);  // another kind of worker
}

// One of them would silently never run.
TEST(Codelets, TwoBodiesWithoutAName) {
  const auto gemm = codelet("gemm").cpu(nothing);
  EXPECT_THAT(
      refused<UsageError>([&] { gemm.cpu(nothing); }),
      AllOf(HasSubstr("two bodies without a name for CPU cores"), HasSubstr("as in (\"blas\", body)")));
  EXPECT_THAT(refused<UsageError>([&] { gemm.emulated(nothing).emulated(); }),
              HasSubstr("without a name for emulated accelerators"));
  gemm.cpu("blas", nothing);  // one of them is enough
}

TEST(Codelets, MoreBodiesThanCanBeTried) {
  auto gemm = codelet("gemm").cpu(nothing);
  for (int i = 1; i < 16; ++i) gemm = gemm.cpu(std::to_string(i), nothing);
  EXPECT_THAT(refused<UsageError>([&] { gemm.cpu("16", nothing); }),
              HasSubstr("more than 16 bodies for CPU cores"));
}

// A refused call leaves the codelet unchanged.
TEST(Codelets, AreNotChangedByAMistake) {
  Runtime runtime(settings());
  int x = 0;
  const auto handle = runtime.value("x", x);
  const auto gemm = codelet("gemm").cpu("blas", [](InOut<int> y) { ++*y; });
  refused<UsageError>([&] { gemm.cpu("blas", nothing); });
  Flow flow(runtime);
  flow.submit(gemm(handle));
  flow.wait();
  EXPECT_EQ(x, 1);
}

}  // namespace
}  // namespace fairlead::misuse
