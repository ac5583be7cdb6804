// Flows over ranks that are threads here: each rank submits all tasks, and the values are those of the
// sequential program.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/gather.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "front/flow/not_copied.hpp"
#include "front/runtime/runtime_access.hpp"
#include "net/communicator.hpp"
#include "on_ranks.hpp"

namespace fairlead::flow_over_ranks {
namespace {

using Element = Tile<double>;
constexpr std::int32_t side = 40;

std::vector<std::string> on_ranks(std::uint32_t count, const std::function<void(Runtime&)>& rank,
                                  Bytes memory = Bytes{1} << 20, std::uint64_t tree = 0, Bytes eager = 2048) {
  const auto config_of = [&](std::uint32_t i) {
    Config config;
    config.set("workers", 1 + i % 2);
    config.set("memory", memory);
    config.set("bind-threads", false);
    config.set("broadcast-tree", tree);
    config.set("eager-limit", eager);
    return config;
  };
  return tests::on_ranks(count, config_of, rank);
}
void expect_nothing_thrown(const std::vector<std::string>& thrown) {
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
}

/// A row of tiles that are distributed cyclically.
TiledMatrix<double> row_of(Runtime& runtime, std::int32_t count) {
  return runtime.tiled<double>("A", side, std::int64_t{side} * count, side,
                               Distribution([ranks = runtime.ranks()](std::int32_t, std::int32_t column) {
                                 return static_cast<std::uint32_t>(column) % ranks;
                               }));
}

const auto set = codelet("set").cpu([](Out<Element> t, double value) {
  for (std::int32_t i = 0; i < t.rows(); ++i)
    for (std::int32_t j = 0; j < t.columns(); ++j) t(i, j) = value;
});
const auto add = codelet("add").cpu([](In<Element> from, InOut<Element> to) {
  for (std::int32_t i = 0; i < to.rows(); ++i)
    for (std::int32_t j = 0; j < to.columns(); ++j) to(i, j) += from(i, j);
});

/// -1 if the elements differ.
double value_of(Flow& flow, const Handle<Element>& handle) {
  auto hold = flow.acquire(read(handle));
  const auto tile = hold.get<0>();
  for (std::int32_t i = 0; i < tile.rows(); ++i)
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      if (tile(i, j) != tile(0, 0)) return -1;
  return tile(0, 0);
}

// One rank destroys the matrix before another has submitted its readers.
TEST(FlowsOverRanks, ADestroyedMatrixIsStillReadOnOtherRanks) {
  std::atomic<bool> going{false};
  double seen = 0;
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    const auto look = codelet("look").cpu([&](In<Element> t) { seen = t(side - 1, side - 1); });
    Flow flow(runtime);
    if (runtime.rank() == 1)
      while (!going) std::this_thread::yield();
    {
      auto a = row_of(runtime, 2);
      flow.submit(set(a(0, 0), 7.0));
      flow.submit(look(a(0, 0)).on_rank(1));
      going = true;
    }
    flow.wait();
  }));
  EXPECT_EQ(seen, 7);
}

TEST(FlowsOverRanks, AChainOfTasksOverTilesOfBothRanks) {
  constexpr int steps = 50;
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 2);
    Flow flow(runtime);
    flow.submit(set(a(0, 0), 1.0));
    flow.submit(set(a(0, 1), 1.0));
    for (int i = 0; i < steps; ++i) flow.submit(add(a(0, i % 2), a(0, (i + 1) % 2)));
    flow.wait();
    double values[2] = {1, 1};
    for (int i = 0; i < steps; ++i) values[(i + 1) % 2] += values[i % 2];
    EXPECT_EQ(value_of(flow, a(0, static_cast<std::int32_t>(runtime.rank()))), values[runtime.rank()]);
  }));
}

/// The traffic of this rank, read while its network is idle.
net::NetworkTraffic traffic_of(Runtime& runtime) {
  net::NetworkTraffic traffic;
  for (int tries = 0; tries < 1000 && traffic == net::NetworkTraffic{}; ++tries) {
    traffic = front::communicator_of(runtime)->traffic();
    std::this_thread::yield();
  }
  return traffic;
}

// All ranks read one tile many times: each version is sent once to each rank.
TEST(FlowsOverRanks, AVersionIsSentOnceToEachRank) {
  constexpr std::uint32_t ranks = 4;
  constexpr int versions = 3, readers = 25;
  std::atomic<std::size_t> payloads{0}, bytes{0};
  expect_nothing_thrown(on_ranks(ranks, [&](Runtime& runtime) {
    auto a = row_of(runtime, 2 * static_cast<std::int32_t>(ranks));
    Flow flow(runtime);
    for (std::int32_t i = 0; i < a.tile_columns(); ++i) flow.submit(set(a(0, i), 0.0));
    for (int version = 1; version <= versions; ++version) {
      flow.submit(set(a(0, 0), static_cast<double>(version)));
      for (int i = 0; i < readers; ++i)
        for (std::int32_t to = 1; to < a.tile_columns(); ++to) flow.submit(add(a(0, 0), a(0, to)));
    }
    flow.wait();
    for (std::int32_t i = 1; i < a.tile_columns(); ++i)
      if (a.distribution()->owner(0, i) == runtime.rank()) {
        EXPECT_EQ(value_of(flow, a(0, i)), readers * (1 + 2 + 3));
      }
    const net::NetworkTraffic traffic = traffic_of(runtime);
    payloads += traffic.payloads;
    bytes += traffic.payload_bytes;
  }));
  EXPECT_EQ(payloads, versions * (ranks - 1));
  EXPECT_EQ(bytes, versions * (ranks - 1) * side * side * sizeof(double));
}

// A dropped copy is sent once more.
TEST(FlowsOverRanks, ADroppedCopyIsSentAgain) {
  std::atomic<std::size_t> payloads{0};
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 2);
    Flow flow(runtime);
    flow.submit(set(a(0, 0), 2.0));
    flow.submit(set(a(0, 1), 0.0));
    for (int i = 0; i < 10; ++i) {
      flow.submit(add(a(0, 0), a(0, 1)));
      if (i % 5 == 4) flow.drop_copies(a(0, 0));
    }
    flow.wait();
    if (runtime.rank() == 1) {
      EXPECT_EQ(value_of(flow, a(0, 1)), 20);
    }
    payloads += traffic_of(runtime).payloads;
  }));
  EXPECT_EQ(payloads, 2u);
}

// A task whose first output is private data runs on all ranks, each with the same value.
TEST(FlowsOverRanks, ATaskThatWritesPrivateDataRunsOnAllRanks) {
  const auto see = codelet("see").cpu([](In<Element> t, InOut<double> sum) { *sum += t(3, 4); });
  expect_nothing_thrown(on_ranks(3, [&](Runtime& runtime) {
    double sum = 0;
    const auto s = runtime.value("sum", sum);
    auto a = row_of(runtime, 5);
    Flow flow(runtime);
    for (std::int32_t i = 0; i < 5; ++i) flow.submit(set(a(0, i), static_cast<double>(i)));
    for (std::int32_t i = 0; i < 5; ++i) flow.submit(see(a(0, i), s));
    flow.wait();
    EXPECT_EQ(sum, 10);
  }));
}

TEST(FlowsOverRanks, PrivateTasksOfARankSendNothing) {
  const auto count = codelet("count").cpu([](InOut<double> x) { *x += 1; });
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    double x = 0;
    const auto own = runtime.value("x", x);
    Flow flow(runtime);
    for (std::uint32_t i = 0; i < 10 * (1 + runtime.rank()); ++i) flow.submit(count(own));
    flow.wait();
    EXPECT_EQ(x, 10 * (1 + runtime.rank()));
  }));
}

// Vectors and matrices without tiles have an owner, too.
TEST(FlowsOverRanks, SingleDataHaveAnOwner) {
  const auto fill = codelet("fill").cpu([](Out<Vector<double>> v, double x) {
    for (std::int64_t i = 0; i < v.size(); ++i) v(i) = x + static_cast<double>(i);
  });
  const auto dot = codelet("dot").cpu([](In<Vector<double>> x, In<Vector<double>> y, Out<Element> result) {
    result(0, 0) = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) result(0, 0) += x(i) * y(i);
  });
  expect_nothing_thrown(on_ranks(3, [&](Runtime& runtime) {
    const auto x = runtime.vector<double>("x", 10, OwnedBy{0}),
               y = runtime.vector<double>("y", 10, OwnedBy{1});
    const auto r = runtime.matrix<double>("r", 1, 1, OwnedBy{2});
    {
      Flow flow(runtime);
      flow.submit(fill(x, 1.0));
      flow.submit(fill(y, 2.0));
      flow.submit(dot(x, y, r));
      flow.wait();
      double expected = 0;
      for (int i = 0; i < 10; ++i) expected += (1.0 + i) * (2.0 + i);
      if (runtime.rank() == 2) {
        EXPECT_EQ(value_of(flow, r), expected);
      }
    }
    runtime.remove(x);
    runtime.remove(y);
    runtime.remove(r);
  }));
}

TEST(FlowsOverRanks, OnlyTheOwnerAcquires) {
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 2);
    Flow flow(runtime);
    const auto own = static_cast<std::int32_t>(runtime.rank());
    {
      auto hold = flow.acquire(write(a(0, own)));
      for (std::int32_t j = 0; j < side; ++j)
        for (std::int32_t i = 0; i < side; ++i) hold.get<0>()(i, j) = own;
    }
    const auto refused = [&](auto&& acquire) {
      try {
        acquire();
        return std::string("nothing");
      } catch (const UsageError& error) {
        return std::string(error.what());
      }
    };
    EXPECT_NE(refused([&] {
                static_cast<void>(flow.acquire(read(a(0, 1 - own))));
              }).find("only the owner acquires a datum"),
              std::string::npos);
    flow.submit(add(a(0, 0), a(0, 1)));
    if (runtime.rank() == 0) {
      EXPECT_EQ(value_of(flow, a(0, 0)), 0);  // the others have it, and it is as it was
      EXPECT_NE(refused([&] {
                  static_cast<void>(flow.acquire(write(a(0, 0))));
                }).find("other ranks have that value"),
                std::string::npos);
    }
    flow.submit(add(a(0, 1), a(0, 0)).on_rank(1));
    if (runtime.rank() == 0) {
      EXPECT_NE(
          refused([&] { static_cast<void>(flow.acquire(read(a(0, 0)))); }).find("rank 1 has written it last"),
          std::string::npos);
    }
    flow.wait();
    EXPECT_EQ(value_of(flow, a(0, own)), 1);
    if (runtime.rank() == 0) flow.acquire(update(a(0, 0))).get<0>()(0, 0) = 1;
    flow.submit(add(a(0, 0), a(0, 1)));
    flow.wait();
    if (runtime.rank() == 1) {
      EXPECT_EQ(value_of(flow, a(0, 1)), 2);
    }
  }));
}

// ---- failures

TEST(FlowsOverRanks, AFailedTaskIsReportedOnAllRanks) {
  const auto fails =
      codelet("fails").cpu([](InOut<Element>) { throw std::runtime_error("it cannot be done"); });
  for (int i = 0; i < (tests::thread_sanitized ? 8 : 20); ++i) {
    const auto thrown = on_ranks(3, [&](Runtime& runtime) {
      auto a = row_of(runtime, 6);
      Flow flow(runtime);
      for (std::int32_t k = 0; k < 6; ++k) flow.submit(set(a(0, k), 1.0));
      for (int step = 0; step < 40; ++step) {
        flow.submit(add(a(0, step % 6), a(0, (step + 1) % 6)));
        if (step == 17) flow.submit(fails(a(0, 4)));  // rank 1's
      }
      flow.wait();
    });
    for (std::size_t rank = 0; rank < 3; ++rank)
      EXPECT_NE(thrown[rank].find("it cannot be done"), std::string::npos) << rank << ": " << thrown[rank];
    EXPECT_NE(thrown[0].find("rank 1"), std::string::npos) << thrown[0];
    EXPECT_NE(thrown[2].find("rank 1"), std::string::npos) << thrown[2];
  }
}

TEST(FlowsOverRanks, DifferentProgramsAreReportedWithRankTaskAndLine) {
  for (const int differs_at : {0, 7, 1500})
    for (const std::uint32_t other : {0u, 2u}) {
      const auto thrown = on_ranks(3, [&](Runtime& runtime) {
        auto a = row_of(runtime, 3);
        Flow flow(runtime);
        for (std::int32_t k = 0; k < 3; ++k) flow.submit(set(a(0, k), 1.0));
        for (int step = 0; step < 2000; ++step)
          if (step == differs_at && runtime.rank() == other)
            flow.submit(set(a(0, 0), 0.0));
          else
            flow.submit(set(a(0, 1), 0.0));
        flow.wait();
      });
      for (const std::string& text : thrown) {
        EXPECT_NE(text.find("do not run the same program"), std::string::npos) << text;
        EXPECT_NE(text.find("over_ranks_test.cpp:"), std::string::npos) << text;
        EXPECT_NE(text.find("the task set"), std::string::npos) << text;
        if (other == 2) {
          EXPECT_NE(text.find("ranks 0 and 2"), std::string::npos) << text;
        }
      }
    }
}

TEST(FlowsOverRanks, AnExceptionOnOneRankEndsTheFlowOnAllRanks) {
  const auto thrown = on_ranks(3, [&](Runtime& runtime) {
    auto a = row_of(runtime, 3);
    Flow flow(runtime);
    for (std::int32_t k = 0; k < 3; ++k) flow.submit(set(a(0, k), 1.0));
    if (runtime.rank() == 1) throw UsageError("I do not want to");
    for (int step = 0; step < 10; ++step) flow.submit(add(a(0, 1), a(0, 0)));
    flow.wait();
  });
  EXPECT_EQ(thrown[1], "I do not want to");
  for (const std::size_t rank : {0, 2})
    EXPECT_NE(thrown[rank].find("rank 1"), std::string::npos) << thrown[rank];
}

TEST(FlowsOverRanks, OtherRanksReceiveTheReasonOfAnAbort) {
  for (const bool gathers : {false, true}) {
    const auto thrown = on_ranks(3, [&](Runtime& runtime) {
      auto a = row_of(runtime, 3);
      Flow flow(runtime);
      for (std::int32_t k = 0; k < 3; ++k) flow.submit(set(a(0, k), 1.0));
      if (runtime.rank() == 1) {
        runtime.give_up("b.npy is too short");
        runtime.give_up("a second reason");
        throw UsageError("of this rank");
      }
      if (gathers) gather(runtime, std::array{0.0});
      for (int step = 0; step < 10; ++step) flow.submit(add(a(0, 1), a(0, 0)));
      flow.wait();
    });
    EXPECT_EQ(thrown[1], "of this rank");
    for (const std::size_t rank : {0, 2})
      EXPECT_NE(thrown[rank].find("rank 1: b.npy is too short"), std::string::npos) << thrown[rank];
  }
  Config config;
  config.set("bind-threads", false);
  Runtime alone(config);
  alone.give_up("no other rank");
  Flow flow(alone);
  flow.wait();
}

// The runtime cannot wait for the other ranks while the program holds data.
TEST(FlowsOverRanks, AFlowMayOutliveARuntimeDestroyedWithOpenHolds) {
  const std::vector<Rank> places = ranks_in_process(2);
  Config config;
  config.set("workers", 1);
  config.set("memory", Bytes{1} << 20);
  config.set("bind-threads", false);
  const auto rank = [&](std::uint32_t i) {
    std::optional<Runtime> runtime(std::in_place, config, places[i]);
    auto a = row_of(*runtime, 2);
    double x = 0;
    const auto own = runtime->value("x", x);
    Flow flow(*runtime);
    for (std::int32_t k = 0; k < 2; ++k) flow.submit(set(a(0, k), 1.0));
    flow.submit(add(a(0, 0), a(0, 1)));
    if (i == 1) return flow.wait();
    const auto hold = flow.acquire(write(own));
    runtime.reset();
  };
  std::thread other([&] { EXPECT_THROW(rank(1), RankError); });
  rank(0);
  other.join();
}

// The other ranks treat the outputs of the refused task as written.
TEST(FlowsOverRanks, ARefusedTaskIsReportedOnAllRanks) {
  const auto write = codelet("write").cpu([](Out<Element> t, const tests::NotCopied&) { t(0, 0) = 2; });
  const auto thrown = on_ranks(3, [&](Runtime& runtime) {
    auto a = row_of(runtime, 3);
    Flow flow(runtime);
    for (std::int32_t k = 0; k < 3; ++k) flow.submit(set(a(0, k), 1.0));
    bool refuses = false;
    auto call = write(a(0, 1), tests::NotCopied(refuses));
    refuses = runtime.rank() == 1;
    try {
      flow.submit(std::move(call));
      EXPECT_NE(runtime.rank(), 1u);
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("it cannot be copied"));  // and the program goes on
    }
    flow.submit(add(a(0, 1), a(0, 0)));
    flow.wait();
  });
  for (const std::string& text : thrown)
    EXPECT_NE(text.find("it cannot be copied"), std::string::npos) << text;
}

// As on one machine: the failed rank continues to submit, and its wait throws the failure of the task. The
// other ranks get it when they submit.
TEST(FlowsOverRanks, WaitThrowsTheFailureOnTheFailedRank) {
  const auto fail = codelet("fail").cpu([](InOut<Element>) { throw NumericalError("asked to fail"); });
  std::atomic<bool> other_has_heard{false};
  const auto thrown = on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 1);
    Flow flow(runtime);
    const auto submit_until = [&](const auto& done) {
      flow.submit(set(a(0, 0), 1.0));
      flow.submit(fail(a(0, 0)));
      while (!done()) flow.submit(set(a(0, 0), 2.0));
    };
    if (runtime.rank() == 1) {
      EXPECT_THROW(submit_until([] { return false; }), RankError);
      other_has_heard = true;
      return;
    }
    submit_until([&] { return other_has_heard.load(); });
    flow.submit(set(a(0, 0), 2.0));
    try {
      flow.wait();
    } catch (const TaskError& error) {
      EXPECT_THROW(std::rethrow_if_nested(error), NumericalError);
      throw;
    }
  });
  EXPECT_NE(thrown[0].find("asked to fail"), std::string::npos) << thrown[0];
  EXPECT_EQ(thrown[0].find("was aborted"), std::string::npos) << thrown[0];
}

// Data used by bodies may be declared after the flow and so be destroyed before any other wait.
TEST(FlowsOverRanks, NoBodyRunsAfterTheFailureOfAnotherRankIsReported) {
  const auto fail = codelet("fail").cpu([](InOut<Element>) { throw NumericalError("asked to fail"); });
  std::atomic<bool> begun{false};
  on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 1);
    int x = 0;
    const auto own = runtime.value("x", x);
    std::atomic<bool> over{false};
    const auto slow = codelet("slow").cpu([&](Out<int>) {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      over = true;
    });
    Flow flow(runtime);
    if (runtime.rank() == 1) flow.submit(slow(own));
    while (!begun) std::this_thread::yield();
    flow.submit(set(a(0, 0), 1.0));
    flow.submit(fail(a(0, 0)));
    if (runtime.rank() == 0) return flow.wait();
    EXPECT_THROW(for (;;) flow.submit(set(a(0, 0), 2.0)), RankError);
    EXPECT_TRUE(over);
  });
}

TEST(FlowsOverRanks, APrivateTaskMayBeRefusedLocally) {
  const auto look = codelet("look").cpu([](In<Element>, const tests::NotCopied&) {});
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 2);
    Flow flow(runtime);
    for (std::int32_t k = 0; k < 2; ++k) flow.submit(set(a(0, k), 1.0));
    bool refuses = false;
    auto call = look(a(0, 0), tests::NotCopied(refuses));
    refuses = runtime.rank() == 1;
    try {
      flow.submit(std::move(call).on_rank(1));
    } catch (const std::runtime_error&) {
    }
    flow.submit(add(a(0, 0), a(0, 1)));
    flow.wait();
    if (runtime.rank() == 1) {
      EXPECT_EQ(value_of(flow, a(0, 1)), 2);
    }
  }));
}

// A forwarding rank needs a value no later than the ranks that it forwards to. Rank 2 needs it last, after a
// result of rank 3.
TEST(FlowsOverRanks, ABroadcastTreeFollowsTheOrderOfNeed) {
  constexpr std::uint64_t tree = 2;
  for (int times = 0; times < 8; ++times) {  // names differ, and by them the order in trees of graphs
    std::atomic<int> walked_through{0};
    expect_nothing_thrown(on_ranks(
        4,
        [&](Runtime& runtime) {
          auto m = row_of(runtime, 4);
          Flow flow(runtime);
          const auto slowly = codelet("slowly").cpu([&](InOut<Element>) {
            while (walked_through.load() < 3) std::this_thread::yield();
          });
          for (int i = 0; i <= times; ++i) flow.submit(set(m(0, 0), 5.0));
          for (std::int32_t k = 1; k < 4; ++k) flow.submit(set(m(0, k), 1.0));
          flow.submit(slowly(m(0, 0)));
          flow.submit(add(m(0, 0), m(0, 1)));
          flow.submit(add(m(0, 0), m(0, 3)));
          flow.submit(add(m(0, 3), m(0, 2)));
          if (runtime.rank() == 2) {
            EXPECT_EQ(value_of(flow, m(0, 2)), 7);
          }
          flow.submit(add(m(0, 0), m(0, 2)));
          ++walked_through;
          flow.wait();
          if (runtime.rank() == 2) {
            EXPECT_EQ(value_of(flow, m(0, 2)), 12);
          }
        },
        Bytes{1} << 20, tree, 0));
  }
}

// Rank 1 still sends values of tasks it has submitted when rank 0 has left its flow and destroyed its
// codelets.
TEST(FlowsOverRanks, CodeletsMayBeDestroyedAfterAnotherRankFails) {
  std::atomic<bool> left{false};
  std::weak_ptr<int> kept_after_failure;
  const auto thrown = on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 2);
    if (runtime.rank() == 1) {
      Flow flow(runtime);
      flow.submit(set(a(0, 0), 1.0));
      front::communicator_of(runtime)->report_failure_async("it cannot be done");
      while (!left) std::this_thread::yield();
      return flow.wait();
    }
    {
      const auto token = std::make_shared<int>(0);
      kept_after_failure = token;
      const auto local = codelet("a task whose name is on the heap").cpu([token](Out<Element>) {});
      Flow flow(runtime);
      try {
        for (;;) flow.submit(local(a(0, 0)));
      } catch (const RankError&) {
      }
    }
    EXPECT_FALSE(kept_after_failure.expired());
    left = true;
  });
  EXPECT_NE(thrown[1].find("it cannot be done"), std::string::npos) << thrown[1];
  EXPECT_TRUE(kept_after_failure.expired());  // until its runtime ends
}

TEST(FlowsOverRanks, ACancelledFlowIsReportedOnAllRanks) {
  const auto thrown = on_ranks(2, [&](Runtime& runtime) {
    auto a = row_of(runtime, 2);
    Flow flow(runtime);
    for (std::int32_t k = 0; k < 2; ++k) flow.submit(set(a(0, k), 1.0));
    flow.wait();
    if (runtime.rank() == 1) flow.cancel();
    for (int step = 0; step < 10; ++step) flow.submit(add(a(0, step % 2), a(0, (step + 1) % 2)));
    flow.wait();
  });
  for (const std::string& text : thrown) EXPECT_NE(text, "");
}

// ---- random programs, compared with a sequential computation

/// One task: its accesses to the tiles of the row.
struct Step {
  enum class Kind : std::uint8_t { set, add, mix, sum, look, wait, drop } kind = Kind::set;
  std::int32_t a = 0, b = 0, c = 0;
  int on_rank = -1;
  double value = 0;
};

std::vector<Step> random_program(Random& random, std::int32_t tiles, std::uint32_t ranks,
                                 std::size_t length) {
  std::vector<Step> steps;
  for (std::int32_t i = 0; i < tiles; ++i)
    steps.push_back({.kind = Step::Kind::set, .a = i, .value = static_cast<double>(i + 1)});
  const auto tile = [&] {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(tiles)));
  };
  while (steps.size() < length) {
    Step step{.kind = static_cast<Step::Kind>(random.below(5)), .a = tile(), .b = tile(), .c = tile()};
    if (random.once_in(4)) step.on_rank = static_cast<int>(random.below(ranks));
    step.value = static_cast<double>(random.below(7));
    if (random.once_in(40)) step.kind = Step::Kind::wait;
    steps.push_back(step);
  }
  return steps;
}

/// Small whole numbers, so that every order of a sum gives the same result.
double bounded(double value) {
  return value > 1e6 ? value - 1e6 * static_cast<double>(static_cast<int>(value / 1e6)) : value;
}

const auto mix = codelet("mix").cpu([](In<Element> x, InOut<Element> y, InOut<Element> z) {
  for (std::int32_t i = 0; i < x.rows(); ++i)
    for (std::int32_t j = 0; j < x.columns(); ++j) {
      const double old = y(i, j);
      y(i, j) = bounded(x(i, j) + 2 * z(i, j));
      z(i, j) = bounded(old + 3);
    }
});
const auto add_bounded = codelet("add bounded").cpu([](In<Element> from, InOut<Element> to) {
  for (std::int32_t i = 0; i < to.rows(); ++i)
    for (std::int32_t j = 0; j < to.columns(); ++j) to(i, j) = bounded(to(i, j) + from(i, j));
});
const auto sum_into = codelet("sum into").cpu([](In<Element> x, In<Element> y, Out<Element> z) {
  for (std::int32_t i = 0; i < x.rows(); ++i)
    for (std::int32_t j = 0; j < x.columns(); ++j) z(i, j) = bounded(x(i, j) + y(i, j));
});
const auto look =
    codelet("look").cpu([](In<Element> x, InOut<double> seen) { *seen = bounded(*seen + x(0, 0)); });

struct Outcome {
  std::vector<double> tiles;
  double seen = 0;
};

Outcome one_after_the_other(const std::vector<Step>& steps, std::int32_t tiles) {
  Outcome it{std::vector<double>(static_cast<std::size_t>(tiles)), 0};
  const auto at = [&](std::int32_t i) -> double& { return it.tiles[static_cast<std::size_t>(i)]; };
  for (const Step& step : steps) {
    double &a = at(step.a), &b = at(step.b), &c = at(step.c);
    switch (step.kind) {
      case Step::Kind::set:
        a = step.value;
        break;
      case Step::Kind::add:
        if (step.a != step.b) b = bounded(b + a);
        break;
      case Step::Kind::mix:
        if (step.a != step.b && step.b != step.c && step.a != step.c) {
          const double old = b;
          b = bounded(a + 2 * c);
          c = bounded(old + 3);
        }
        break;
      case Step::Kind::sum:
        if (step.c != step.a && step.c != step.b) c = bounded(a + b);
        break;
      case Step::Kind::look:
        it.seen = bounded(it.seen + a);
        break;
      case Step::Kind::wait:
      case Step::Kind::drop:
        break;
    }
  }
  return it;
}

/// The same with a flow.
void submit_step(Flow& flow, TiledMatrix<double>& m, const Handle<double>& seen, const Step& step) {
  const auto t = [&](std::int32_t i) { return m(0, i); };
  const auto placed = [&](auto&& call) {
    step.on_rank < 0 ? flow.submit(call)
                     : flow.submit(std::move(call).on_rank(static_cast<std::uint32_t>(step.on_rank)));
  };
  switch (step.kind) {
    case Step::Kind::set:
      return placed(set(t(step.a), step.value));
    case Step::Kind::add:
      if (step.a != step.b) placed(add_bounded(t(step.a), t(step.b)));
      return;
    case Step::Kind::mix:
      if (step.a != step.b && step.b != step.c && step.a != step.c)
        placed(mix(t(step.a), t(step.b), t(step.c)));
      return;
    case Step::Kind::sum:
      if (step.c != step.a && step.c != step.b) placed(sum_into(t(step.a), t(step.b), t(step.c)));
      return;
    case Step::Kind::look:
      return flow.submit(look(t(step.a), seen));
    case Step::Kind::wait:
    case Step::Kind::drop:
      return flow.wait();
  }
}

void run_random_program(std::uint64_t seed) {
  Random random(seed);
  const auto ranks = static_cast<std::uint32_t>(2 + random.below(5));
  const auto tiles = static_cast<std::int32_t>(2 + random.below(12));
  const std::vector<Step> steps = random_program(random, tiles, ranks, 20 + random.below(150));
  const Outcome expected = one_after_the_other(steps, tiles);
  constexpr Bytes tile_bytes = 16384;  // in whole pages
  const Bytes memory = tile_bytes * (6 + random.below(6));
  const bool tight = random.once_in(2);
  const std::uint64_t tree = random.once_in(2) ? 2 + random.below(2) : 0;
  const Bytes eager = random.once_in(3) ? 16384 : 2048;
  expect_nothing_thrown(on_ranks(
      ranks,
      [&](Runtime& runtime) {
        Random own(seed * 31 + runtime.rank());
        double seen = 0;
        const auto s = runtime.value("seen", seen);
        auto m = row_of(runtime, tiles);
        {
          Flow flow(runtime);
          for (const Step& step : steps) {
            if (own.once_in(30)) std::this_thread::sleep_for(std::chrono::microseconds(own.below(300)));
            submit_step(flow, m, s, step);
          }
          flow.wait();
          for (std::int32_t i = 0; i < tiles; ++i)
            if (m.distribution()->owner(0, i) == runtime.rank()) {
              EXPECT_EQ(value_of(flow, m(0, i)), expected.tiles[static_cast<std::size_t>(i)])
                  << "tile " << i << ", seed " << seed;
            }
        }
        EXPECT_EQ(seen, expected.seen) << "seed " << seed;
      },
      tight ? memory : Bytes{1} << 20, tree, eager));
}

TEST(FlowsOverRanks, RandomProgramsGiveTheSequentialResults) {
  const std::uint64_t seeds = tests::many_cases() ? 200 : tests::thread_sanitized ? 15 : 25;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed)
    run_random_program(seed);
}

}  // namespace
}  // namespace fairlead::flow_over_ranks
