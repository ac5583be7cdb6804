// A parameterized graph that is stopped from outside: the disk is full when the graph needs or writes data,
// or another thread cancels it while it waits for other ranks. The run ends with an error on each rank, and
// the graph can be destroyed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/ptg.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "files_may_not_grow.hpp"
#include "on_ranks.hpp"

namespace fairlead::stopped {
namespace {

using testing::HasSubstr;
using tests::FilesMayNotGrow;
using Numbers = Tile<double>;

constexpr std::int64_t side = 64;  // a tile has 32 KiB

Config config_with(std::int64_t workers, Bytes memory) {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  config.set("bind-threads", false);
  return config;
}

/// One tile per rank: placement of the tasks and shape of their values.
TiledMatrix<double> tile_of_each_rank(Runtime& runtime) {
  return runtime.tiled<double>(
      "A", static_cast<std::int64_t>(runtime.ranks()) * side, side, TileSize{side, side},
      Distribution([](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row); }));
}

const auto fill = codelet("fill").cpu([](Out<Numbers> value) {
  for (std::int64_t j = 0; j < value.columns(); ++j)
    for (std::int64_t i = 0; i < value.rows(); ++i) value(i, j) = 1;
});
const auto look = codelet("look").cpu([](In<Numbers>) {});
const auto add = codelet("add").cpu([](In<Numbers> one, InOut<Numbers> sum) { sum(0, 0) += one(0, 0); });

class StoppedPtg : public testing::TestWithParam<const char*> {};

TEST_P(StoppedPtg, ReportsWhyNoDataCanBeCreated) {
  Config config = config_with(2, Bytes{1} << 20);
  config.set("scheduler", std::string(GetParam()));
  config.set("disk-directory", testing::TempDir());
  Runtime runtime(config);
  const auto matrix = runtime.tiled<double>("A", side, side, side);
  Flow flow(runtime);
  flow.submit(fill(matrix(0, 0)));
  flow.wait();
  std::string thrown;
  {
    ptg::Graph graph(runtime);
    const ptg::Index i("i");
    const auto at = graph.data(matrix);
    auto fills = graph.task("fill", i.in(0, 999));
    auto looks = graph.task("look", i.in(0, 999));
    fills.runs(fill, ptg::flow("v").from(ptg::fresh_like(at)));
    looks.runs(look, ptg::flow("v").from(fills["v"](i)));
    const FilesMayNotGrow limit(side * side * sizeof(double));
    try {
      graph.run();
    } catch (const Error& error) {
      thrown = error.what();
    }
    EXPECT_THROW(graph.run(), Error) << "and again";
  }
  EXPECT_THAT(thrown, HasSubstr(std::strerror(EFBIG)));
  flow.submit(fill(matrix(0, 0)));  // the runtime goes on
  flow.wait();
}
INSTANTIATE_TEST_SUITE_P(Policies, StoppedPtg, testing::Values("lws", "darts", "eager"),
                         [](const auto& instance) { return std::string(instance.param); });

// Rank 0 creates more than its memory holds; the other ranks wait for some of it.
void run_on_full_disk(Runtime& runtime, std::latch& flows_are_over) {
  const auto matrix = tile_of_each_rank(runtime);
  Flow flow(runtime);
  for (std::int32_t rank = 0; rank < 2; ++rank) flow.submit(fill(matrix(rank, 0)));
  flow.wait();
  flows_are_over.arrive_and_wait();
  ptg::Graph graph(runtime);
  const ptg::Index i("i"), k("k");
  const auto at = graph.data(matrix);
  constexpr std::int64_t made = 200;
  auto fills = graph.task("fill", i.in(0, made - 1));
  auto sums = graph.task("sum", i.in(0, made - 1));
  fills.runs(fill, ptg::flow("v").from(ptg::fresh_like(at))).at(at(0, 0));
  // In the other direction all data exist at once.
  sums.runs(add, ptg::flow("one").from(fills["v"](made - 1 - i)),
            ptg::flow("sum").from(at(1, 0)).when(i == 0).from(sums["sum"](i - 1)))
      .at(at(1, 0));
  graph.run();
}

TEST(StoppedPtgOverRanks, AFullDiskIsReportedByAllRanks) {
  const FilesMayNotGrow limit(8 * side * side * sizeof(double));
  std::latch flows_are_over(2);
  const auto thrown = tests::on_ranks(
      2, [](std::uint32_t rank) { return config_with(1, Bytes{1} << (rank == 0 ? 20 : 26)); },
      [&](Runtime& runtime) { run_on_full_disk(runtime, flows_are_over); });
  EXPECT_THAT(thrown[0], HasSubstr(std::strerror(EFBIG)));
  EXPECT_THAT(thrown[1], HasSubstr("the parameterized graph was aborted"));
}

// All tasks of one rank wait for the other, which is busy; a cancellation on the waiting rank is reported at
// once.
TEST(StoppedPtgOverRanks, AWaitingRankNoticesItsCancellation) {
  std::promise<void> waited;
  std::atomic<bool> begun{false}, cancelled_in_time{false};
  const auto thrown = tests::on_ranks(
      2, [](std::uint32_t) { return config_with(1, Bytes{1} << 20); },
      [&](Runtime& runtime) {
        const auto matrix = tile_of_each_rank(runtime);
        const auto be_long = codelet("be_long").cpu([&](Out<Numbers> value) {
          value(0, 0) = 1;
          begun = true;
          cancelled_in_time =
              waited.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
        });
        ptg::Graph graph(runtime);
        const auto at = graph.data(matrix);
        auto long_one = graph.task("long one");
        auto waits = graph.task("waits");
        long_one.runs(be_long, ptg::flow("v").from(at(0, 0))).at(at(0, 0));
        waits.runs(look, ptg::flow("v").from(long_one["v"]())).at(at(1, 0));
        if (runtime.rank() == 0) return graph.run();
        std::thread other([&] {
          while (!begun) std::this_thread::yield();
          for (int i = 0; i < 10'000; ++i) std::this_thread::yield();  // rank 1 has most likely gone to sleep
          graph.cancel();
        });
        try {
          graph.run();
        } catch (...) {
          other.join();
          waited.set_value();
          throw;
        }
        other.join();
      });
  EXPECT_TRUE(cancelled_in_time);
  EXPECT_THAT(thrown[1], HasSubstr("cancelled"));
  EXPECT_THAT(thrown[0], HasSubstr("cancelled"));
}

}  // namespace
}  // namespace fairlead::stopped
