// Flows over ranks that are threads here: each walks through all tasks, and the values are those of the program's order.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "on_ranks.hpp"

namespace fairlead::flow_over_ranks {
namespace {

using Element = Tile<double>;
constexpr std::int32_t side = 16;

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

/// A row of tiles that are dealt out in turn.
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

/// -1 if its elements differ.
double value_of(Flow& flow, const Handle<Element>& handle) {
  auto hold = flow.acquire(read(handle));
  const auto tile = hold.get<0>();
  for (std::int32_t i = 0; i < tile.rows(); ++i)
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      if (tile(i, j) != tile(0, 0)) return -1;
  return tile(0, 0);
}

TEST(FlowsOverRanks, AChainOfTasksOverTilesOfBoth) {
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

}  // namespace
}  // namespace fairlead::flow_over_ranks
