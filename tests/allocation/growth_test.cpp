// A program that runs for ever does not leak: data that it registers and removes, its flows, and codelets with ever new
// names.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/failing_new.hpp"
#include "schedule/policies.hpp"

namespace fairlead::allocation {

namespace {

using Numbers = Tile<double>;

Config settings(std::string_view scheduler, const char* devices) {
  Config config;
  config.set("workers", "2");
  config.set("bind-threads", false);
  config.set("huge-pages", false);
  config.set("memory", "1MiB");
  config.set("scheduler", scheduler);
  config.set("keep-durations", false);
  if (*devices != '\0') config.set("devices", devices);
  return config;
}

/// Registers data of all kinds, uses them, and removes them.
bool one_round(Runtime& runtime, int round) {
  const std::string name = "of round " + std::to_string(round);
  double sum = 0, total = 0;
  std::vector<double> own(64, 1.0), large(64 * 64, 0.5);
  const auto fill = codelet("fill").cpu([](Out<Numbers> t, double value) {
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < t.rows(); ++i) t(i, j) = value;
  });
  const auto body = [](In<Numbers> t, InOut<double> into) { *into += t(0, 0); };
  const auto add = codelet("add").cpu(body).emulated(body);
  const auto add_own =
      codelet("add own").cpu([](In<Vector<double>> v, InOut<double> into) { *into += v(3); });
  const auto reduce = codelet("reduce").cpu([](Reduce<double> into, double more) { *into += more; });
  const auto s = runtime.value(name, sum);
  const auto t = runtime.value("total", total);
  const auto v = runtime.vector("v", own.data(), 64);
  const auto m = runtime.matrix<double>(name, 64, 64);
  {
    const auto a = runtime.tiled<double>(name, 160, 64, 64);
    const auto b = runtime.tiled_in_place("b", large.data(), 64, 64, 64, 32);
    Flow flow(runtime);
    flow.submit(fill(m, 2.0));
    for (int i = 0; i < 3; ++i) flow.submit(fill(a(i, 0), 1.0));
    for (int i = 0; i < 3; ++i) flow.submit(add(a(i, 0), s));
    flow.submit(add(b(1, 1), s));
    flow.submit(add(m, s));
    flow.submit(add_own(v, s));
    for (int i = 0; i < 4; ++i) flow.submit(reduce(t, 1.0));
    flow.wait();
    const auto parts = runtime.split(v, 16);
    flow.submit(add_own(parts(1), s));
    flow.wait();
  }
  runtime.remove(s);
  runtime.remove(t);
  runtime.remove(v);
  runtime.remove(m);
  return sum == 3 + 0.5 + 2 + 1 + 1 && total == 4;
}

/// Calls round(n) for n from 0: after `first` rounds, `then` more rounds leave no allocation. Some tables double
/// occasionally; a leak in each round would be as large as all these rounds together.
void does_not_grow(int first, int then, const std::function<void(int)>& round) {
  for (int n = 0; n < first; ++n) round(n);
  const std::size_t before = bytes_in_use();
  for (int n = first; n < first + then; ++n) round(n);
  EXPECT_LT(bytes_in_use(), before + (std::size_t{64} << 10));
}

/// Policies and memory allocate tables of waiting tasks when the first task waits. With one task at a time, this happens
/// when no worker is idle.
void let_tasks_wait(Runtime& runtime) {
  std::vector<double> numbers(64, 1.0);
  const auto tiles = runtime.tiled_in_place("waiting", numbers.data(), 1, 64, 1, 1);
  const auto body = [](InOut<Numbers> t) { t(0, 0) += 1; };
  const auto wait_for_a_worker = codelet("wait for a worker").cpu(body).emulated(body);
  Flow flow(runtime);
  for (int j = 0; j < 64; ++j) flow.submit(wait_for_a_worker(tiles(0, j)));
}

}  // namespace

class EndlessProgram : public testing::TestWithParam<std::string_view> {
 protected:
  void data_leave_nothing(const char* devices) {
    Runtime runtime(settings(GetParam(), devices));
    let_tasks_wait(runtime);
    does_not_grow(100, 400, [&](int n) { ASSERT_TRUE(one_round(runtime, n)) << n; });
  }
};

TEST_P(EndlessProgram, DoesNotLeakDataAndFlows) { data_leave_nothing(""); }
TEST_P(EndlessProgram, DoesNotLeakDataAndFlowsOnADevice) { data_leave_nothing("emulated:memory=256KiB"); }

TEST_P(EndlessProgram, KeepsABoundedNumberOfCodeletNames) {
  Config config = settings(GetParam(), "emulated:memory=256KiB");
  config.set("fast-path", false);
  Runtime runtime(config);
  long count = 0;
  const auto counted = runtime.value("count", count);
  const auto body = [](InOut<long> it) { ++*it; };
  let_tasks_wait(runtime);
  does_not_grow(2'100, 1'000, [&](int n) {
    const auto one_more =
        codelet("number " + std::to_string(n)).cpu("here", body).cpu("there", body).emulated();
    Flow flow(runtime);
    flow.submit(one_more(counted));
  });
  EXPECT_EQ(count, 3'100);
}

INSTANTIATE_TEST_SUITE_P(Policies, EndlessProgram, testing::ValuesIn(schedule::policy_names()),
                         [](const auto& tested) {
                           std::string name(tested.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace fairlead::allocation
