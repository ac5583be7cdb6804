// Parameterized graphs over ranks that are threads here: values arrive as sent, even if they change
// afterwards, and errors reach all ranks.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::over_ranks {
namespace {

constexpr std::int64_t size = 64;
using Numbers = Vector<double>;

/// Runs a function per rank, each in a thread with its own runtime; returns the thrown messages.
std::vector<std::string> on_ranks(std::uint32_t count, const std::function<void(Runtime&)>& rank,
                                  Bytes memory = Bytes{1} << 20) {
  const auto config_of = [&](std::uint32_t i) {
    Config config;
    config.set("workers", 1 + i % 2);
    config.set("memory", memory);
    config.set("bind-threads", false);
    return config;
  };
  return tests::on_ranks(count, config_of, rank);
}
void expect_nothing_thrown(const std::vector<std::string>& thrown) {
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
}

/// Vectors numbered from 0, distributed cyclically over the ranks; each is filled with its number.
struct World {
  World(Runtime& of, std::int64_t count)
      : runtime(of), flow(of), distribution([ranks = of.ranks()](std::int32_t at, std::int32_t) {
          return static_cast<std::uint32_t>(at) % ranks;
        }) {
    for (std::int64_t i = 0; i < count; ++i) {
      const bool here = distribution.owner(static_cast<std::int32_t>(i), 0) == of.rank();
      handles.push_back(here ? of.vector<double>("number " + std::to_string(i), size)
                             : Handle<Numbers>({}, {size, 1}));
      if (!here) continue;
      auto hold = flow.acquire(write(handles.back()));
      for (std::int64_t k = 0; k < size; ++k) hold.get<0>()(k) = static_cast<double>(i);
    }
    flow.wait();
  }
  ptg::Collection data(ptg::Graph& graph) {
    return graph.data<Numbers>(
        "V", {static_cast<std::int64_t>(handles.size())},
        [&](const std::int64_t* at) { return handles[static_cast<std::size_t>(at[0])]; }, &distribution);
  }
  bool is_here(std::int64_t i) const {
    return distribution.owner(static_cast<std::int32_t>(i), 0) == runtime.rank();
  }
  /// -1 if the elements differ.
  double value(std::int64_t i) {
    auto hold = flow.acquire(read(handles[static_cast<std::size_t>(i)]));
    const auto elements = hold.get<0>();
    for (std::int64_t k = 1; k < size; ++k)
      if (elements(k) != elements(0)) return -1;
    return elements(0);
  }
  Runtime& runtime;
  Flow flow;
  Distribution distribution;
  std::vector<Handle<Numbers>> handles;
};

const auto increment = codelet("increment").cpu([](InOut<Numbers> v) {
  for (std::int64_t k = 0; k < v.size(); ++k) v(k) += 1;
});
const auto add = codelet("add").cpu([](In<Numbers> from, InOut<Numbers> to) {
  for (std::int64_t k = 0; k < to.size(); ++k) to(k) += from(k);
});

// Ranges of receivers beyond their space at both ends, an end without a condition, and a second end that
// never applies.
TEST(PtgOverRanks, OutputsToTasksThatDoNotExistAreSkippedOnRequest) {
  for (const bool skip : {true, false})
    for (std::uint32_t ranks = 1; ranks <= 3; ++ranks) {
      std::array<double, 16> found{};
      const auto thrown = on_ranks(ranks, [&](Runtime& runtime) {
        World world(runtime, 16);
        ptg::Graph graph(runtime);
        const ptg::Collection V = world.data(graph);
        const ptg::Index i("i"), m("m");
        const auto step = codelet("step").cpu([](InOut<Numbers> x) {
          for (std::int64_t k = 0; k < size; ++k) x(k) += 1;
        });
        const auto add = codelet("add").cpu([](In<Numbers> x, InOut<Numbers> y) {
          for (std::int64_t k = 0; k < size; ++k) y(k) += x(k);
        });
        auto giver = graph.task("giver", i.in(0, 5));
        auto reader = graph.task("reader", i.in(0, 5), m.in(3, 5));
        giver.at(V(i)).runs(step, ptg::flow("x").from(V(i)).to(reader["x"](i, m), m.in(0, 9)));
        reader.at(V(m + 6)).runs(add, ptg::flow("x").from(giver["x"](i)),
                                 ptg::flow("y")
                                     .from(V(m + 6))
                                     .when(i == 0)
                                     .from(reader["y"](i - 1, m))
                                     .to(reader["y"](i + 1, m))
                                     .to(reader["y"](i + 7, m)));
        if (skip) {
          giver.skip_missing_receivers();
          reader.skip_missing_receivers();
        }
        graph.run();
        for (std::int64_t k = 9; k < 12; ++k)
          if (world.is_here(k)) found[static_cast<std::size_t>(k)] = world.value(k);
      });
      if (!skip) {
        EXPECT_NE(fmt::format("{}", fmt::join(thrown, "")).find("there is no such task"), std::string::npos);
        continue;
      }
      expect_nothing_thrown(thrown);
      for (std::size_t k = 9; k < 12; ++k) EXPECT_EQ(found[k], static_cast<double>(k) + 21) << ranks;
    }
}

// DAGuE (Bosilca et al. 2012), Figure 4, with one datum that is passed back and forth.
TEST(PtgOverRanks, PingPong) {
  constexpr std::int64_t rounds = tests::thread_sanitized ? 100 : 300;
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    World world(runtime, 2);
    ptg::Graph graph(runtime);
    const ptg::Index k("k");
    const auto V = world.data(graph);
    auto ping = graph.task("ping", k.in(0, rounds));
    auto pong = graph.task("pong", k.in(0, rounds - 1));
    auto last = graph.task("last");
    ping.runs(increment, ptg::flow("A").from(V(0)).when(k == 0).from(pong["A"](k - 1))).at(V(0));
    pong.runs(increment, ptg::flow("A").from(ping["A"](k))).at(V(1));
    last.runs(add, ptg::flow("from").from(ping["A"](rounds)), ptg::flow("to").from(V(1))).at(V(1));
    graph.run();
    if (runtime.rank() == 1) {
      EXPECT_EQ(world.value(1), 1 + 2 * rounds + 1);
    }
  }));
}

// Tasks of all ranks read each value before the next task of its own rank changes it.
TEST(PtgOverRanks, AValueIsNotChangedWhileOtherRanksReadIt) {
  constexpr std::int64_t steps = tests::thread_sanitized ? 25 : 60;
  for (const std::uint32_t ranks : {2u, 3u, 5u})
    expect_nothing_thrown(on_ranks(ranks, [&](Runtime& runtime) {
      const std::int64_t count = runtime.ranks();
      World world(runtime, 2 * count);
      ptg::Graph graph(runtime);
      const ptg::Index k("k"), r("r");
      const auto V = world.data(graph);
      auto step = graph.task("step", k.in(0, steps - 1));
      auto sum = graph.task("sum", k.in(0, steps - 1), r.in(count, 2 * count - 1));
      step.runs(increment, ptg::flow("v").from(V(0)).when(k == 0).from(step["v"](k - 1))).at(V(0));
      sum.runs(add, ptg::flow("from").from(step["v"](k)),
               ptg::flow("to").from(V(r)).when(k == 0).from(sum["to"](k - 1, r)))
          .at(V(r));
      graph.run();
      graph.run();
      // For both runs: 1 + 2 + ... up to the number of all steps.
      EXPECT_EQ(world.value(count + runtime.rank()),
                static_cast<double>(count + runtime.rank() + steps * (2 * steps + 1)));
    }));
}

// A rank that is ahead notifies the others of its next run before they have started it.
TEST(PtgOverRanks, ManyShortRunsFollowOneAnother) {
  constexpr std::int64_t runs = tests::thread_sanitized ? 150 : 400;
  expect_nothing_thrown(on_ranks(3, [&](Runtime& runtime) {
    const std::int64_t count = runtime.ranks();
    World world(runtime, count);
    ptg::Graph graph(runtime);
    const ptg::Index r("r");
    const auto V = world.data(graph);
    auto first = graph.task("first");
    auto others = graph.task("others", r.in(1, count - 1));
    first.runs(increment, ptg::flow("v").from(V(0))).at(V(0));
    others.runs(add, ptg::flow("from").from(first["v"]()), ptg::flow("to").from(V(r))).at(V(r));
    for (std::int64_t run = 0; run < runs; ++run) graph.run();
    const std::int64_t own = runtime.rank();
    EXPECT_EQ(world.value(own), static_cast<double>(own == 0 ? runs : own + runs * (runs + 1) / 2));
  }));
}

// All tasks wait for all tasks of the previous step, by controls; temporaries go to the next rank.
TEST(PtgOverRanks, ControlsAndTemporariesReachOtherRanks) {
  constexpr std::int64_t steps = 30;
  for (const std::uint32_t ranks : {1u, 2u, 4u}) {
    std::atomic<std::int64_t> began{0};
    std::atomic<bool> too_early{false};
    expect_nothing_thrown(on_ranks(ranks, [&](Runtime& runtime) {
      const std::int64_t count = runtime.ranks();
      World world(runtime, count);
      ptg::Graph graph(runtime);
      const ptg::Index k("k"), r("r"), q("q");
      const auto V = world.data(graph);
      const auto make = codelet("make").cpu([&](Out<Numbers> temporary, std::int64_t at) {
        if (began.load() < at * count) too_early = true;
        ++began;
        for (std::int64_t i = 0; i < temporary.size(); ++i) temporary(i) = static_cast<double>(at);
      });
      auto made = graph.task("made", k.in(0, steps - 1), r.in(0, count - 1));
      auto taken = graph.task("taken", k.in(0, steps - 1), r.in(0, count - 1));
      made.runs(make, ptg::flow("t").from(ptg::fresh_like(V)), k,
                ptg::control("all").from(taken(k - 1, q), q.in(0, count - 1)).when(k > 0))
          .at(V(r));
      taken
          .runs(add, ptg::flow("from").from(made["t"](k, count - 1 - r)),
                ptg::flow("to").from(V(r)).when(k == 0).from(taken["to"](k - 1, r)))
          .at(V(r));
      graph.run();
      EXPECT_EQ(world.value(runtime.rank()), static_cast<double>(runtime.rank() + steps * (steps - 1) / 2));
    }));
    EXPECT_FALSE(too_early);
  }
}

// A value changes on another rank and is stored in the datum that it came from, after all readers of the old
// value, which they have from its producer or from memory. The same applies if no task changes it.
TEST(PtgOverRanks, ValuesAreWrittenBackAfterEarlierReaders) {
  constexpr std::int64_t readers = 12, runs = 15;
  const auto nothing = codelet("nothing").cpu([](In<Numbers>) {});
  for (const bool by_a_task : {true, false})
    expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
      World world(runtime, 2 * readers + 2);  // the even ones are rank 0's
      ptg::Graph graph(runtime);
      const ptg::Index r("r"), k("k");
      const auto V = world.data(graph);
      auto begin = graph.task("begin");
      auto look = graph.task("look", r.in(1, readers));
      auto far = graph.task("far", k.in(1, 3));
      const auto from_begin = [&](const char* name) { return ptg::flow(name).from(begin["v"]()); };
      by_a_task ? begin.runs(increment, ptg::flow("v").from(V(0)))
                : begin.runs(nothing, ptg::flow("v").from(V(0)));
      begin.at(V(0));
      // The tasks run in sequence, each after the write-back of the previous value.
      look.runs(add, from_begin("from"), ptg::flow("to").from(V(2 * r)),
                ptg::control("late").from(far(3)).when(r == 1).from(look(r - 1)).when(r > 1))
          .at(V(2 * r));
      // The value goes back and forth, and forth again.
      far.runs(increment, from_begin("v").when(k == 1).from(far["v"](k - 1)).to(V(0)).when(k == 3))
          .at(V(k % 2));
      double expected = 0;
      for (std::int64_t run = 1; run <= runs; ++run) {
        graph.run();
        expected += static_cast<double>(run - 1) * (by_a_task ? 4 : 3) + (by_a_task ? 1 : 0);
        if (runtime.rank() != 0) continue;
        EXPECT_EQ(world.value(0), static_cast<double>(run * (by_a_task ? 4 : 3)));
        for (std::int64_t i = 1; i <= readers; ++i)
          EXPECT_EQ(world.value(2 * i), static_cast<double>(2 * i) + expected);
      }
    }));
}

// A datum that no task reads: its new value comes from another rank, and one value is stored in several data.
TEST(PtgOverRanks, ResultsOfOtherRanksAreStoredInTheirHome) {
  const auto make = codelet("make").cpu([](Out<Numbers> v, std::int64_t number) {
    for (std::int64_t k = 0; k < v.size(); ++k) v(k) = static_cast<double>(100 + number);
  });
  for (const std::uint32_t ranks : {1u, 2u, 3u})
    expect_nothing_thrown(on_ranks(ranks, [&](Runtime& runtime) {
      World world(runtime, 12);
      ptg::Graph graph(runtime);
      const ptg::Index i("i"), j("j");
      const auto V = world.data(graph);
      auto made = graph.task("made", i.in(0, 2));
      made.runs(make,
                ptg::flow("v")
                    .from(ptg::fresh_like(V))
                    .to(V(3 * i + j), j.in(0, 1))
                    .to(V(3 * i + 2))
                    .when(i == 1),
                i)
          .at(V(2 - i));
      graph.run();
      for (std::int64_t at = 0; at < 12; ++at) {
        if (!world.is_here(at)) continue;
        const bool left = at < 9 && (at % 3 < 2 || at / 3 == 1);
        EXPECT_EQ(world.value(at), static_cast<double>(left ? 100 + at / 3 : at)) << at;
      }
    }));
}

TEST(PtgOverRanks, ADistributionMustNameExistingRanks) {
  for (const std::string& text : on_ranks(2, [&](Runtime& runtime) {
         World world(runtime, 2);
         ptg::Graph graph(runtime);
         const ptg::Index i("i");
         const Distribution wrong([](std::int32_t, std::int32_t) { return 5u; });
         const auto V = graph.data<Numbers>(
             "V", {2},
             [&](const std::int64_t*) {
               return Handle<Numbers>({}, {size, 1});
             },
             &wrong);
         graph.task("alone", i.in(0, 1)).runs(increment, ptg::flow("v").from(V(i))).at(V(i));
         graph.run();
       }))
    EXPECT_NE(text.find("gives a datum to rank 5; there are 2"), std::string::npos) << text;
}

TEST(PtgOverRanks, AClassMustHaveAPlacement) {
  for (const std::string& text : on_ranks(2, [&](Runtime& runtime) {
         World world(runtime, 2);
         ptg::Graph graph(runtime);
         const ptg::Index i("i");
         graph.task("alone", i.in(0, 1)).runs(increment, ptg::flow("v").from(world.data(graph)(i)));
         graph.run();
       }))
    EXPECT_NE(text.find("over several ranks alone, defined at"), std::string::npos) << text;
}

TEST(PtgOverRanks, ATaskReadsOnlyMemoryOfItsRank) {
  for (const std::string& text : on_ranks(2, [&](Runtime& runtime) {
         World world(runtime, 2);
         ptg::Graph graph(runtime);
         const ptg::Index i("i");
         const auto V = world.data(graph);
         graph.task("alone", i.in(0, 1)).runs(increment, ptg::flow("v").from(V(1 - i))).at(V(i));
         graph.run();
       }))
    EXPECT_NE(text.find("which belongs to rank"), std::string::npos) << text;
}

// Ranks whose tasks have finished end without an error.
TEST(PtgOverRanks, ATaskWithoutInputIsReportedByItsRank) {
  for (const std::uint32_t ranks : {1u, 2u, 3u}) {
    std::atomic<int> line{0};
    const auto thrown = on_ranks(ranks, [&](Runtime& runtime) {
      World world(runtime, 6);
      ptg::Graph graph(runtime);
      const ptg::Index k("k");
      const auto V = world.data(graph);
      auto made = graph.task("made", k.in(0, 3));
      auto taken = graph.task("taken", k.in(0, 5));
      made.runs(increment, ptg::flow("v").from(V(k))).at(V(k));
      line.store(__LINE__ + 1);
      taken.runs(increment, ptg::flow("v").from(made["v"](k))).at(V(5 - k));
      graph.run();
    });
    for (std::size_t i = 0; i < ranks; ++i) {
      if (i == 2) {
        EXPECT_EQ(thrown[i], "");
        continue;
      }
      EXPECT_NE(thrown[i].find("unfinished tasks wait for data that no rank sends"), std::string::npos)
          << thrown[i];
      EXPECT_NE(thrown[i].find(" tasks wait for inputs that no task provides"), std::string::npos)
          << thrown[i];
      // Every rank names all tasks that can never start, on any rank, and the line.
      for (const int task : {4, 5}) {
        const std::string expected_error = fmt::format(
            "taken({0}), on rank {1}, can never start: its flow \"v\" comes from the flow \"v\" of "
            "made({0}), and there is no "
            "such task ({2}:{3})",
            task, (5 - task) % ranks, __FILE__, line.load());
        EXPECT_NE(thrown[i].find(expected_error), std::string::npos) << expected_error << " in\n"
                                                                     << thrown[i];
      }
    }
  }
}

TEST(PtgOverRanks, AnExceptionOfATaskReachesAllRanks) {
  const auto thrown = on_ranks(3, [&](Runtime& runtime) {
    World world(runtime, 3);
    ptg::Graph graph(runtime);
    const ptg::Index k("k");
    const auto V = world.data(graph);
    const auto fail = codelet("fail").cpu([](InOut<Numbers>, std::int64_t at) {
      if (at == 20) throw NumericalError("twenty is too much");
    });
    auto link = graph.task("link", k.in(0, 59));
    link.runs(fail, ptg::flow("v").from(V(0)).when(k == 0).from(link["v"](k - 1)), k).at(V(k % 3));
    graph.run();
  });
  for (const std::string& text : thrown)
    EXPECT_NE(text.find("twenty is too much"), std::string::npos) << text;
  EXPECT_NE(thrown[0].find("rank 2: "), std::string::npos) << thrown[0];
}

TEST(PtgOverRanks, CancellingOnOneRankEndsAllRanks) {
  const auto thrown = on_ranks(2, [&](Runtime& runtime) {
    World world(runtime, 2);
    ptg::Graph graph(runtime);
    const ptg::Index k("k");
    const auto V = world.data(graph);
    const auto cancel = codelet("cancel").cpu([&](InOut<Numbers>, std::int64_t at) {
      if (at == 11) graph.cancel();
    });
    auto link = graph.task("link", k.in(0, 1000));
    link.runs(cancel, ptg::flow("v").from(V(0)).when(k == 0).from(link["v"](k - 1)), k).at(V(k % 2));
    graph.run();
  });
  for (const std::string& text : thrown) EXPECT_NE(text, "");
}

TEST(PtgOverRanks, RequiresMemoryForTheLargestTaskAndTwoValues) {
  for (const std::string& text : on_ranks(
           2,
           [&](Runtime& runtime) {
             auto a = runtime.tiled<double>("A", 256, 128, 128, Distribution(CyclicMap{2, 1}));
             Flow flow(runtime);
             ptg::Graph graph(runtime);
             const ptg::Index i("i");
             const auto A = graph.data(a);
             const auto fill = codelet("fill").cpu([](Out<Tile<double>>) {});
             graph.task("fill", i.in(0, 1)).runs(fill, ptg::flow("A").from(A(i, 0))).at(A(i, 0));
             graph.run();
           },
           Bytes{256} << 10))
    EXPECT_NE(text.find("two values that come and go"), std::string::npos) << text;
}

TEST(PtgOverRanks, ValuesOfOtherRanksCountForSmallDevices) {
  const auto config_of = [](std::uint32_t) {
    Config config;
    config.set("workers", 1);
    config.set("memory", Bytes{1} << 20);
    config.set("devices", "emulated:memory=16KiB");
    config.set("bind-threads", false);
    return config;
  };
  const auto make = codelet("make")
                        .cpu([](Out<Numbers> v) {
                          for (std::int64_t k = 0; k < v.size(); ++k) v(k) = 3;
                        })
                        .emulated();
  const auto sum = codelet("sum")
                       .cpu([](In<Numbers> from, InOut<Numbers> to) {
                         for (std::int64_t k = 0; k < from.size(); ++k) to(0) += from(k);
                       })
                       .emulated();
  // Rank 0's vector is as large as the device; rank 1's, which the task needs too, is small.
  constexpr std::array<std::int64_t, 2> sizes{2048, 64};
  expect_nothing_thrown(tests::on_ranks(2, config_of, [&](Runtime& runtime) {
    Flow flow(runtime);
    std::vector<Handle<Numbers>> handles;
    for (std::uint32_t i = 0; i < 2; ++i)
      handles.push_back(i == runtime.rank() ? runtime.vector<double>(fmt::format("number {}", i), sizes[i])
                                            : Handle<Numbers>({}, {sizes[i], 1}));
    if (runtime.rank() == 1) {
      auto hold = flow.acquire(write(handles[1]));
      for (std::int64_t k = 0; k < 64; ++k) hold.get<0>()(k) = 1;
    }
    const Distribution distribution(
        [](std::int32_t at, std::int32_t) { return static_cast<std::uint32_t>(at); });
    ptg::Graph graph(runtime);
    const auto V = graph.data<Numbers>(
        "V", {2}, [&](const std::int64_t* at) { return handles[static_cast<std::size_t>(at[0])]; },
        &distribution);
    const ptg::Index k("k");
    auto made = graph.task("made");
    auto sums = graph.task("sums", k.in(0, 9));
    made.runs(make, ptg::flow("v").from(V(0))).at(V(0));
    sums.runs(sum, ptg::flow("from").from(made["v"]()),
              ptg::flow("to").from(V(1)).when(k == 0).from(sums["to"](k - 1)))
        .at(V(1));
    graph.run();
    if (runtime.rank() == 0) return;
    EXPECT_EQ(flow.acquire(read(handles[1])).get<0>()(0), 1 + 10 * 3 * 2048);
  }));
}

}  // namespace
}  // namespace fairlead::over_ranks
