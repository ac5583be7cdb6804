// A task class called in another order than that of its ranges: placements and messages use this order; the
// results are the same.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <string>
#include <vector>

#include "little_memory.hpp"

namespace fairlead {
namespace {

class PtgCalled : public testing::Test {
 protected:
  PtgCalled() {
    for (double& number : numbers_) handles_.push_back(runtime_.value("number", number));
  }
  Runtime runtime_{tests::in_little_memory()};
  std::vector<double> numbers_ = std::vector<double>(12);
  std::vector<Handle<double>> handles_;
};

}  // namespace

TEST_F(PtgCalled, PlacementsUseTheCalledOrder) {
  ptg::Graph graph(runtime_);
  const ptg::Index k("k"), m("m");
  const auto data = graph.data(handles_, "data");
  // Rows of a triangle, m >= k. The class is called with m first.
  auto step = graph.task("step", k.in(0, 3), m.in(k, 3));
  step.called({m, k});
  const auto add =
      codelet("add").cpu([](InOut<double> own, int by, int of) { *own = *own * 100 + 10 * by + of; });
  step.runs(
      add,
      ptg::flow("x").from(data(m)).when(k == 0).from(step["x"](m, k - 1)).to(step["x"](m, k + 1)).when(k < m),
      k, m);
  EXPECT_EQ(graph.check().text, "");
  graph.run();
  EXPECT_EQ(numbers_[0], 0);
  EXPECT_EQ(numbers_[1], 111);
  EXPECT_EQ(numbers_[2], 21222);
  EXPECT_EQ(numbers_[3], 3132333);
}

TEST_F(PtgCalled, MessagesUseTheCalledOrder) {
  ptg::Graph graph(runtime_);
  const ptg::Index k("k"), m("m");
  const auto data = graph.data(handles_, "data");
  auto step = graph.task("step", k.in(0, 3), m.in(k, 3));
  step.called({m, k});
  const auto fail = codelet("fail").cpu([](InOut<double>, int of) {
    if (of == 3) throw UsageError("three");
  });
  step.runs(fail,
            ptg::flow("x")
                .from(data(m))
                .when(k == 0)
                .from(step["x"](m, k - 1))
                .to(step["x"](m + 1, k))
                .when(m == 2 && k == 1),
            m);
  const std::string error = graph.check().text;
  EXPECT_NE(error.find("x of step(2,1) goes to x of step(3,1)"), std::string::npos) << error;
}

TEST_F(PtgCalled, OnlyParametersAreAllowed) {
  ptg::Graph graph(runtime_);
  const ptg::Index k("k"), m("m"), other("other");
  auto step = graph.task("step", k.in(0, 3), m.in(k, 3), other.is(k + m));
  EXPECT_THROW(step.called({m, other}), UsageError);
  EXPECT_THROW(step.called({m, m}), UsageError);
  EXPECT_THROW(step.called({m}), UsageError);
  EXPECT_NO_THROW(step.called({m, k}));
}

}  // namespace fairlead
