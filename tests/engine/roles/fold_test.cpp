// A fold runs like a task of the program, unless its partial result is empty. Afterwards the partial result is empty.
#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

struct Reducing : EngineParts {
  explicit Reducing(Notifications interest = Notifications::none) : EngineParts(2, 8_MiB, interest) {
    fold.inline_access[1].mode = AccessMode::read;
  }
  /// Two tasks add to the datum at the same time, one of them to its partial result.
  void reduce() {
    Task* const both[] = {&task(AccessMode::reduction, {sum}), &task(AccessMode::reduction, {sum})};
    for (Task* adds : both) adds->inline_access[0].partials = 1;
    ready({both[0], both[1]});
    land();
    for (Task* adds : both) over(*adds);
    noting.notes.clear();
  }
  bool something_to_fold() { return memory.reductions().anything_to_fold(fold); }

  DatumId sum = datum(1_MiB);
  DatumId partial = memory.add({.bytes = 1_MiB, .home = bare.topology.store(), .partial_of = sum});
  Task& fold = task(AccessMode::read_write, {sum, partial}, TaskRole::fold);
};

}  // namespace

TEST(FoldRole, FinishesAtOnceWithoutAPartialResult) {
  Reducing it;
  it.ready(it.fold);
  EXPECT_EQ(it.take_completed(), std::vector{&it.fold});
  EXPECT_FALSE(it.fold.cancelled);
  EXPECT_EQ(it.endings.skipped(), 1u);
  EXPECT_EQ(it.endings.cancelled(), 0u);
  EXPECT_TRUE(it.noting.notes.empty());
}

TEST(FoldRole, ThatFinishesAtOnceIsReportedToAPolicyThatPlansOverSubmissions) {
  Reducing it(Notifications::submitted);
  it.ready(it.fold);
  EXPECT_EQ(it.noting.notes, (Notes{"cancelled 1"}));
}

TEST(FoldRole, RunsLikeATaskOfTheProgramWithAPartialResult) {
  Reducing it;
  it.reduce();
  ASSERT_TRUE(it.something_to_fold());
  it.ready(it.fold);
  EXPECT_EQ(it.noting.notes, (Notes{"ready 1"}));
  it.land();
  EXPECT_TRUE(it.something_to_fold());
  it.over(it.fold);
  EXPECT_FALSE(it.something_to_fold());
}

TEST(FoldRole, EmptiesThePartialResultEvenIfItIsDropped) {
  Reducing it;
  it.reduce();
  it.cancel(it.fold);
  it.ready(it.fold);
  EXPECT_EQ(it.take_completed(), std::vector{&it.fold});
  EXPECT_TRUE(it.fold.cancelled);
  EXPECT_TRUE(it.poisoned(it.sum));  // its contribution is missing
  EXPECT_FALSE(it.something_to_fold());
  EXPECT_FALSE(it.poisoned(it.partial));
}

// Without a fold before it: contributions to the former value are discarded with it.
TEST(FoldRole, HasNoPartialResultAfterAWriteThatReplacesTheValue) {
  Reducing it;
  it.reduce();
  Task& change = it.task(AccessMode::read_write, {it.sum});
  it.ready(change);
  it.land();
  it.over(change);
  EXPECT_TRUE(it.something_to_fold());
  Task& set = it.task(AccessMode::write, {it.sum});
  it.ready(set);
  it.land();
  it.over(set);
  EXPECT_FALSE(it.something_to_fold());
  it.ready(it.fold);
  EXPECT_EQ(it.endings.skipped(), 1u);
  EXPECT_FALSE(it.poisoned(it.sum));
}

TEST(FoldRole, RequiresAPartialResult) {
  Reducing it;
  EXPECT_EQ(it.roles.of(it.fold).check_logged(it.fold), "");
  Task& wrong = it.task(AccessMode::read_write, {it.partial, it.sum}, TaskRole::fold);
  EXPECT_NE(it.roles.of(wrong).check_logged(wrong), "");
  Task& alone = it.task(AccessMode::read_write, {it.partial}, TaskRole::fold);
  EXPECT_NE(it.roles.of(alone).check_logged(alone), "");
}

}  // namespace fairlead::tests
