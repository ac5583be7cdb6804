// When the fast path is open, and which operations wait until no worker is inside.
#include "engine/fast_path_control.hpp"

#include <gtest/gtest.h>

#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

constexpr std::size_t only_worker = 0;

/// One worker with RAM, and no engine.
struct Gate {
  explicit Gate(Bytes capacity)
      : bare(capacity), gate(1, 1, bare.memory, bare.topology.host(), bare.effects) {
    gate.allow(true);
  }
  bool is_open() const { return gate.path().generation() != 0; }

  Bare bare;
  engine::FastPathControl gate;
};

}  // namespace

TEST(FastPathControl, OpensOnlyIfItIsAllowedAndAllDataFit) {
  Gate it(2_MiB);
  it.bare.datum(1_MiB);
  it.gate.allow(false);
  EXPECT_FALSE(it.gate.try_open());
  it.gate.allow(true);
  EXPECT_TRUE(it.gate.try_open());
  EXPECT_TRUE(it.is_open());
  EXPECT_FALSE(it.gate.try_open());  // it is open
}

TEST(FastPathControl, ClosesWhenTheDataNoLongerFit) {
  Gate it(2_MiB);
  it.bare.datum(1_MiB);
  ASSERT_TRUE(it.gate.try_open());
  EXPECT_FALSE(it.gate.update());
  it.bare.datum(3_MiB);
  EXPECT_TRUE(it.gate.update());  // no worker is inside: it is closed at once
  EXPECT_FALSE(it.is_open());
  EXPECT_FALSE(it.gate.pinned());
  EXPECT_FALSE(it.gate.try_open());
}

TEST(FastPathControl, IsClosedWhenTheLastWorkerHasLeft) {
  Gate it(2_MiB);
  ASSERT_TRUE(it.gate.try_open());
  it.gate.path().enter(only_worker);
  it.gate.close();
  EXPECT_FALSE(it.gate.update());
  EXPECT_TRUE(it.gate.pinned());
  EXPECT_FALSE(it.gate.try_open());  // not before it has ended
  EXPECT_TRUE(it.gate.path().leave(only_worker));
  EXPECT_TRUE(it.gate.update());
  EXPECT_TRUE(it.gate.try_open());
}

// A value that a task of the fast path has written exists only there, and its write has not been reported.
TEST(FastPathControl, DelaysAFlushUntilNoWorkerIsInside) {
  Gate it(2_MiB);
  const DatumId datum = it.bare.datum(1_MiB);
  ASSERT_TRUE(it.gate.try_open());
  EXPECT_TRUE(it.gate.admit(datum, false));
  it.gate.path().enter(only_worker);
  it.gate.flush_or_drop(EventKind::flush);
  EXPECT_TRUE(it.gate.flush_waits());
  EXPECT_FALSE(it.gate.update());
  EXPECT_TRUE(it.bare.take_started().empty());
  it.gate.path().leave(only_worker);
  EXPECT_TRUE(it.gate.update());
  EXPECT_FALSE(it.gate.flush_waits());
  EXPECT_EQ(it.bare.take_started().size(), 1u);
}

TEST(FastPathControl, AdmitsNoTaskWhileItIsClosed) {
  Gate it(2_MiB);
  const DatumId datum = it.bare.datum(1_MiB);
  EXPECT_FALSE(it.gate.admit(datum, false));
  it.gate.flush_or_drop(EventKind::flush);  // at once
  EXPECT_FALSE(it.gate.flush_waits());
}

}  // namespace fairlead::tests
