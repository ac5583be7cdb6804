// The events of each thread that enters are served in order, by the thread itself or by the holder of the lock. A
// completion is always served before the tasks that it makes ready.
#include "engine/event_queue.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace fairlead::engine {
namespace {

class Recording final : public Server {
 public:
  void serve(Event* events, Commands&) noexcept override {
    for (Event* event = events; event != nullptr; event = event->next) served.push_back(event);
  }
  void follow(Commands&) noexcept override { ++batches; }
  void fail(std::exception_ptr, Commands& out) noexcept override { out.stopped = true; }

  std::vector<Event*> served;  // under the entrance's lock
  int batches = 0;
};

class Sleeping final : public World {
 public:
  void launch(WorkerId, Task&) override {}
  void recall(WorkerId, Task&) override {}
  void start(memory::Copy&) override {}
  void wake(WakeTarget who) noexcept override { woken += who.kind == WakeTarget::Kind::any_worker; }

  int woken = 0;
};

struct House {
  Recording server;
  Sleeping world;
  PendingDeliveries deliveries;
  EventQueue entrance{server, world, deliveries, 1};
  Commands out;
  Event finished, ready;

  void finish(std::exception_ptr thrown = nullptr) {
    EventChain over, released;
    over.append(finished);
    entrance.finish(
        over, released,
        [&] {
          if (thrown != nullptr) std::rethrow_exception(thrown);
          released.append(ready);
        },
        out);
  }
};

}  // namespace

TEST(EventQueue, ServesCompletionsBeforeTheTasksThatTheyMakeReady) {
  House house;
  house.finish();
  EXPECT_EQ(house.server.served, (std::vector{&house.finished, &house.ready}));
  EXPECT_EQ(house.server.batches, 1);
  EXPECT_TRUE(house.deliveries.none());
}

// The other thread's task was the last but one on which the ready task waited.
TEST(EventQueue, ServesCompletionsOfOtherThreadsBeforeTheTasksThatTheyHelpedToMakeReady) {
  House house;
  Event others;
  EventChain over, released;
  over.append(house.finished);
  house.entrance.finish(
      over, released,
      [&] {
        std::thread([&] {
          EventChain events;
          events.append(others);
          Commands none;
          house.entrance.enter(events, none);  // does not wait
        }).join();
        released.append(house.ready);
      },
      house.out);
  EXPECT_EQ(house.server.served, (std::vector{&house.finished, &others, &house.ready}));
}

TEST(EventQueue, LeavesBothInThisOrderToTheHolderOfTheLock) {
  House house;
  {
    const EventQueue::Guard guard{house.entrance};
    std::thread([&] { house.finish(); }).join();  // does not wait
    EXPECT_TRUE(house.server.served.empty());
    EXPECT_TRUE(house.deliveries.none());
  }
  EXPECT_EQ(house.world.woken, 1);  // otherwise no thread might serve them
  EventChain nothing;
  house.entrance.enter(nothing, house.out);
  EXPECT_EQ(house.server.served, (std::vector{&house.finished, &house.ready}));
}

TEST(EventQueue, StopsTheRunIfNothingCanBeReleased) {
  House house;
  house.finish(std::make_exception_ptr(std::bad_alloc()));
  EXPECT_TRUE(house.out.stopped);
  EventChain events;
  house.entrance.enter_blocking(events, house.out);  // the lock was released
}

TEST(EventQueue, WakesAWaiterForQuiescenceWhenACompletionIsDelivered) {
  House house;
  house.deliveries.request_quiescence(true);
  {
    const EventQueue::Guard guard{house.entrance};
    std::thread([&] { house.finish(); }).join();
  }
  EXPECT_TRUE(house.out.quiet);
}

TEST(EventQueue, CountsTheEventsAppliedForEachReporter) {
  House house;
  EXPECT_EQ(house.entrance.applied(0), 0u);
  house.entrance.count_applied(0);
  EXPECT_EQ(house.entrance.applied(0), 1u);
}

}  // namespace fairlead::engine
