// Planted stalls of copies, memory and workers: the report names the datum, the task or copy that holds the
// resource, and the memory node.
#include <gmock/gmock.h>

#include "front/runtime/watchdog.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

bool of(const memory::Copy& copy, std::size_t datum) { return index(copy.datum) == datum; }

std::string report_of(const engine::StatusReport& situation) {
  EXPECT_TRUE(situation.stalled());
  return front::Watchdog::text_of(situation, 10s);
}

}  // namespace

TEST(SimulatedStalls, ACopyThatHangs) {
  World world = one_device(8_MiB)
                    .where_copies_hang([](const memory::Copy& copy) { return of(copy, 0); })
                    .with_data({{"A", 1_MiB}, {"B", 1_MiB}});
  world.submit(reads("A", "B"));
  EXPECT_THAT(
      report_of(world.situation_when_stalled(10s)),
      AllOf(HasSubstr("(A, B), submitted at"), HasSubstr("waits for data:"),
            HasSubstr("A (1024 KiB), on its way from disk to device 0 for 10 s; 1.05 ms were expected")));
}

TEST(SimulatedStalls, ACopyQueuedBehindAHangingCopy) {
  Machine machine = one_device(8_MiB);
  for (LinkSpec& link : machine.topology.links) link.concurrent_copies = 1;
  World world = machine.where_copies_hang([](const memory::Copy& copy) { return of(copy, 0); })
                    .with_data({{"A", 1_MiB}, {"B", 1_MiB}});
  world.submit(reads("A"));
  world.submit(reads("B"));
  EXPECT_THAT(report_of(world.situation_when_stalled(10s)),
              HasSubstr("B (1024 KiB), on its way from disk to device 0, behind other copies of that link"));
}

// A is evicted to make room for C, but its write-back hangs.
TEST(SimulatedStalls, AWriteBackThatHangs) {
  World world =
      one_device(2_MiB)
          .where_copies_hang([](const memory::Copy& copy) { return copy.cause == memory::Cause::eviction; })
          .with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  world.submit(updates("A"));
  world.submit(updates("B"));
  world.run();
  world.submit(updates("C"));
  EXPECT_THAT(
      report_of(world.situation_when_stalled(10s)),
      AllOf(HasSubstr("(C), submitted at"),
            HasSubstr("waits for memory in device 0: it lacks 1024 KiB. Of 2048 KiB, 0 bytes are free, "
                      "1024 KiB are being written back"),
            HasSubstr("a copy (eviction) of A (1024 KiB), on its way from device 0 to disk for 10 s")));
}

// The report for a task that waits for memory names the tasks that use it and the task that gets it first.
TEST(SimulatedStalls, MemoryHeldByATask) {
  World world = one_device(3_MiB).workers(3).with_data({{"A", 2_MiB}, {"B", 2_MiB}, {"C", 2_MiB}});
  const auto keeper = world.submit(updates("A"));
  world.hang(keeper);
  world.submit(updates("B"));
  world.submit(updates("C"));
  const engine::StatusReport situation = world.situation_when_stalled(10s);
  EXPECT_THAT(
      report_of(situation),
      AllOf(
          HasSubstr("waits for memory in device 0: it lacks 2048 KiB. Of 3072 KiB, 1024 KiB are free; freed "
                    "memory goes to it first"),
          HasSubstr("2048 KiB are used by (A), submitted at"), HasSubstr("the next is (B)")));
}

TEST(SimulatedStalls, ACommutativeDatumHeldByATask) {
  World world = one_device(8_MiB).workers(2).with_data({{"A", 1_MiB}});
  const auto keeper = world.submit(adds_to("A"));
  world.hang(keeper);
  world.submit(adds_to("A"));
  EXPECT_THAT(report_of(world.situation_when_stalled(10s)), HasSubstr("waits until (A), submitted at"));
}

TEST(SimulatedStalls, ALostWorker) {
  World world = devices({8_MiB, 8_MiB}).with_data({{"A", 1_MiB}});
  world.lose_worker(WorkerId{1});
  world.submit(reads("A"), 1);
  EXPECT_THAT(report_of(world.situation_when_stalled(10s)),
              AllOf(HasSubstr("1 task is ready and waits for its turn"), HasSubstr("; absent workers:"),
                    HasSubstr("worker 1 (device 1)")));
}

// A healthy slow copy is not a stall: it is not late.
TEST(SimulatedStalls, ASlowCopyIsNotAStall) {
  Machine machine = one_device(8_MiB);
  machine.slow(NodeId{1}, Machine::device(0), 1e5);  // 10 s
  World world = machine.where_copies_hang([](const memory::Copy&) { return true; }).with_data({{"A", 1_MiB}});
  world.submit(reads("A"));
  EXPECT_FALSE(world.situation_when_stalled(20s).stalled());
  EXPECT_TRUE(world.core()
                  .engine()
                  .situation({.datum = [](DatumId) { return "A"; },
                              .in_body = [](WorkerId) { return false; },
                              .now = world.now() + 200s})
                  .stalled());
}

}  // namespace fairlead::tests
