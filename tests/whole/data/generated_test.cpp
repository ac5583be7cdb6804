// Matrices and vectors that are computed until something writes them, with real threads, memory and disk.
#include "whole/data/worlds.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "schedule/policies.hpp"
#include "whole/every_policy.hpp"

namespace fairlead {

namespace {

using Numbers = Tile<double>;

double element(std::int64_t i, std::int64_t j) { return static_cast<double>(1000 * i + j); }
const auto by_place = generated_by([](TileView<double> piece, std::int64_t row, std::int64_t column) {
  for (int j = 0; j < piece.columns(); ++j)
    for (int i = 0; i < piece.rows(); ++i) piece(i, j) = element(row + i, column + j);
});

/// Counts elements that are not what by_place makes, plus `more`.
struct Checker {
  std::atomic<int> wrong = 0;
  auto body() {
    return [this](In<Numbers> t, std::int64_t row, std::int64_t column, double more) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) wrong += t(i, j) != element(row + i, column + j) + more;
    };
  }
};
const auto add = [](InOut<Numbers> t, double more) {
  for (int j = 0; j < t.columns(); ++j)
    for (int i = 0; i < t.rows(); ++i) t(i, j) += more;
};

template <class Codelet>
void check_rows(Flow& flow, const Codelet& check, const TiledMatrix<double>& a, std::int32_t from,
                std::int32_t to, double more) {
  for (std::int32_t i = from; i < to; ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j)
      flow.submit(check(a(i, j), std::int64_t{i} * a.tile(), std::int64_t{j} * a.tile(), more));
}

Config one_worker(const char* memory, const char* devices = "") {
  Config config = settings(memory, devices);
  config.set("workers", "1");
  return config;
}

}  // namespace

// 64 tiles of 8 KiB, memory for 8 of them, one worker, which is the program's thread. All are read twice
// around; the least recently used tile is evicted first, so that no tile is resident when its turn comes
// again.
//   made: 2 x 64. Read and written: nothing, also by the flush.
TEST(Generated, IsNeverStoredIfItIsOnlyRead) {
  Runtime runtime(one_worker("64KiB"));
  const auto a = runtime.tiled<double>("A", 256, 256, 32, by_place);
  Checker checker;
  const auto check = codelet("check").cpu(checker.body());
  Flow flow(runtime);
  check_rows(flow, check, a, 0, 8, 0);
  check_rows(flow, check, a, 0, 8, 0);
  flow.wait();
  runtime.flush();
  EXPECT_EQ(checker.wrong, 0);
  EXPECT_EQ(runtime.statistics().generated.copies, 128u);
  EXPECT_EQ(runtime.statistics().generated.bytes, 128u * 8192);
  EXPECT_EQ(runtime.disk_traffic().read, 0u);
  EXPECT_EQ(runtime.disk_traffic().written, 0u);
}

// The same matrix. Tasks change the first row of tiles, which fills the memory, then read the other seven rows,
// then the first.
//   made: each of the 64 once. Written: the 8 changed ones, once, when the others need their space.
//   read: these 8, whose value is stored now.
TEST(Generated, StoresOnlyTheWrittenTiles) {
  for (const char* workers : {"1", "3"}) {
    Config config = one_worker("64KiB");
    config.set("workers", workers);
    Runtime runtime(config);
    const auto a = runtime.tiled<double>("A", 256, 256, 32, by_place);
    Checker checker;
    const auto check = codelet("check").cpu(checker.body());
    Flow flow(runtime);
    for (int j = 0; j < 8; ++j) flow.submit(codelet("add").cpu(add)(a(0, j), 0.5));
    flow.wait();
    check_rows(flow, check, a, 1, 8, 0);
    flow.wait();
    check_rows(flow, check, a, 0, 1, 0.5);
    flow.wait();
    runtime.flush();
    EXPECT_EQ(checker.wrong, 0);
    EXPECT_EQ(runtime.statistics().generated.copies, 64u);
    EXPECT_EQ(runtime.disk_traffic().written, 8u * 8192);
    EXPECT_EQ(runtime.disk_traffic().read, 8u * 8192);
  }
}

// Everything fits, and tasks on written data use the fast path: tiles that were only read do not count as
// written, also in the flush. The 8 changed ones are written back once.
TEST(Generated, DoesNotCountAsWrittenIfAllFits) {
  for (const char* fast_path : {"true", "false"}) {
    Config config = one_worker("16MiB");
    config.set("scheduler", "lws");
    config.set("fast-path", fast_path);
    config.set("workers", "3");
    Runtime runtime(config);
    const auto a = runtime.tiled<double>("A", 256, 256, 32, by_place);
    Checker checker;
    const auto check = codelet("check").cpu(checker.body());
    const auto more = codelet("add").cpu(add);
    Flow flow(runtime);
    for (int round = 1; round <= 20; ++round) {
      for (int j = 0; j < 8; ++j) flow.submit(more(a(0, j), 0.5));
      check_rows(flow, check, a, 0, 1, round * 0.5);
      check_rows(flow, check, a, 1, 8, 0);
      if (round % 7 == 0) flow.wait();
    }
    flow.wait();
    runtime.flush();
    EXPECT_EQ(checker.wrong, 0);
    EXPECT_EQ(runtime.statistics().generated.copies, 64u);
    EXPECT_EQ(runtime.disk_traffic().written, 8u * 8192);
    EXPECT_EQ(runtime.disk_traffic().read, 0u);
  }
}

// Tiles of 33 x 31 elements pass buffers of a page, which end inside of columns; of those at the border only
// a part exists.
TEST(Generated, ReachesDevicesInPieces) {
  for (const char* memory : {"64KiB", "1MiB"}) {
    Runtime runtime(settings(memory, "emulated:memory=64KiB"));
    const auto a = runtime.tiled<double>("A", 200, 190, 33, by_place);
    const auto m = runtime.matrix<double>("M", 77, 41, by_place);
    Checker checker;
    const auto on_core = codelet("check").cpu(checker.body());
    const auto on_device = codelet("check").emulated(checker.body());
    Flow flow(runtime);
    check_rows(flow, on_device, a, 0, a.tile_rows(), 0);
    for (int i = 0; i < 3; ++i) flow.submit(codelet("add").emulated(add)(a(i, i), 0.5));
    for (int i = 0; i < 3; ++i) flow.submit(on_core(a(i, i), i * 33, i * 33, 0.5));
    flow.submit(on_device(m, 0, 0, 0.0));
    flow.submit(on_core(m, 0, 0, 0.0));
    check_rows(flow, on_core, a, 3, a.tile_rows(), 0);
    flow.wait();
    EXPECT_EQ(checker.wrong, 0) << memory;
    // Changed tiles may have been written and read again; the others were not stored.
    runtime.flush();
    EXPECT_LE(runtime.disk_traffic().written, 2u * 3 * 12288);
  }
}

TEST(Generated, MayBeAVector) {
  Runtime runtime(settings("1MiB", "emulated:memory=64KiB"));
  const auto squares = generated_by([](VectorView<float> piece, std::int64_t first) {
    for (std::int64_t i = 0; i < piece.size(); ++i) piece(i) = static_cast<float>((first + i) * (first + i));
  });
  const auto x = runtime.vector<float>("x", 3001, squares);
  std::atomic<int> wrong = 0;
  const auto check = [&wrong](In<Vector<float>> v, float more) {
    for (std::int64_t i = 0; i < v.size(); ++i) wrong += v(i) != static_cast<float>(i * i) + more;
  };
  Flow flow(runtime);
  flow.submit(codelet("check").cpu(check)(x, 0.0f));
  flow.submit(codelet("check").emulated(check)(x, 0.0f));
  flow.submit(codelet("add").emulated([](InOut<Vector<float>> v) {
    for (std::int64_t i = 0; i < v.size(); ++i) v(i) += 1;
  })(x));
  flow.submit(codelet("check").cpu(check)(x, 1.0f));
  flow.wait();
  EXPECT_EQ(wrong, 0);
  runtime.remove(x);
}

// The program acquires an unused tile: its own thread generates it, if there is no other.
TEST(Generated, CanBeAcquired) {
  Runtime runtime(one_worker("64KiB"));
  const auto a = runtime.tiled<double>("A", 64, 64, 32, by_place);
  Flow flow(runtime);
  {
    const auto hold = flow.acquire(update(a(1, 0)));
    EXPECT_EQ(hold.get<0>()(3, 4), element(35, 4));
    hold.get<0>()(3, 4) = -1;
  }
  EXPECT_EQ(flow.acquire(read(a(1, 0))).get<0>()(3, 4), -1);
}

// Reductions and commutative tasks start with the generated value.
TEST(Generated, CanBeAddedTo) {
  for (const char* devices : {"", "emulated:memory=64KiB"}) {
    Runtime runtime(settings("1MiB", devices));
    const auto a = runtime.tiled<double>("A", 64, 64, 32, by_place);
    const auto more = [](auto t) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) += 1;
    };
    const auto reduce = codelet("reduce").cpu([more](Reduce<Numbers> t) { more(t); });
    const auto reduce_there = codelet("reduce").cpu([more](Reduce<Numbers> t) { more(t); }).emulated();
    const auto commute = codelet("commute").cpu([more](Commute<Numbers> t) { more(t); });
    Flow flow(runtime);
    for (int k = 0; k < 20; ++k) {
      flow.submit(reduce(a(0, 0)));
      if (*devices != '\0') flow.submit(reduce_there(a(1, 0)));
      flow.submit(commute(a(0, 1)));
    }
    flow.wait();
    EXPECT_EQ(flow.acquire(read(a(0, 0))).get<0>()(5, 7), element(5, 7) + 20);
    EXPECT_EQ(flow.acquire(read(a(0, 1))).get<0>()(5, 7), element(5, 39) + 20);
    if (*devices != '\0') {
      EXPECT_EQ(flow.acquire(read(a(1, 0))).get<0>()(5, 7), element(37, 7) + 20);
    }
  }
}

// Its generator throws for one tile: the tasks that need it fail and name it, all others run; asked again it
// fails again, and what overwrites it needs no generator.
TEST(Generated, FailsWithTheExceptionOfItsGenerator) {
  for (const char* devices : {"", "emulated:memory=64KiB"}) {
    Runtime runtime(settings("1MiB", devices));
    const auto a =
        runtime.tiled<double>("A", 64, 64, 32,
                              generated_by([make = by_place.function](TileView<double> piece,
                                                                      std::int64_t row, std::int64_t column) {
                                if (row >= 32 && column < 32)
                                  throw std::range_error("there is nothing below");
                                make(piece, row, column);
                              }));
    std::atomic<int> ran = 0;
    const auto body = [&ran](In<Numbers>) { ++ran; };
    const auto use = *devices == '\0' ? codelet("use").cpu(body) : codelet("use").cpu(body).emulated();
    const auto there = codelet("use").emulated(body);
    for (int round = 0; round < 2; ++round) {
      Flow flow(runtime);
      for (const auto& tile : {a(0, 0), a(1, 0), a(0, 1), a(1, 1)})
        *devices == '\0' ? flow.submit(use(tile)) : flow.submit(there(tile));
      try {
        flow.wait();
        FAIL() << "the generator's failure got lost";
      } catch (const TaskError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("the task use(A[1,0]), submitted at"));
        EXPECT_THAT(error.what(),
                    testing::HasSubstr("the generator of A[1,0] threw: there is nothing below"));
        EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("more tasks failed")));
      }
      EXPECT_EQ(ran, 3 * (round + 1));
    }
    Flow flow(runtime);
    EXPECT_THROW((void)flow.acquire(read(a(1, 0))), TaskError);
    flow.submit(codelet("set").cpu([](Out<Numbers> t) { t(3, 3) = 4; })(a(1, 0)));
    flow.submit(use(a(1, 0)));
    flow.wait();
    EXPECT_EQ(ran, 7);
  }
}

// A generator that uses the runtime gets an error, as a body does.
TEST(Generated, RefusesAGeneratorThatUsesTheRuntime) {
  Runtime runtime(one_worker("64KiB"));
  Flow* flow = nullptr;
  const auto a = runtime.tiled<double>(
      "A", 32, 32, 32, generated_by([&](TileView<double>, std::int64_t, std::int64_t) { flow->wait(); }));
  Flow own(runtime);
  flow = &own;
  own.submit(codelet("use").cpu([](In<Numbers>) {})(a(0, 0)));
  try {
    own.wait();
    FAIL() << "the generator waited";
  } catch (const TaskError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the generator of A[0,0] threw: wait was called"));
  }
}

// While a tile is generated, and another waits for the only worker.
TEST(Generated, IsReportedInTheStatusMeanwhile) {
  Runtime runtime(one_worker("64KiB"));
  std::string status;
  const auto a = runtime.tiled<double>("A", 64, 32, 32,
                                       generated_by([&](TileView<double>, std::int64_t row, std::int64_t) {
                                         if (row == 0) status = runtime.status();
                                       }));
  Flow flow(runtime);
  flow.submit(codelet("use").cpu([](In<Numbers>, In<Numbers>) {})(a(0, 0), a(1, 0)));
  flow.wait();
  EXPECT_THAT(status, testing::HasSubstr("use(A[0,0], A[1,0]), submitted at"));
  EXPECT_THAT(status, testing::HasSubstr("A[0,0] (8192 bytes), made by its generator for RAM for "));
  EXPECT_THAT(status,
              testing::HasSubstr(
                  "A[1,0] (8192 bytes), made by its generator for RAM, behind other copies of that link"));
}

// Workers that sleep at once, and a chain that needs another tile at each step: a worker is always woken.
TEST(Generated, IsMadeByAWorkerThatSlept) {
  for (const char* devices : {"", "emulated:memory=64KiB"}) {
    Config config = settings("64KiB", devices);
    config.set("workers", "4");
    config.set("spin", 0);
    config.set("pipeline-depth", 1);
    Runtime runtime(config);
    const auto a = runtime.tiled<double>("A", 32 * 64, 32, 32, by_place);
    double sum = 0;
    const auto total = runtime.value("sum", sum);
    const auto body = [](In<Numbers> t, InOut<double> s) { *s += t(1, 1); };
    Flow flow(runtime);
    double expected = 0;
    for (int step = 0; step < 1000; ++step) {
      const std::int32_t i = step * 7 % 64;
      if (*devices == '\0') {
        flow.submit(codelet("step").cpu(body)(a(i, 0), total));
      } else {
        flow.submit(codelet("step").emulated(body)(a(i, 0), total));
      }
      expected += element(32 * i + 1, 1);
    }
    flow.wait();
    runtime.flush();
    EXPECT_EQ(sum, expected);
    EXPECT_GT(runtime.statistics().generated.copies, 500u);
  }
}

TEST(Generated, CannotBeSplit) {
  Runtime runtime(one_worker("64KiB"));
  const auto m = runtime.matrix<double>("M", 64, 64, by_place);
  EXPECT_THROW((void)runtime.split(m, 64, 8), UsageError);
}

// Cancelled in the middle, and destroyed in the middle: tiles being generated are waited for. Half of the tasks
// wait for a gate that opens after the flow was cancelled: these never run.
TEST(Generated, MayBeCancelledAndDestroyed) {
  for (int round = 0; round < 20; ++round) {
    Config config = settings("64KiB", round % 2 == 0 ? "" : "emulated:memory=64KiB");
    config.set("workers", 1 + round % 3);
    Runtime runtime(config);
    const auto a = runtime.tiled<double>("A", 256, 256, 32, by_place);
    Checker checker;
    std::atomic<bool> open = false;
    std::atomic<int> passed = 0;
    int state = 0;
    const auto gate = runtime.value("gate", state);
    const auto check = round % 2 == 0 ? codelet("check").cpu(checker.body())
                                      : codelet("check").cpu(checker.body()).emulated();
    const auto behind = codelet("behind").cpu([&](In<Numbers>, In<int>) { ++passed; });
    Flow flow(runtime);
    flow.submit(codelet("gate").cpu([&](Out<int>) { open.wait(false); })(gate));
    check_rows(flow, check, a, 0, 8, 0);
    for (int i = 0; i < 8; ++i) flow.submit(behind(a(i, i), gate));
    const bool cancelled = round % 4 < 2;
    if (cancelled) flow.cancel();
    open = true;
    open.notify_all();
    if (cancelled) {
      EXPECT_THROW(flow.wait(), TaskError);
      EXPECT_EQ(passed, 0);
    }
    EXPECT_EQ(checker.wrong, 0);
  }
}

// Random programs in which some tiles begin as they are made: read, changed, overwritten, with memory for a
// few of them, by every policy, on cores and on a device. What the program's order demands is what is read.
TEST(Generated, GivesTheValuesOfASequentialRun) {
  constexpr int side = 6;
  std::uint64_t made = 0;
  for (const std::string& policy : tests::every_policy())
    for (const std::uint64_t seed : tests::seeds_for(policy, 1, 6, tests::thread_sanitized ? 3 : 6)) {
      Random random(seed);
      const bool device = random.once_in(2);
      // In one of three all fits, so that tasks may use the fast path.
      Config config = settings(seed % 3 == 0 ? "1MiB" : "64KiB", device ? "emulated:memory=72KiB" : "");
      config.set("workers", static_cast<std::int64_t>(1 + seed % 3));
      config.set("scheduler", policy);
      Runtime runtime(config);
      const auto a = runtime.tiled<double>("A", side * 32, side * 32, 32, by_place);
      std::vector<double> more(side * side, 0);
      Checker checker;
      const auto here = codelet("check").cpu(checker.body());
      const auto there = codelet("check").emulated(checker.body());
      const auto both =
          codelet("two").cpu([](In<Numbers> x, InOut<Numbers> y) { y(0, 0) += x(0, 0) - x(0, 0); });
      Flow flow(runtime);
      for (int t = 0; t < 300; ++t) {
        const auto i = static_cast<std::int32_t>(random.below(side)),
                   j = static_cast<std::int32_t>(random.below(side));
        double& added = more[static_cast<std::size_t>(i * side + j)];
        const bool on_device = device && random.once_in(2);
        switch (random.below(6)) {
          case 0:
            added += 0.5;
            flow.submit(on_device ? codelet("add").emulated(add)(a(i, j), 0.5)
                                  : codelet("add").cpu(add)(a(i, j), 0.5));
            break;
          case 1:
            if (const std::int32_t k = (i + 1) % side; k != i) flow.submit(both(a(i, j), a(k, j)));
            break;
          default:
            flow.submit((on_device ? there : here)(a(i, j), i * 32, j * 32, added));
        }
      }
      flow.wait();
      ASSERT_EQ(checker.wrong, 0) << policy << ", seed " << seed;
      made += runtime.statistics().generated.copies;
    }
  EXPECT_GT(made, 500u);
}

}  // namespace fairlead
