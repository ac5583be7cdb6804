// Planning policies see only the window of tasks of a parameterized graph: finished tasks make room for
// others, even if all known tasks have finished without successors.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace fairlead {
namespace {

struct WindowCase {
  const char* scheduler;
  std::size_t window;  // 0: what Fairlead takes
  std::int64_t length;
};
class WindowOfPtg : public testing::TestWithParam<WindowCase> {};

TEST_P(WindowOfPtg, AdvancesWhenAChainEnds) {
  constexpr std::int64_t chains = 4;
  const auto& [scheduler, window, length] = GetParam();
  Config config;
  config.set("workers", 2);
  config.set("memory", "16MiB");
  config.set("scheduler", scheduler);
  config.set("devices", "emulated:memory=1MiB");
  if (window != 0) config.set("window", window);
  Runtime runtime(config);
  std::array<std::atomic<std::int64_t>, chains> reached{};
  const auto count = codelet("count").cpu([&reached](std::int64_t chain, std::int64_t number) {
    std::int64_t wanted = number;
    reached[static_cast<std::size_t>(chain)].compare_exchange_strong(wanted, number + 1);
  });
  ptg::Graph graph(runtime);
  const ptg::Index i("i"), j("j");
  auto step = graph.task("step", i.in(0, chains - 1), j.in(0, length - 1));
  step.runs(count, i, j, ptg::control("after").from(step(i, j - 1)).when(j > 0));
  graph.run();
  for (const auto& it : reached) EXPECT_EQ(it.load(), length);
}

INSTANTIATE_TEST_SUITE_P(Windows, WindowOfPtg,
                         testing::Values(WindowCase{"eager", 1, 20}, WindowCase{"eager", 3, 20},
                                         WindowCase{"darts", 1, 20}, WindowCase{"darts", 2, 20},
                                         WindowCase{"lws", 4, 20}, WindowCase{"darts", 0, 3000},
                                         WindowCase{"blocks", 0, 3000}, WindowCase{"eager", 0, 3000}),
                         [](const auto& it) {
                           return std::string(it.param.scheduler) + "_" + std::to_string(it.param.window);
                         });

}  // namespace
}  // namespace fairlead
