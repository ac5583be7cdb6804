// Parameterized graphs with many tasks need no more memory than small ones: only active tasks exist.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>

#include "sanitized.hpp"

namespace fairlead {
namespace {

constexpr std::int64_t few_tasks = tests::sanitized ? 1 << 14 : 1 << 18,
                       many_tasks = tests::sanitized ? 1 << 16 : 1 << 22;

enum class Kind { independent, released_by_one };
struct ManyCase {
  Kind kind;
  int workers;
};
class ManyPtg : public testing::TestWithParam<ManyCase> {};
/// With one worker there are no races.
std::vector<ManyCase> many_cases_of_ptg() {
  std::vector<ManyCase> cases{{Kind::independent, 2}, {Kind::released_by_one, 2}};
  if (!tests::thread_sanitized)
    cases.insert(cases.end(), {{Kind::independent, 1}, {Kind::released_by_one, 1}});
  return cases;
}

/// The largest resident set from now on, in KiB.
std::uint64_t most_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kibibytes = 0; word == "VmHWM:" && status >> kibibytes) return kibibytes;
  return 0;
}

/// The sum of the numbers of the tasks that ran.
std::uint64_t sum_of(const ManyCase& with, std::int64_t tasks) {
  Config config;
  config.set("workers", with.workers);
  config.set("memory", "16MiB");
  config.set("scheduler", "lws");
  config.set("bind-threads", false);
  Runtime runtime(config);
  struct alignas(64) Own {
    std::uint64_t sum = 0;
  };
  std::array<std::atomic<std::uint64_t>, 16> sums{};
  const auto count = codelet("count").cpu([&sums](std::int64_t number) {
    sums[static_cast<std::size_t>(number) % sums.size()].fetch_add(static_cast<std::uint64_t>(number),
                                                                   std::memory_order_relaxed);
  });
  ptg::Graph graph(runtime);
  const ptg::Index i("i");
  if (with.kind == Kind::independent) {
    graph.task("each", i.in(0, tasks - 1)).runs(count, i);
  } else {
    auto first = graph.task("first");
    first.runs(count, std::int64_t{0});
    graph.task("each", i.in(1, tasks - 1)).runs(count, i, ptg::control("after").from(first()));
  }
  graph.run();
  std::uint64_t sum = 0;
  for (const auto& one : sums) sum += one.load();
  return sum;
}

}  // namespace

TEST_P(ManyPtg, NeedNoMoreMemoryThanFew) {
  const auto peak_with = [&](std::int64_t tasks) {
    std::ofstream("/proc/self/clear_refs") << 5;
    const auto n = static_cast<std::uint64_t>(tasks);
    EXPECT_EQ(sum_of(GetParam(), tasks), n * (n - 1) / 2);
    return most_resident();
  };
  const std::uint64_t with_few = peak_with(few_tasks);
  ASSERT_GT(with_few, 0u);
  EXPECT_LE(peak_with(many_tasks), with_few + 20 * 1024);
}

INSTANTIATE_TEST_SUITE_P(Many, ManyPtg, testing::ValuesIn(many_cases_of_ptg()),
                         [](const testing::TestParamInfo<ManyCase>& instance) {
                           return std::string(instance.param.kind == Kind::independent ? "Independent"
                                                                                       : "ReleasedByOne") +
                                  "_" + std::to_string(instance.param.workers);
                         });

}  // namespace fairlead
