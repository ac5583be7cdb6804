// A graph that is submitted to a flow has the results of a graph that is run, and reports the same errors.
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "little_memory.hpp"

namespace fairlead {
namespace {

using Numbers = Vector<double>;
constexpr int chains = 6, steps = 9;

// Chains of fresh values: made from data, changed by each step, some of which read another chain's copy, and added to data.
struct Chains {
  explicit Chains(Runtime& of) : runtime(of), graph(of) {
    for (int k = 0; k < chains; ++k) handles.push_back(runtime.vector<double>("datum", 64));
    const ptg::Index k("k"), s("s");
    const auto data = graph.data(handles, "data");
    auto make = graph.task("make", k.in(0, chains - 1)),
         step = graph.task("step", k.in(0, chains - 1), s.in(0, steps - 1)),
         add = graph.task("add", k.in(0, chains - 1));
    make.runs(codelet("make").cpu([](In<Numbers> from, Out<Numbers> to) {
      for (std::int64_t i = 0; i < to.size(); ++i) to(i) = 2 * from(i);
    }),
              ptg::flow("from").from(data(k)), ptg::flow("to").from(ptg::fresh_like(data)));
    step.runs(codelet("step").cpu([](InOut<Numbers> value, std::int64_t number) {
      for (std::int64_t i = 0; i < value.size(); ++i) value(i) = value(i) * 3 + static_cast<double>(number);
    }),
              ptg::flow("value").from(make["to"](k)).when(s == 0).from(step["value"](k, s - 1)), s);
    add.runs(codelet("add").cpu([](In<Numbers> value, InOut<Numbers> to) {
      for (std::int64_t i = 0; i < to.size(); ++i) to(i) += value(i);
    }),
             ptg::flow("value").from(step["value"](k, steps - 1)), ptg::flow("to").from(data(k)));
  }
  void fill() {
    Flow flow(runtime);
    for (int k = 0; k < chains; ++k)
      flow.submit(codelet("fill").cpu([](Out<Numbers> to, double value) {
        for (std::int64_t i = 0; i < to.size(); ++i) to(i) = value;
      })(handles[static_cast<std::size_t>(k)], double(k)));
    flow.wait();
  }
  std::vector<double> results() {
    Flow flow(runtime);
    std::vector<double> all;
    for (const auto& handle : handles) all.push_back(flow.acquire(read(handle)).get<0>()(63));
    return all;
  }
  Runtime& runtime;
  ptg::Graph graph;
  std::vector<Handle<Numbers>> handles;
};

TEST(PtgSubmitted, HasTheResultsOfARun) {
  for (const int workers : {1, 3}) {
    Config config;
    config.set("workers", workers);
    config.set("memory", "64KiB");
    Runtime runtime(config);
    std::vector<double> expected, submitted;
    {
      Chains run(runtime);
      run.fill();
      run.graph.run();
      expected = run.results();
    }
    Chains chain(runtime);
    for (int time = 0; time < 2; ++time) {
      chain.fill();
      Flow flow(runtime);
      chain.graph.submit(flow);
      EXPECT_EQ(flow.submitted(), static_cast<std::uint64_t>(chains * (steps + 2)));
      flow.wait();
      EXPECT_EQ(chain.results(), expected);
    }
  }
}

TEST(PtgSubmitted, MayBeDestroyedBeforeItsTasksEnd) {
  Runtime runtime(tests::in_little_memory());
  Flow flow(runtime);
  std::vector<Handle<Numbers>> handles;
  {
    Chains chain(runtime);
    chain.fill();
    chain.graph.submit(flow);
  }
  flow.wait();
}

TEST(PtgSubmitted, AFlowOfAnotherRuntimeIsRefused) {
  Runtime runtime(tests::in_little_memory()), other(tests::in_little_memory());
  Chains chain(runtime);
  Flow flow(other);
  EXPECT_THROW(chain.graph.submit(flow), UsageError);
}

}  // namespace
}  // namespace fairlead
