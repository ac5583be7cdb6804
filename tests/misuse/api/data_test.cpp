// Tasks with wrong data are refused at submission, with a message that names the task, the datum and the line.
#include "misuse/api/refused.hpp"

#include <string>
#include <utility>

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(WrongData, ReadingUnwrittenData) {
  Runtime runtime(settings());
  const auto a = runtime.tiled<double>("A", 64, 64, 32);
  Flow flow(runtime);
  flow.submit(fill_tile(a(0, 0), 1.0));
  const int line = __LINE__ + 1;
  const auto submit = [&] { flow.submit(scale_tile(a(1, 0), 2.0)); };
  EXPECT_THAT(refused<UsageError>(submit), AllOf(HasSubstr("scale"), HasSubstr("A[1,0]"),
                                                 HasSubstr("nothing has written"), HasSubstr(line_of(line))));
  flow.wait();
  expect_works(runtime);
}

TEST(WrongData, ADatumOfAnotherRuntime) {
  Runtime mine(settings()), other(settings(1));
  const auto a = other.tiled<double>("A", 64, 64, 32);
  Flow flow(mine);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(fill_tile(a(1, 1), 1.0)); }),
              AllOf(HasSubstr("fill"), HasSubstr("A[1,1]"), HasSubstr("another runtime"),
                    HasSubstr("data_test.cpp:")));
  expect_works(mine);
  expect_works(other);
}

TEST(WrongData, AHandleOfADestroyedMatrix) {
  Runtime runtime(settings());
  Flow flow(runtime);
  Handle<Tile<double>> handle;
  {
    const auto a = runtime.tiled<double>("A", 64, 64, 32);
    handle = a(0, 1);
    flow.submit(fill_tile(handle, 1.0));
  }
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(scale_tile(handle, 2.0)); }),
              AllOf(HasSubstr("scale"), HasSubstr("destroyed"), HasSubstr("data_test.cpp:")));
  // Another matrix may have its memory.
  const auto b = runtime.tiled<double>("B", 64, 64, 32);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) flow.submit(fill_tile(b(i, j), 1.0));
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(scale_tile(handle, 2.0)); }), HasSubstr("destroyed"));
  flow.wait();
}

TEST(WrongData, AnEmptyHandle) {
  Runtime runtime(settings());
  Flow flow(runtime);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(increment(Handle<int>())); }),
              AllOf(HasSubstr("increment"), HasSubstr("empty handle"), HasSubstr("data_test.cpp:")));
  expect_works(runtime);
}

TEST(WrongData, ATileOfAMatrixThatWasMovedAway) {
  Runtime runtime(settings());
  auto a = runtime.tiled<double>("A", 64, 64, 32);
  const auto b = std::move(a);
  EXPECT_THAT(refused<UsageError>([&] { a(0, 0); }), HasSubstr("moved"));
  EXPECT_NO_THROW(b(0, 0));
}

TEST(WrongData, ATileThatDoesNotExist) {
  Runtime runtime(settings());
  const auto a = runtime.tiled<double>("A", 64, 96, 32);
  const auto lower = runtime.tiled<double>("L", 64, 64, 32, Tiles::lower);
  for (const auto& [row, column] : {std::pair{2, 0}, {0, 3}, {-1, 0}, {0, -1}})
    EXPECT_THAT(refused<UsageError>([&, i = row, j = column] { a(i, j); }),
                AllOf(HasSubstr("A has no tile [" + std::to_string(row)), HasSubstr("2 x 3 tiles")));
  EXPECT_THAT(refused<UsageError>([&] { lower(0, 1); }), HasSubstr("L has no tile [0,1]"));
}

TEST(WrongData, MoreThanTheMemoryCanEverHold) {
  Runtime runtime(settings(2, "256KiB"));
  const auto a = runtime.tiled<double>("A", 256, 256, 128);  // tiles of 128 KiB
  const auto add = codelet("add").cpu([](Out<Tile<double>>, Out<Tile<double>>, Out<Tile<double>>) {});
  Flow flow(runtime);
  const int line = __LINE__ + 1;
  const auto submit = [&] { flow.submit(add(a(0, 0), a(1, 0), a(1, 1))); };
  EXPECT_THAT(
      refused<FootprintError>(submit),
      AllOf(HasSubstr("the task add(A[0,0], A[1,0], A[1,1]) needs 393216 bytes"), HasSubstr("262144 bytes"),
            HasSubstr("\"RAM\""), HasSubstr(line_of(line)), HasSubstr("smaller tiles")));
  flow.submit(add(a(0, 0), a(0, 0), a(1, 1)));  // one tile twice: two tiles in all
  flow.wait();
}

TEST(WrongShape, ATileOfNothing) {
  Runtime runtime(settings());
  for (const int tile : {0, -5})
    EXPECT_THAT(refused<UsageError>([&] { runtime.tiled<double>("A", 64, 64, tile); }),
                AllOf(HasSubstr("A: "), HasSubstr("tile of " + std::to_string(tile))));
}

TEST(WrongShape, AnEmptyMatrix) {
  Runtime runtime(settings());
  double x = 0;
  EXPECT_THAT(refused<UsageError>([&] { runtime.tiled<double>("A", 0, 64, 32); }),
              AllOf(HasSubstr("A: "), HasSubstr("0 x 64")));
  EXPECT_THAT(refused<UsageError>([&] { runtime.tiled_in_place<double>("B", &x, 4, -1, 4, 32); }),
              AllOf(HasSubstr("B: "), HasSubstr("4 x -1")));
}

TEST(WrongShape, ColumnsThatOverlapInTheUsersMemory) {
  Runtime runtime(settings());
  std::vector<double> x(64);
  EXPECT_THAT(refused<UsageError>([&] { runtime.tiled_in_place<double>("B", x.data(), 8, 8, 7, 4); }),
              AllOf(HasSubstr("B: "), HasSubstr("leading dimension 7")));
}

TEST(WrongSettings, ASchedulerThatDoesNotExist) {
  Config config = settings();
  config.set("scheduler", "dart");
  EXPECT_THAT(refused<ConfigError>([&] { Runtime runtime(config); }),
              AllOf(HasSubstr("dart"), HasSubstr("did you mean darts?")));
}

TEST(WrongSettings, AKeyThatDoesNotExist) {
  Config config;
  EXPECT_THAT(refused<ConfigError>([&] { config.set("memmory", "1GiB"); }),
              AllOf(HasSubstr("memmory"), HasSubstr("did you mean \"memory\"?")));
}

TEST(WrongSettings, LessMemoryThanTheProgramKeepsForItself) {
  EXPECT_THAT(refused<ConfigError>([&] { Runtime runtime(settings(1, "1MiB"), Bytes{2} << 20); }),
              AllOf(HasSubstr("limit of 1.0 MiB"), HasSubstr("2.0 MiB")));
}

TEST(WrongSettings, ASpillDirectoryThatDoesNotExist) {
  Config config = settings();
  config.set("disk-directory", "/no/such/place");
  EXPECT_THAT(refused<SystemError>([&] { Runtime runtime(config); }),
              AllOf(HasSubstr("/no/such/place"), HasSubstr("No such file")));
}

// At the start, not after hours of work.
TEST(WrongSettings, AnEventLogThatCannotBeWritten) {
  Config config = settings();
  config.set("event-log", "/no/such/place/log");
  EXPECT_THAT(refused<SystemError>([&] { Runtime runtime(config); }), HasSubstr("/no/such/place/log"));
}

TEST(WrongSettings, AMatrixLargerThanTheDisk) {
  Runtime runtime(settings());
  EXPECT_THAT(refused<SystemError>([&] { runtime.tiled<double>("A", 1 << 22, 1 << 21, 1 << 18); }),
              AllOf(HasSubstr("needs"), HasSubstr("free on that disk")));
  expect_works(runtime);
}

}  // namespace
}  // namespace fairlead::misuse
