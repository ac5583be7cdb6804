// Random programs on real threads in which some tasks need several workers: out of core, with emulated devices, from two
// flows, with failing tasks, and with a program that does not wait all the time. No tasks use more workers than exist,
// and every task sees the values of the program's order.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "whole/every_policy.hpp"

namespace fairlead {
namespace {

using Value = std::int64_t;
using Values = Tile<Value>;
constexpr int side = 36;      // a tile takes three pages
constexpr int tile_rows = 6;  // and columns

Value next(Value own, Value read) { return (own * 31 + read % 1'000'003) % 1'000'000'007; }

template <class T>
Value value_of(const T& tile) {
  return tile(0, 0) == tile(side - 1, side - 1) ? tile(0, 0) : -1;
}

/// Runs on the given number of threads.
template <class T>
void fill(T& tile, Value value, unsigned width) {
  const auto columns = [&](unsigned thread) {
    for (int j = static_cast<int>(thread); j < side; j += static_cast<int>(width))
      for (int i = 0; i < side; ++i) tile(i, j) = value;
  };
  std::vector<std::jthread> threads;
  for (unsigned thread = 1; thread < width; ++thread) threads.emplace_back(columns, thread);
  columns(0);
}

class Program {
 public:
  Program(std::uint64_t seed, int workers, bool devices)
      : random_(seed), workers_(workers), devices_(devices) {}

  /// Tasks of both flows, each on its own half of the matrix. The program sometimes waits for one task's future.
  void run(Runtime& runtime, int tasks) {
    const auto matrix = runtime.tiled<Value>("A", tile_rows * side, tile_rows * side, side);
    const auto body = [this](Team team, In<Values> from, InOut<Values> to, Value own, Value read) {
      const int width = static_cast<int>(team.width());
      if (taken.fetch_add(width) + width > workers_) ++too_many;
      widest = std::max(widest.load(), width);
      wrong += value_of(from) != read || value_of(to) != own;
      fill(to, next(own, read), team.width());
      taken.fetch_sub(width);
    };
    const auto body_of_device = [this](In<Values> from, InOut<Values> to, Value own, Value read) {
      wrong += value_of(from) != read || value_of(to) != own;
      fill(to, next(own, read), 1);
    };
    const auto set = codelet("set").cpu([](Out<Values> to, Value value) { fill(to, value, 1); });
    const auto on_cores = codelet("cores").cpu(body);
    const auto on_both = codelet("both").cpu(body).emulated(body_of_device);
    const auto fails = codelet("fails").cpu([this](Team team, InOut<double>) {
      const int width = static_cast<int>(team.width());
      if (taken.fetch_add(width) + width > workers_) ++too_many;
      taken.fetch_sub(width);
      throw std::runtime_error("planted");
    });
    double nothing = 0;
    const auto broken = runtime.value("nothing", nothing);

    Flow flows[2]{Flow(runtime), Flow(runtime)};
    Flow failing(runtime);
    std::vector<Value> values(tile_rows * tile_rows);
    const auto tile = [&](std::size_t k) {
      return matrix(static_cast<std::int32_t>(k / tile_rows), static_cast<std::int32_t>(k % tile_rows));
    };
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = static_cast<Value>(k) + 1;
      flows[k % 2].submit(set(tile(k), values[k]));
    }
    for (int i = 0; i < tasks; ++i) {
      const std::size_t half = random_.below(2), others = values.size() / 2;
      const std::size_t to = 2 * random_.below(others) + half, from = 2 * random_.below(others) + half;
      if (from == to) continue;
      const int wanted = random_.once_in(3) ? 1 + static_cast<int>(random_.below(5)) : 1;
      auto call = (devices_ && random_.once_in(2) ? on_both : on_cores)(tile(from), tile(to), values[to],
                                                                        values[from]);
      auto wide = std::move(call).workers(random_.once_in(8) ? all_workers : at_most(wanted));
      values[to] = next(values[to], values[from]);
      if (random_.once_in(20)) {
        flows[half].future(wide).wait();
      } else {
        flows[half].submit(std::move(wide).priority(i % 3));
      }
      if (random_.once_in(40)) failing.submit(fails(broken).workers(at_most(wanted)));
    }
    if (workers_ > 1 && random_.once_in(2))  // the program's thread does not wait: the others run all tasks
      for (const Flow& flow : flows)
        while (flow.done() != flow.submitted()) std::this_thread::yield();
    for (Flow& flow : flows) flow.wait();
    try {
      failing.wait();
    } catch (const TaskError&) {
    }
    const auto check =
        codelet("check").cpu([this](In<Values> t, Value value) { wrong += value_of(t) != value; });
    for (std::size_t k = 0; k < values.size(); ++k) flows[0].submit(check(tile(k), values[k]));
    flows[0].wait();
  }

  std::atomic<int> wrong = 0, too_many = 0, widest = 0;
  std::atomic<int> taken = 0;  // workers of running bodies

 private:
  Random random_;
  const int workers_;
  bool devices_;
};

class RandomSpans : public testing::TestWithParam<std::string> {
 protected:
  void run(std::uint64_t first, std::uint64_t seeds, bool devices) {
    for (const std::uint64_t seed : tests::seeds_for(GetParam(), first, first + seeds - 1)) {
      Random random(seed);
      const int workers = 1 + static_cast<int>(seed % 4);
      Config config;
      config.set("workers", workers);
      config.set("scheduler", GetParam());
      const auto kibibytes =
          random.once_in(4) ? 12 * tile_rows * tile_rows + 64 : random.between(devices ? 96 : 64, 256);
      config.set("memory", std::to_string(kibibytes) + "KiB");
      config.set("spin", random.once_in(2) ? 0 : 50);
      config.set("bind-threads", false);
      config.set("window", random.once_in(2) ? 2048 : random.between(8, 100));
      if (devices) config.set("devices", "emulated:memory=60KiB,workers=2 + emulated:memory=90KiB");
      Runtime runtime(config);
      Program program(seed, workers, devices);
      program.run(runtime, 200);
      ASSERT_EQ(program.wrong, 0) << "seed " << seed;
      ASSERT_EQ(program.too_many, 0) << "seed " << seed;
      ASSERT_EQ(program.widest, workers) << "seed " << seed;
    }
  }
};

TEST_P(RandomSpans, UseAtMostAllWorkers) { run(1, 12, false); }
TEST_P(RandomSpans, UseAtMostAllWorkersWithDevices) { run(101, 8, true); }

INSTANTIATE_TEST_SUITE_P(Policies, RandomSpans, testing::ValuesIn(tests::some_policies(1)),
                         tests::name_of_test);

}  // namespace
}  // namespace fairlead
