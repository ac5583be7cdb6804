// The time that threads run and wait for a core, as the kernel counts it.
#include "base/core_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <sched.h>

namespace fairlead {

TEST(CoreTime, ReadsTheKernelsText) {
  const auto both = core_time_in("234079 2958928 2\n");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->on_core, Duration(234'079));
  EXPECT_EQ(both->waiting, Duration(2'958'928));
  for (const char* text : {"", "12", "12 ", "a b c", "0 0 0\n", "-1 5 2\n"})
    EXPECT_FALSE(core_time_in(text)) << text;
}

TEST(CoreTime, IsEmptyForAnUnknownThread) {
  EXPECT_FALSE(core_time_of(0));
  EXPECT_FALSE(core_time_of(0x3ffffff));
}

TEST(CoreTime, OfAThreadThatHadNotRunBeforeCountsFromItsStart) {
  const CoreTime early{Duration(3), Duration(10)}, late{Duration(5), Duration(17)};
  const auto both = core_time_between(early, late);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->on_core, Duration(2));
  EXPECT_EQ(both->waiting, Duration(7));
  const auto since_start = core_time_between({}, late);
  ASSERT_TRUE(since_start);
  EXPECT_EQ(since_start->waiting, Duration(17));
  EXPECT_FALSE(core_time_between(late, early)) << "of another thread";
  EXPECT_FALSE(core_time_between(early, {}));
}

namespace {

void compute_for(double cpu_seconds) {
  while (cpu_seconds_of_thread() < cpu_seconds) {
  }
}

}  // namespace

TEST(CpuSeconds, OfAProcessIncludeAllItsThreadsAlsoEndedOnes) {
  const double process = cpu_seconds_of_process(), thread = cpu_seconds_of_thread();
  std::thread([] { compute_for(0.02); }).join();
  const double own = cpu_seconds_of_thread() - thread;
  EXPECT_LT(own, 0.02);
  EXPECT_GE(cpu_seconds_of_process() - process, own + 0.019);
}

// Three threads on one core run for a third of the time each, whatever else runs.
TEST(CoreTime, CountsTheTimeThatThreadsOfOneCoreWaitForEachOther) {
  if (!core_time_of(this_thread())) GTEST_SKIP() << "this kernel does not count the time";
  cpu_set_t allowed, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  std::atomic<int> begun = 0;
  std::vector<double> had(3);
  std::vector<std::thread> threads;
  for (double& part : had)
    threads.emplace_back([&] {
      ::sched_setaffinity(0, sizeof one, &one);
      begun.fetch_add(1);
      while (begun.load() < 3) std::this_thread::yield();
      compute_for(0.1);
      const auto core_time = core_time_of(this_thread());
      part = seconds(core_time->on_core) / seconds(core_time->on_core + core_time->waiting);
    });
  for (std::thread& thread : threads) thread.join();
  double least = 1;
  for (const double part : had) least = std::min(least, part);
  EXPECT_LT(least, 0.6);
  for (const double part : had) EXPECT_GT(part, 0.005);
}

}  // namespace fairlead
