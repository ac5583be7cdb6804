// Impossible scratch sizes are refused at submission.
#include "misuse/api/refused.hpp"

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const auto work =
    codelet("work").cpu([](InOut<int> x, Scratch<double> space) { *x += static_cast<int>(space.size()); });

TEST(WrongScratch, MoreThanTheMemoryHolds) {
  Runtime runtime(settings(1, "1MiB"));
  int x = 0;
  const auto handle = runtime.value("x", x);
  Flow flow(runtime);
  flow.submit(work(handle, scratch(1024 * 1024 / 8)));
  const int line = __LINE__ + 1;
  const auto submit = [&] { flow.submit(work(handle, scratch(1024 * 1024 / 8 + 1))); };
  EXPECT_THAT(refused<FootprintError>(submit),
              AllOf(HasSubstr("work(x)"), HasSubstr("scratch"), HasSubstr("RAM"),
                    HasSubstr("scratch_test.cpp:" + std::to_string(line))));
  flow.wait();
  EXPECT_EQ(x, 131072);
  expect_works(runtime);
}

TEST(WrongScratch, LessThanNothing) {
  Runtime runtime(settings());
  int x = 0;
  const auto handle = runtime.value("x", x);
  EXPECT_THAT(refused<UsageError>([&] { work(handle, scratch(-1)); }),
              AllOf(HasSubstr("work"), HasSubstr("-1 elements")));
  expect_works(runtime);
}

}  // namespace
}  // namespace fairlead::misuse
