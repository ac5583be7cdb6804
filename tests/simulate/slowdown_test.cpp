// Processors that are slower for a while.
#include "simulate/slowdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include "simulate/small.hpp"

namespace fairlead::simulate {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Tasks that take 10 ms each, one after the other, on one core.
SimulationResult chain(int tasks, const std::string& slow, SimulationOptions options = {}) {
  Small it;
  const DatumIndex datum = it.datum();
  for (int i = 0; i < tasks; ++i) it.task(10e6F, {{datum, AccessMode::read_write}});
  options.slow = slowdowns_in(slow);
  return run(it.program, "", {.cores = 1}, "eager", options);
}

TEST(Slowdown, LengthensATaskByTheOverlap) {
  EXPECT_DOUBLE_EQ(chain(1, "core0:4").seconds, 0.040);
  EXPECT_DOUBLE_EQ(chain(1, "core0:4:0-1").seconds, 0.040);
  EXPECT_DOUBLE_EQ(chain(1, "core0:4:0-0.008").seconds, 0.016);       // 2 ms of work done in 8, then 8
  EXPECT_DOUBLE_EQ(chain(1, "core0:4:0.005-0.009").seconds, 0.013);   // 5, then 1 in 4, then 4
  EXPECT_DOUBLE_EQ(chain(1, "core0:4:0.010-0.020").seconds, 0.010);   // the task has finished before
  EXPECT_DOUBLE_EQ(chain(3, "core0:2:0.010-0.015").seconds, 0.0325);  // 10, 5 for 2.5 and 7.5, 10
  EXPECT_DOUBLE_EQ(chain(1, "core0:0.5").seconds, 0.005);             // a faster one
}

TEST(Slowdown, OfOneProcessorMultiply) {
  EXPECT_DOUBLE_EQ(chain(1, "core0:2,core0:3").seconds, 0.060);
  EXPECT_DOUBLE_EQ(chain(1, "core0:2,core0:3:0.002-0.005").seconds, 0.022);  // 1 in 2, 0.5 in 3, 8.5 in 17
}

// All streams of a device, and no other device: two tasks of 4 ms on each of two cards.
TEST(Slowdown, IsThatOfOneDevice) {
  Small it;
  for (int i = 0; i < 4; ++i) it.task(16e6F, {{it.datum(1), AccessMode::read_write}});
  const auto busy = [&](const std::string& slow) {
    const SimulationResult result =
        run(it.program, card + card, {.cores = 0, .streams = 1}, "static", {.slow = slowdowns_in(slow)});
    return std::pair{result.workers[0].busy_seconds, result.workers[1].busy_seconds};
  };
  EXPECT_DOUBLE_EQ(busy("gpu1:3").first, 0.008);
  EXPECT_DOUBLE_EQ(busy("gpu1:3").second, 0.024);
  EXPECT_DOUBLE_EQ(busy("gpu0:3").first, 0.024);
}

// Estimates are those of the machine file: with knowledge of the lag core 1 would run both.
TEST(Slowdown, IsNotKnownToThePolicy) {
  Small it;
  for (int i = 0; i < 2; ++i) it.task(10e6F, {{it.datum(), AccessMode::write}});
  EXPECT_DOUBLE_EQ(run(it.program, "", {.cores = 2}, "heft-tm", {.slow = slowdowns_in("core0:9")}).seconds,
                   0.090);
}

TEST(Slowdown, IsReadFromText) {
  const std::vector<Slowdown> all = slowdowns_in("gpu12:1.5:0.25-3,core0:4");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].is_device);
  EXPECT_EQ(all[0].number, 12u);
  EXPECT_EQ(all[0].times, 1.5);
  EXPECT_EQ(all[0].from, Time(250'000'000));
  EXPECT_EQ(all[0].until, Time(3'000'000'000));
  EXPECT_FALSE(all[1].is_device);
  EXPECT_EQ(all[1].until, Time::max());
}

TEST(Slowdown, InAnotherFormatIsRefused) {
  for (const char* wrong :
       {"", "gpu:2", "gpu1", "gpu1:0", "gpu1:-2", "gpu1:nan", "gpu1:1e9", "gpu1:2:3", "gpu1:2:3-3",
        "gpu1:2:3-1", "gpu1:2:-1-3", "gpu1:2:0-inf", "gpu1:2,", "gpu1:2;core0:2", "worker0:2"})
    EXPECT_THAT([&] { slowdowns_in(wrong); },
                ThrowsMessage<ConfigError>(HasSubstr("is not like gpu1:4:0.5-0.9")))
        << wrong;
}

TEST(Slowdown, OfAnUnusedProcessorIsRefused) {
  EXPECT_THAT([] { chain(1, "core1:2"); }, ThrowsMessage<ConfigError>(HasSubstr("slow names core1")));
  EXPECT_THAT([] { chain(1, "gpu0:2"); }, ThrowsMessage<ConfigError>(HasSubstr("slow names gpu0")));
}

}  // namespace
}  // namespace fairlead::simulate
