// Kernels whose expected durations are wrong.
#include "simulate/estimate_errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include "simulate/small.hpp"

namespace fairlead::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A task reads 1 MB: 1 ms on the core, where the datum is; on the card 0.25 ms after it has come for 1 ms.
double seconds_of_one(const std::string& policy, const std::string& misjudged) {
  Small it;
  it.task(1e6F, {{it.datum(), AccessMode::read}});
  SimulationOptions how;
  if (!misjudged.empty()) how.misjudged = misjudged_in(misjudged);
  return run(it.program, card, {.cores = 1, .streams = 1}, policy, how).seconds;
}

TEST(EstimateError, ChangesTheEstimateAndNotTheDuration) {
  EXPECT_DOUBLE_EQ(seconds_of_one("heft-tmdp", ""), 0.001);
  EXPECT_DOUBLE_EQ(seconds_of_one("heft-tmdp", "work:2"), 0.00125);  // 2 there, 1.5 here
  EXPECT_DOUBLE_EQ(seconds_of_one("heft-tmdp", "work:0.5,work:4"), 0.00125);
  EXPECT_DOUBLE_EQ(seconds_of_one("heft-tm", ""), 0.00125);  // ignores copies
  EXPECT_DOUBLE_EQ(seconds_of_one("heft-tm", "work:0.001"), 0.00125);
}

TEST(EstimateError, IsOfOneKernel) {
  Program program;
  for (const char* kernel : {"potrf", "gemm", "a:b"}) program.kernel(kernel);
  EXPECT_THAT(by_kernel(misjudged_in("gemm:0.5"), program), ElementsAre(1, 0.5, 1));
  EXPECT_THAT(by_kernel(misjudged_in("a:b:3,potrf:1e-3"), program), ElementsAre(1e-3, 1, 3));
  EXPECT_THAT([&] { by_kernel(misjudged_in("gem:2"), program); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("names gem, which is not among the program's kernels: potrf, gemm")));
}

TEST(EstimateError, InAnotherFormatIsRefused) {
  for (const char* wrong : {"", "gemm", "gemm:", ":2", "gemm:0", "gemm:-2", "gemm:nan", "gemm:inf",
                            "gemm:1001", "gemm:2x", "gemm:2,"})
    EXPECT_THAT([&] { misjudged_in(wrong); }, ThrowsMessage<ConfigError>(HasSubstr("is not like gemm:2")))
        << wrong;
}

}  // namespace
}  // namespace fairlead::simulate
