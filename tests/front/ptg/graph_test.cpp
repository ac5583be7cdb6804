// Parameterized graphs of known shapes: the order of their tasks gives the expected numbers.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

namespace fairlead {
namespace {

using Number = std::uint64_t;

/// Mixes its inputs into its own number: every order gives another result.
void mix(Number& own, std::initializer_list<Number> reads) {
  Number mixed = own * 0x9e37'79b9'7f4a'7c15u + 1;
  for (const Number read : reads) mixed = (mixed ^ (mixed >> 29)) * 0xbf58'476d'1ce4'e5b9u + read;
  own = mixed;
}

const auto one = codelet("one").cpu([](InOut<Number> own) { mix(*own, {}); });
const auto two = codelet("two").cpu([](In<Number> a, InOut<Number> own) { mix(*own, {*a}); });
const auto three = codelet("three").cpu([](In<Number> a, In<Number> b, InOut<Number> own) {
  mix(*own, {*a, *b});
});

struct Case {
  const char* scheduler;
  int workers;
};

class PtgGraph : public testing::TestWithParam<Case> {
 protected:
  static Config config() {
    Config config;
    config.set("workers", GetParam().workers);
    config.set("memory", "16MiB");
    config.set("scheduler", GetParam().scheduler);
    config.set("bind-threads", false);
    return config;
  }
  /// Data numbered from 0, with the values 1, 2, ...
  struct World {
    explicit World(std::size_t count) : runtime(config()), numbers(count) {
      for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = i + 1;
        handles.push_back(runtime.value("number " + std::to_string(i), numbers[i]));
      }
    }
    Runtime runtime;
    std::vector<Number> numbers;
    std::vector<Handle<Number>> handles;
  };
};

TEST_P(PtgGraph, RunsIndependentTasks) {
  constexpr int count = 1000;
  World world(count);
  ptg::Graph graph(world.runtime);
  const ptg::Index i("i");
  const auto data = graph.data(world.handles, "data");
  graph.task("alone", i.in(0, count - 1)).runs(one, ptg::flow("own").from(data(i)));
  EXPECT_EQ(graph.tasks(), 1000u);
  graph.run();
  graph.run();
  for (std::size_t k = 0; k < count; ++k) {
    Number expected = k + 1;
    mix(expected, {});
    mix(expected, {});
    ASSERT_EQ(world.numbers[k], expected) << k;
  }
}

TEST_P(PtgGraph, RunsAChain) {
  constexpr int count = 1000;
  World world(1);
  ptg::Graph graph(world.runtime);
  const ptg::Index i("i");
  const auto data = graph.data(world.handles, "data");
  auto link = graph.task("link", i.in(0, count - 1));
  link.runs(one, ptg::flow("own").from(data(0)).when(i == 0).from(link["own"](i - 1)));
  graph.run();
  Number expected = 1;
  for (int k = 0; k < count; ++k) mix(expected, {});
  EXPECT_EQ(world.numbers[0], expected);
}

TEST_P(PtgGraph, RunsAWavefront) {
  constexpr int side = 20;
  World world(side * side);
  ptg::Graph graph(world.runtime);
  const ptg::Index i("i"), j("j");
  const auto data = graph.data<Number>("data", {side, side}, [&](const std::int64_t* at) {
    return world.handles[static_cast<std::size_t>(at[0] * side + at[1])];
  });
  auto corner = graph.task("corner");
  auto top = graph.task("top", j.in(1, side - 1));
  auto left = graph.task("left", i.in(1, side - 1));
  auto inner = graph.task("inner", i.in(1, side - 1), j.in(1, side - 1));
  corner.runs(one, ptg::flow("own").from(data(0, 0)));
  top.runs(two, ptg::flow("before").from(corner["own"]()).when(j == 1).from(top["own"](j - 1)),
           ptg::flow("own").from(data(0, j)));
  left.runs(two, ptg::flow("above").from(corner["own"]()).when(i == 1).from(left["own"](i - 1)),
            ptg::flow("own").from(data(i, 0)));
  inner.runs(three, ptg::flow("above").from(top["own"](j)).when(i == 1).from(inner["own"](i - 1, j)),
             ptg::flow("before").from(left["own"](i)).when(j == 1).from(inner["own"](i, j - 1)),
             ptg::flow("own").from(data(i, j)));
  EXPECT_EQ(graph.tasks(), static_cast<std::uint64_t>(side * side));
  graph.run();
  std::vector<Number> expected(side * side);
  const auto at = [&](int row, int column) -> Number& {
    return expected[static_cast<std::size_t>(row * side + column)];
  };
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column) {
      Number& own = at(row, column);
      own = static_cast<Number>(row * side + column + 1);
      if (row > 0 && column > 0)
        mix(own, {at(row - 1, column), at(row, column - 1)});
      else if (row > 0)
        mix(own, {at(row - 1, column)});
      else if (column > 0)
        mix(own, {at(row, column - 1)});
      else
        mix(own, {});
    }
  EXPECT_EQ(world.numbers, expected);
}

TEST_P(PtgGraph, RunsACholesky) {
  constexpr int nt = 12;
  World world(nt * nt);
  ptg::Graph graph(world.runtime);
  const ptg::Index k("k"), m("m"), n("n");
  const auto A = graph.data<Number>("A", {nt, nt}, [&](const std::int64_t* at) {
    return world.handles[static_cast<std::size_t>(at[0] * nt + at[1])];
  });
  auto potrf = graph.task("potrf", k.in(0, nt - 1));
  auto trsm = graph.task("trsm", k.in(0, nt - 2), m.in(k + 1, nt - 1));
  auto syrk = graph.task("syrk", k.in(0, nt - 2), m.in(k + 1, nt - 1));
  auto gemm = graph.task("gemm", k.in(0, nt - 3), m.in(k + 2, nt - 1), n.in(k + 1, m - 1));
  potrf.runs(one, ptg::flow("T").from(A(k, k)).when(k == 0).from(syrk["T"](k - 1, k))).priority(nt - k);
  trsm.runs(two, ptg::flow("T").from(potrf["T"](k)),
            ptg::flow("C").from(A(m, k)).when(k == 0).from(gemm["C"](k - 1, m, k)));
  syrk.runs(two, ptg::flow("A").from(trsm["C"](k, m)),
            ptg::flow("T").from(A(m, m)).when(k == 0).from(syrk["T"](k - 1, m)));
  gemm.runs(three, ptg::flow("A").from(trsm["C"](k, m)), ptg::flow("B").from(trsm["C"](k, n)),
            ptg::flow("C").from(A(m, n)).when(k == 0).from(gemm["C"](k - 1, m, n)));
  EXPECT_EQ(graph.tasks(), static_cast<std::uint64_t>(nt * (nt + 1) * (nt + 2) / 6));
  graph.run();
  std::vector<Number> expected(nt * nt);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i + 1;
  const auto at = [&](int row, int column) -> Number& {
    return expected[static_cast<std::size_t>(row * nt + column)];
  };
  for (int step = 0; step < nt; ++step) {
    mix(at(step, step), {});
    for (int row = step + 1; row < nt; ++row) mix(at(row, step), {at(step, step)});
    for (int row = step + 1; row < nt; ++row) {
      mix(at(row, row), {at(row, step)});
      for (int column = step + 1; column < row; ++column)
        mix(at(row, column), {at(row, step), at(column, step)});
    }
  }
  EXPECT_EQ(world.numbers, expected);
}

/// All tasks read the value before the one task that changes it; the others read it afterwards.
TEST_P(PtgGraph, ChangesAValueAfterAllReaders) {
  constexpr int readers = 40;
  World world(2 * readers + 1);
  ptg::Graph graph(world.runtime);
  const ptg::Index i("i");
  const auto data = graph.data(world.handles, "data");
  auto make = graph.task("make");
  auto before = graph.task("before", i.in(1, readers));
  auto change = graph.task("change");
  auto after = graph.task("after", i.in(readers + 1, 2 * readers));
  make.runs(one, ptg::flow("X").from(data(0)));
  before.runs(two, ptg::flow("X").from(make["X"]()), ptg::flow("own").from(data(i)));
  change.runs(one, ptg::flow("X").from(make["X"]()));
  after.runs(two, ptg::flow("X").from(change["X"]()), ptg::flow("own").from(data(i)));
  graph.run();
  Number value = 1;
  mix(value, {});
  Number changed = value;
  mix(changed, {});
  EXPECT_EQ(world.numbers[0], changed);
  for (int k = 1; k <= 2 * readers; ++k) {
    Number expected = static_cast<Number>(k) + 1;
    mix(expected, {k <= readers ? value : changed});
    EXPECT_EQ(world.numbers[static_cast<std::size_t>(k)], expected) << k;
  }
}

/// The same with values that are initially in memory.
TEST_P(PtgGraph, ChangesADatumAfterAllReadersFromMemory) {
  constexpr int readers = 40;
  World world(readers + 1);
  ptg::Graph graph(world.runtime);
  const ptg::Index i("i");
  const auto data = graph.data(std::vector(world.handles.begin() + 1, world.handles.end()), "data");
  const auto shared = graph.data(world.handles[0], "shared");
  graph.task("change").runs(one, ptg::flow("X").from(shared()));
  graph.task("read", i.in(1, readers))
      .runs(two, ptg::flow("X").from(shared()), ptg::flow("own").from(data(i - 1)));
  graph.run();
  for (int k = 1; k <= readers; ++k) {
    Number expected = static_cast<Number>(k) + 1;
    mix(expected, {1});
    EXPECT_EQ(world.numbers[static_cast<std::size_t>(k)], expected) << k;
  }
  Number changed = 1;
  mix(changed, {});
  EXPECT_EQ(world.numbers[0], changed);
}

TEST_P(PtgGraph, OrdersByControls) {
  constexpr int count = 200;
  World world(1);
  std::vector<int> order;
  std::mutex mutex;
  const auto note = codelet("note").cpu([&](int number) {
    const std::lock_guard guard(mutex);
    order.push_back(number);
  });
  ptg::Graph graph(world.runtime);
  const ptg::Index i("i"), j("j");
  auto first = graph.task("first", i.in(0, count - 1));
  auto middle = graph.task("middle");
  auto last = graph.task("last", i.in(0, count - 1));
  first.runs(note, i);
  middle.runs(note, ptg::Expression(1000), ptg::control("all").from(first(j), j.in(0, count - 1)));
  last.runs(note, i + 2000, ptg::control("then").from(middle()));
  graph.run();
  ASSERT_EQ(order.size(), 2u * count + 1);
  EXPECT_EQ(order[count], 1000);
  for (int k = 0; k < count; ++k) {
    EXPECT_LT(order[static_cast<std::size_t>(k)], count);
    EXPECT_GE(order[static_cast<std::size_t>(count + 1 + k)], 2000);
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& instance) {
  std::string name = instance.param.scheduler;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name + "_" + std::to_string(instance.param.workers);
}
INSTANTIATE_TEST_SUITE_P(Policies, PtgGraph,
                         testing::Values(Case{"lws", 1}, Case{"lws", 2}, Case{"lws", 4}, Case{"eager", 2},
                                         Case{"darts", 2}, Case{"blocks", 2}, Case{"dmdas", 1}),
                         name_of_case);

}  // namespace
}  // namespace fairlead
