// Impossible shapes and parts are refused, with a message that names the datum.
#include "misuse/api/refused.hpp"

#include <utility>
#include <vector>

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const auto both = codelet("both").cpu([](InOut<Vector<double>>, In<Vector<double>>) {});
const auto touch = codelet("touch").cpu([](InOut<Vector<double>> x) { x(0) += 1; });

struct World {
  Runtime runtime{settings()};
  std::vector<double> memory = std::vector<double>(100, 0);
  Handle<Vector<double>> whole = runtime.vector("x", memory.data(), 100);
};

TEST(WrongShapes, WithoutElements) {
  Runtime runtime(settings());
  double x = 0;
  EXPECT_THAT(refused<UsageError>([&] { runtime.vector("x", &x, 0); }),
              HasSubstr("x: a vector of 0 elements"));
  EXPECT_THAT(refused<UsageError>([&] { runtime.matrix<double>("A", 4, -1); }), HasSubstr("A: a matrix of"));
  EXPECT_THAT(refused<UsageError>([&] {
                runtime.block("u", &x, {1, 0, 1}, {1, 1});
              }),
              HasSubstr("u: a block of"));
  expect_works(runtime);
}

TEST(WrongShapes, AtNoAddress) {
  Runtime runtime(settings());
  EXPECT_THAT(refused<UsageError>([&] { runtime.vector<double>("x", nullptr, 5); }),
              HasSubstr("the address of the vector is null"));
  expect_works(runtime);
}

TEST(WrongShapes, WithOverlappingElements) {
  Runtime runtime(settings());
  std::vector<double> memory(1000);
  EXPECT_THAT(refused<UsageError>([&] { runtime.matrix("A", memory.data(), 10, 4, 9); }),
              AllOf(HasSubstr("A: elements of the matrix overlap"), HasSubstr("distance of 9")));
  EXPECT_THAT(refused<UsageError>([&] {
                runtime.block("u", memory.data(), {4, 4, 4}, {4, 15});
              }),
              HasSubstr("at least 16"));
  EXPECT_THAT(refused<UsageError>([&] { runtime.vector("x", memory.data(), 4, -1); }),
              HasSubstr("x: elements"));
  expect_works(runtime);
}

TEST(WrongShapes, AnObjectRequestedWhereItIsPacked) {
  Runtime runtime(settings());
  const auto kept = runtime.packable<int>("object", 64);
  const auto body = codelet("body").cpu([](Out<Packable<int>> object) { object.object() = 1; });
  Flow flow(runtime);
  flow.submit(body(kept));
  EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }), AllOf(HasSubstr("body"), HasSubstr("packed bytes")));
  expect_works(runtime);
}

TEST(WrongShapes, UsedAfterTheyWereRemoved) {
  World world;
  world.runtime.remove(world.whole);
  Flow flow(world.runtime);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(touch(world.whole)); }), HasSubstr("removed"));
  EXPECT_THAT(refused<UsageError>([&] { world.runtime.remove(world.whole); }), HasSubstr("no longer exists"));
  expect_works(world.runtime);
}

TEST(WrongParts, TheWholeAndAPartInOneTask) {
  World world;
  const auto parts = world.runtime.split(world.whole, 10);
  Flow flow(world.runtime);
  const int line = __LINE__ + 1;
  const auto submit = [&] { flow.submit(both(world.whole, parts(2))); };
  EXPECT_THAT(refused<UsageError>(submit), AllOf(HasSubstr("both(x, x[2])"), HasSubstr("which overlap"),
                                                 HasSubstr("parts_test.cpp:" + std::to_string(line))));
  EXPECT_THAT(refused<UsageError>([&] { (void)flow.acquire(read(world.whole), read(parts(2))); }),
              HasSubstr("which overlap"));
  expect_works(world.runtime);
}

TEST(WrongParts, OfTwoPartitionsInOneTask) {
  World world;
  const auto tens = world.runtime.split(world.whole, 10), twenties = world.runtime.split(world.whole, 20);
  Flow flow(world.runtime);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(both(tens(9), twenties(0))); }),
              AllOf(HasSubstr("x[9] and x[0]"), HasSubstr("parts of one partition")));
  flow.submit(both(tens(9), tens(0)));
  flow.wait();
  expect_works(world.runtime);
}

TEST(WrongParts, ThatDoNotExist) {
  World world;
  auto parts = world.runtime.split(world.whole, 30);
  EXPECT_THAT(refused<UsageError>([&] { parts(4); }),
              AllOf(HasSubstr("x has no part [4]"), HasSubstr("into 4")));
  EXPECT_THAT(refused<UsageError>([&] { parts(0, 1); }), HasSubstr("no part"));
  EXPECT_THAT(refused<UsageError>([&] { world.runtime.split(world.whole, 0); }), HasSubstr("parts of 0"));
  const auto moved = std::move(parts);
  EXPECT_THAT(refused<UsageError>([&] { parts(0); }), HasSubstr("moved"));
  expect_works(world.runtime);
}

TEST(WrongParts, OfAPartOrATile) {
  World world;
  const auto parts = world.runtime.split(world.whole, 30);
  EXPECT_THAT(refused<UsageError>([&] { world.runtime.split(parts(1), 5); }),
              HasSubstr("x[1] cannot be split"));
  const auto a = world.runtime.tiled<double>("A", 64, 64, 32);
  EXPECT_THAT(refused<UsageError>([&] { world.runtime.split(a(1, 0), 5, 5); }), HasSubstr("A[1,0] cannot"));
  expect_works(world.runtime);
}

TEST(WrongParts, ThatAreNotContiguousOnDisk) {
  Runtime runtime(settings());
  const auto a = runtime.matrix<double>("A", 512, 512);
  EXPECT_THAT(refused<UsageError>([&] { runtime.split(a, 256, 512); }),
              AllOf(HasSubstr("A cannot be split like this"), HasSubstr("A[0,0]"), HasSubstr("tiled")));
  EXPECT_THAT(refused<UsageError>([&] { runtime.split(runtime.vector<double>("x", 1000), 500); }),
              HasSubstr("x[1]"));
  EXPECT_EQ(runtime.split(a, 512, 100).parts(1), 6);
  expect_works(runtime);
}

TEST(WrongParts, OfAWholeRemovedBeforeThem) {
  World world;
  const auto parts = world.runtime.split(world.whole, 30);
  EXPECT_THAT(refused<UsageError>([&] { world.runtime.remove(world.whole); }),
              AllOf(HasSubstr("remove of x"), HasSubstr("partitions")));
  expect_works(world.runtime);
}

TEST(WrongParts, UsedAfterTheirPartition) {
  World world;
  Handle<Vector<double>> old;
  {
    const auto parts = world.runtime.split(world.whole, 30);
    old = parts(1);
  }
  Flow flow(world.runtime);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(touch(old)); }), HasSubstr("no longer exists"));
  expect_works(world.runtime);
}

// The whole is held while a task needs a part: the wait would never end.
TEST(WrongParts, WhileTheWholeIsHeld) {
  World world;
  const auto parts = world.runtime.split(world.whole, 30);
  Flow flow(world.runtime);
  auto hold = flow.acquire(update(world.whole));
  flow.submit(touch(parts(1)));
  EXPECT_THAT(refused<UsageError>([&] { flow.wait(); }),
              AllOf(HasSubstr("would never return"), HasSubstr("holds x")));
  hold.release();
  flow.wait();
  EXPECT_EQ(world.memory[30], 1);
}

// Nothing has written the whole, so no part has a value.
TEST(WrongParts, ReadBeforeTheWholeIsWritten) {
  Runtime runtime(settings());
  const auto x = runtime.vector<double>("x", 1024);
  const auto parts = runtime.split(x, 512);
  const auto fill = codelet("fill").cpu([](Out<Vector<double>> v) { v(0) = 1; });
  Flow flow(runtime);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(touch(parts(1))); }), HasSubstr("nothing has written"));
  flow.submit(fill(parts(1)));
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(touch(x)); }), HasSubstr("nothing has written"));
  flow.submit(fill(parts(0)));
  flow.submit(touch(x));
  flow.wait();
  expect_works(runtime);
}

}  // namespace
}  // namespace fairlead::misuse
