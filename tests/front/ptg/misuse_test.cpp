// Invalid parameterized graphs: each is refused or ends with an error that states the cause and the line;
// none hangs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "front/ptg/describe_stall.hpp"
#include "front/ptg/numbers_under_policy.hpp"
#include "sanitized.hpp"

namespace fairlead {
namespace {

struct MisuseOfPtg : testing::Test {
  static Config two_workers() {
    Config config;
    config.set("workers", 2);
    config.set("memory", "1MiB");
    config.set("scheduler", "lws");
    config.set("bind-threads", false);
    return config;
  }
  /// The error message of run().
  std::string said() {
    try {
      graph.run();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing";
  }
  template <class F>
  static std::string said_by(F&& f) {
    try {
      f();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing";
  }
  static void contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  static std::string file_line(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }
  static std::string here(int line) { return file_line(line) + ")"; }

  Runtime runtime{two_workers()};
  std::vector<int> numbers = std::vector<int>(10);
  std::vector<Handle<int>> handles = [this] {
    std::vector<Handle<int>> all;
    for (int& number : numbers) all.push_back(runtime.value("number", number));
    return all;
  }();
  ptg::Graph graph{runtime};
  const ptg::Collection data = graph.data(handles, "data");
  const ptg::Index i{"i"}, j{"j"};
  const Codelet<InOut<int>> add = codelet("add").cpu([](InOut<int> x) { ++*x; });
  const Codelet<In<int>, InOut<int>> take = codelet("take").cpu([](In<int> a, InOut<int> x) { *x += *a; });
};

}  // namespace

TEST_F(MisuseOfPtg, TwoTasksThatChangeOneValue) {
  auto first = graph.task("first");
  first.runs(add, ptg::flow("x").from(data(0)));
  graph.task("both", i.in(1, 2)).runs(add, ptg::flow("x").from(first["x"]()));
  const std::string text = said();
  contains(text, "the value that first() has goes to two tasks that change it; one of them is of both");
  EXPECT_EQ(said(), text);  // and so again
}

TEST_F(MisuseOfPtg, IsFoundByACheckBeforeTheRun) {
  auto first = graph.task("first", i.in(0, 3));
  auto second = graph.task("second", i.in(0, 3));
  first.runs(add, ptg::flow("x").from(data(i)));
  second.runs(take, ptg::flow("a").from(first["x"](i)), ptg::flow("x").from(data(i + 4)),
              ptg::control("after").from(second(i - 1)).when(i > 0));
  const ptg::Checked right = graph.check();
  EXPECT_EQ(right.tasks, 8u);
  EXPECT_EQ(right.edges, 7u);
  EXPECT_EQ(right.errors, 0u) << right.text;
  auto both = graph.task("both", i.in(1, 2));
  both.runs(add, ptg::flow("x").from(first["x"](1)));
  graph.task("other").runs(add, ptg::flow("x").from(data(9)), ptg::control("before").from(both(1)));
  const ptg::Checked wrong = graph.check();
  EXPECT_EQ(wrong.errors, 1u) << wrong.text;
  contains(wrong.text, "first(1)");
  contains(wrong.text, "both(1)");
}

TEST_F(MisuseOfPtg, TwoTasksThatChangeOneDatumFromMemory) {
  const ptg::Collection other = graph.data(std::vector{runtime.value("other", numbers[0])}, "other");
  graph.task("both", i.in(1, 2)).runs(add, ptg::flow("x").from(other(0)));
  graph.task("reader").runs(take, ptg::flow("a").from(other(0)), ptg::flow("x").from(data(9)));
  contains(said(), "two tasks take other(0) from memory and change it");
}

TEST_F(MisuseOfPtg, TasksWithoutInput) {
  auto first = graph.task("first", i.in(0, 3));
  auto second = graph.task("second", i.in(0, 5));
  first.runs(add, ptg::flow("x").from(data(i)));
  const int line = __LINE__ + 1;
  second.runs(take, ptg::flow("a").from(first["x"](i)),
              ptg::flow("x").from(data(i + 4)).when(i < 2).from(second["x"](i - 2)));
  const std::string text = said();
  contains(text, "the parameterized graph was aborted: 2 of 10 tasks wait for inputs that no task provides");
  contains(text, "second(4) waits for 1 more");
  contains(text,
           "\n  second(4) can never start: its flow \"a\" comes from the flow \"x\" of first(4), and there "
           "is no such "
           "task (" +
               here(line));
  contains(text, "\n  second(5) can never start");
}

TEST_F(MisuseOfPtg, TasksThatWaitForEachOther) {
  auto ring = graph.task("ring", i.in(0, 2));
  ring.runs(add, ptg::flow("x").from(data(i)),
            ptg::control("before").from(ring(i - 1)).when(i > 0).from(ring(i + 2)).when(i == 0));
  const ptg::Checked checked = graph.check();
  EXPECT_EQ(checked.errors, 1u);
  contains(checked.text, "ring(0)");
  const std::string text = said();
  contains(text, "3 of 3 tasks wait for inputs that no task provides");
  for (const char* task : {"ring(0)", "ring(1)", "ring(2)"}) contains(text, task);
  runtime.flush();  // nothing is left that would be waited for
}

// A writer of a value waits for its readers without a stated edge; the readers get the old value.
TEST_F(MisuseOfPtg, DoesNotIncludeAReaderNextToAWriter) {
  auto first = graph.task("first", i.in(0, 3));
  first.runs(add, ptg::flow("x").from(data(i)));
  graph.task("reader", i.in(0, 3))
      .runs(take, ptg::flow("a").from(first["x"](i)), ptg::flow("x").from(data(i + 4)));
  graph.task("writer", i.in(0, 3)).runs(add, ptg::flow("x").from(first["x"](i)));
  EXPECT_EQ(graph.check().errors, 0u);
  for (int times = 1; times <= 50; ++times) {
    ASSERT_EQ(said(), "nothing");
    for (std::size_t k = 0; k < 4; ++k) {
      ASSERT_EQ(numbers[k], 2 * times);
      ASSERT_EQ(numbers[k + 4], times * times);  // of 1, 3, 5 and so on
    }
  }
}

// But not for a reader that runs only after the writer.
TEST_F(MisuseOfPtg, AReaderThatWaitsForTheWriterOfItsValue) {
  auto first = graph.task("first");
  auto writer = graph.task("writer");
  first.runs(add, ptg::flow("x").from(data(0)));
  writer.runs(add, ptg::flow("x").from(first["x"]()));
  graph.task("reader").runs(take, ptg::flow("a").from(first["x"]()), ptg::flow("x").from(data(1)),
                            ptg::control("after").from(writer()));
  const ptg::Checked checked = graph.check();
  EXPECT_EQ(checked.errors, 1u) << checked.text;
  contains(checked.text, "reader()");
  contains(checked.text, "writer()");
  const std::string text = said();
  contains(text, "2 of 3 tasks wait for inputs that no task provides");
  contains(text, "reader()");
  contains(text, "writer()");
}

// One end states its receivers, the other its senders, and one range is longer than the other.
TEST_F(MisuseOfPtg, RangesThatDisagree) {
  auto giver = graph.task("giver", i.in(0, 3));
  auto taker = graph.task("taker", i.in(0, 4));
  giver.runs(add, ptg::flow("x").from(data(i)).to(taker["a"](i)));
  const int line = __LINE__ + 1;
  taker.runs(take, ptg::flow("a").from(giver["x"](i)), ptg::flow("x").from(data(i + 5)));
  const ptg::Checked checked = graph.check();
  EXPECT_EQ(checked.errors, 1u) << checked.text;
  contains(checked.text, "taker(4)");
  contains(checked.text, "giver(4)");
  const std::string text = said();
  contains(text, "1 of 9 tasks wait for inputs that no task provides");
  contains(text,
           "taker(4) can never start: its flow \"a\" comes from the flow \"x\" of giver(4), and there is no "
           "such task (" +
               here(line));
}

TEST_F(MisuseOfPtg, AnInputWithoutItsOutput) {
  auto giver = graph.task("giver", i.in(0, 3));
  auto taker = graph.task("taker", i.in(0, 3));
  giver.runs(add, ptg::flow("x").from(data(i)).to(taker["a"](j), j.in(i, i)).when(i != 2));
  const int line = __LINE__ + 2;
  taker.runs(take,
             ptg::flow("a").from(giver["x"](i)),  //
             ptg::flow("x").from(data(i + 4)));
  const std::string text = said();
  contains(text, "1 of 8 tasks wait");
  contains(text,
           "taker(2) can never start: its flow \"a\" comes from the flow \"x\" of giver(2), which goes "
           "only to other tasks (" +
               here(line));
  EXPECT_EQ(said(), text);
}

TEST_F(MisuseOfPtg, AControlThatWaitsForTasksOfAnotherStep) {
  auto even = graph.task("even", i.in(0, 6, 2));
  even.runs(add, ptg::flow("x").from(data(i)));
  graph.task("all").runs(add, ptg::flow("x").from(data(1)), ptg::control("after").from(even(j), j.in(0, 4)));
  contains(said(),
           "all() can never start: its control \"after\" waits for even(1), and there is no such task");
}

// With more tasks than are unrolled.
TEST_F(MisuseOfPtg, RangesThatDisagreeSomewhereInALargeGraph) {
  int one = 0;
  const ptg::Collection from = graph.data(runtime.value("one", one), "one");
  // A quarter of them under ThreadSanitizer, which watches one thread.
  constexpr std::int64_t last = tests::thread_sanitized ? 199 : 399, row = last - 128;
  auto giver = graph.task("giver", i.in(0, last), j.in(0, last - i));
  auto taker = graph.task("taker", i.in(0, last), j.in(0, choose(i == row, 129, last - i)));
  const Codelet<In<int>> read = codelet("read").cpu([](In<int>) {});
  giver.runs(read, ptg::flow("x").from(from()));
  taker.runs(read, ptg::flow("a").from(giver["x"](i, j)));
  const std::string text = said();
  contains(text, tests::thread_sanitized ? "1 of 40201 tasks wait" : "1 of 160401 tasks wait");
  contains(
      text,
      fmt::format(
          "taker({0}, 129) can never start: its flow \"a\" comes from the flow \"x\" of giver({0}, 129), "
          "and there is no",
          row));
}

TEST_F(MisuseOfPtg, AValueForAMissingTask) {
  auto first = graph.task("first");
  auto second = graph.task("second", i.in(0, 1));
  const int line = __LINE__ + 1;
  first.runs(add, ptg::flow("x").from(data(0)).to(second["x"](7)));
  second.runs(add, ptg::flow("x").from(first["x"]()).when(i == 7).from(data(i + 1)));
  contains(said(), file_line(line) +
                       ": the flow \"x\" of first() goes to the flow \"x\" of second(7), and there is "
                       "no such task");
}

// Within the bounds of all indices, but outside the space.
TEST_F(MisuseOfPtg, AValueForATaskBetweenTheStepsOfARange) {
  auto first = graph.task("first", i.in(0, 3));
  auto second = graph.task("second", i.in(0, 6, 2));
  first.runs(add, ptg::flow("x").from(data(i)).to(second["a"](2 * i + i % 3 % 2)));
  second.runs(take, ptg::flow("a").from(first["x"](i / 2)), ptg::flow("x").from(data(9)));
  contains(said(), "of first(1) goes to the flow \"a\" of second(3), and there is no such task");
}

TEST_F(MisuseOfPtg, AValueForATaskThatDoesNotWaitForIt) {
  auto first = graph.task("first");
  auto second = graph.task("second", i.in(0, 1));
  const int line = __LINE__ + 1;
  first.runs(add, ptg::flow("x").from(data(0)).to(second["x"](1)));
  second.runs(add, ptg::flow("x").from(data(i + 1)));
  contains(said(), file_line(line) +
                       ": the flow \"x\" of first() goes to the flow \"x\" of second(1), which takes "
                       "data(2) from memory instead (" +
                       here(line + 1));
}

// A task with more inputs than it waits for would start too early or twice, whatever inputs it has and
// whether it has run.
struct SurplusEdges : MisuseOfPtg, testing::WithParamInterface<const char*> {
  SurplusEdges() { config_under(GetParam()); }
  void config_under(const char* scheduler) {
    Config config = two_workers();
    config.set("scheduler", scheduler);
    other.emplace(config);
    for (int& number : numbers) others.push_back(other->value("number", number));
    planned.emplace(*other);
    where.emplace(planned->data(others, "data"));
  }
  std::string said() {
    try {
      planned->run();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing";
  }
  std::optional<Runtime> other;
  std::vector<Handle<int>> others;
  std::optional<ptg::Graph> planned;
  std::optional<ptg::Collection> where;
};

TEST_P(SurplusEdges, OfAControlToATaskWithAnotherControl) {
  auto first = planned->task("first", i.in(0, 3));
  auto second = planned->task("second", i.in(0, 3));
  const int line = __LINE__ + 2;
  first.runs(add, ptg::flow("x").from((*where)(i)),
             ptg::control("go").to(second["go"](i)).to(second["go"](3)).when(i == 1));
  second.runs(add, ptg::flow("x").from((*where)(i + 4)), ptg::control("go").from(first["go"](i)));
  contains(said(), file_line(line) +
                       ": the control \"go\" of first(1) goes to the control \"go\" of second(3), which "
                       "does not wait for it");
  for (int number : numbers) EXPECT_LE(number, 1);  // none ran twice
}

TEST_P(SurplusEdges, OfAValueToAFinishedTask) {
  auto first = planned->task("first", i.in(0, 3));
  auto second = planned->task("second", i.in(0, 3));
  first.runs(take, ptg::flow("a").from((*where)(8)),
             ptg::flow("x").from((*where)(i)).to(second["a"](i)).to(second["a"](0)).when(i == 3),
             ptg::control("after").from(second(i - 1)).when(i > 0));
  second.runs(take, ptg::flow("a").from(first["x"](i)), ptg::flow("x").from((*where)(i + 4)));
  contains(said(),
           "the flow \"x\" of first(3) goes to the flow \"a\" of second(0), which takes the flow \"x\" of "
           "first(0) "
           "instead");
}

TEST_P(SurplusEdges, ThatAreStatedTwice) {
  auto first = planned->task("first", i.in(0, 3));
  auto second = planned->task("second", i.in(0, 3));
  first.runs(add, ptg::flow("x").from((*where)(i)),
             ptg::control("go").to(second["go"](i)).to(second["go"](j), j.in(i, i + i / 3)));
  second.runs(add, ptg::flow("x").from((*where)(i + 4)), ptg::control("go").from(first["go"](i)));
  contains(said(), "a second time");
}

// Each task gets as many inputs as it waits for, but from the wrong task.
TEST_P(SurplusEdges, ThatAreShifted) {
  auto first = planned->task("first", i.in(0, 3));
  auto second = planned->task("second", i.in(0, 3));
  first.runs(add, ptg::flow("x").from((*where)(i)).to(second["a"]((i + 1) % 4)));
  second.runs(take, ptg::flow("a").from(first["x"](i)), ptg::flow("x").from((*where)(i + 4)));
  contains(said(), "which takes the flow \"x\" of first(");
}

INSTANTIATE_TEST_SUITE_P(UnderPolicies, SurplusEdges, testing::Values("lws", "darts"));

// A control may be gathered from ranges and stated by each of them.
TEST_F(MisuseOfPtg, DoesNotIncludeAGatheredControl) {
  auto first = graph.task("first", i.in(0, 7));
  auto second = graph.task("second");
  first.runs(take, ptg::flow("a").from(data(9)), ptg::flow("x").from(data(i)),
             ptg::control("go").to(second["go"]()));
  second.runs(add, ptg::flow("x").from(data(8)),
              ptg::control("go").from(first["go"](2 * j + i), j.in(0, 3), i.in(0, 1)));
  EXPECT_EQ(said(), "nothing");
  EXPECT_EQ(ptg::sample_edges(ptg::make_class_table(graph.definitions()), 256).errors, 0u);
}

TEST_F(MisuseOfPtg, IsFoundInSamplesOfAnySize) {
  int one = 0;
  const ptg::Collection from = graph.data(runtime.value("one", one), "one");
  auto giver = graph.task("giver", i.in(0, 1'000'000), j.in(0, i));
  auto taker = graph.task("taker", i.in(0, 1'000'000), j.in(0, i));
  const Codelet<In<int>> read = codelet("read").cpu([](In<int>) {});
  const int line = __LINE__ + 1;
  giver.runs(read, ptg::flow("x").from(from()).to(taker["a"](i, j + 1)));
  taker.runs(read, ptg::flow("a").from(giver["x"](i, j - 1)).when(j > 0).from(from()));
  const ptg::EdgeSample checked = ptg::sample_edges(ptg::make_class_table(graph.definitions()), 256);
  EXPECT_GE(checked.errors, 1u);
  EXPECT_GE(checked.tasks, 1u);
  contains(checked.text, file_line(line));
  contains(checked.text, "and there is no such task");
}

TEST_F(MisuseOfPtg, AMapThatCannotBeInverted) {
  auto leaf = graph.task("leaf", i.in(0, 3));
  auto tree = graph.task("tree", i.in(0, 7));
  leaf.runs(add, ptg::flow("x").from(data(i)));
  tree.runs(take, ptg::flow("a").from(leaf["x"](i * i % 4)),
            ptg::flow("x").from(data(4)).when(i == 0).from(tree["x"](i - 1)));
  const std::string text = said();
  contains(text, "the input \"a\" of tree, defined at " + std::string(__FILE__));
  contains(text, "cannot be inverted");
  contains(text, "State the receivers with .to() at the flow \"x\" of leaf");
}

TEST_F(MisuseOfPtg, DoesNotIncludeAMapWithBothDirectionsStated) {
  auto leaf = graph.task("leaf", i.in(0, 3));
  auto tree = graph.task("tree", i.in(0, 7));
  const ptg::Index k("k");
  leaf.runs(add, ptg::flow("x").from(data(i)).to(tree["a"](k), k.in(0, 7)).when(i == k * k % 4));
  tree.runs(take, ptg::flow("a").from(leaf["x"](i * i % 4)),
            ptg::flow("x").from(data(4)).when(i == 0).from(tree["x"](i - 1)));
  EXPECT_EQ(said(), "nothing");
  EXPECT_EQ(numbers[4], 8);
}

TEST_F(MisuseOfPtg, AMissingFlow) {
  auto first = graph.task("first");
  first.runs(add, ptg::flow("value").from(data(0)));
  graph.task("second").runs(add, ptg::flow("x").from(first["valeu"]()));
  contains(said(), "names the flow \"valeu\" of first, which has no such (did you mean value?)");
}

TEST_F(MisuseOfPtg, WrongNumbersOfIndices) {
  auto first = graph.task("first", i.in(0, 1));
  first.runs(add, ptg::flow("x").from(data(i, 0)));
  contains(said(), "names data with 2 indices; it has 1");
}

TEST_F(MisuseOfPtg, AnUnknownIndex) {
  graph.task("first", i.in(0, 1)).runs(add, ptg::flow("x").from(data(j)));
  contains(said(), "the index j is not an index of this task");
}

TEST_F(MisuseOfPtg, AMissingDatum) {
  graph.task("first", i.in(0, 20)).runs(add, ptg::flow("x").from(data(i)));
  const std::string text = said();
  contains(text, "the flow \"x\" of first(");
  contains(text, ", and there is no such datum: data has 10");
}

TEST_F(MisuseOfPtg, ADatumInTwoCollections) {
  const ptg::Collection again = graph.data(handles, "again");
  graph.task("first").runs(take, ptg::flow("a").from(data(0)), ptg::flow("x").from(again(1)));
  contains(said(), "is in the data of a parameterized graph twice");
}

TEST_F(MisuseOfPtg, AnUnwrittenDatum) {
  const auto kept = runtime.vector<int>("kept", 8);
  const ptg::Collection unwritten = graph.data(kept, "unwritten");
  const auto change = codelet("change").cpu([](InOut<Vector<int>> x) { x.data()[0] = 1; });
  graph.task("first").runs(change, ptg::flow("x").from(unwritten()));
  contains(said(), "the flow \"x\" of first() takes unwritten(), which nothing has written yet");
}

TEST_F(MisuseOfPtg, ValuesOfAnotherType) {
  double other = 0;
  const ptg::Collection doubles = graph.data(runtime.value("other", other), "doubles");
  graph.task("first").runs(add, ptg::flow("x").from(doubles()));
  contains(said(), "its flow \"x\" is of another type than the data of doubles");
}

TEST_F(MisuseOfPtg, AClassThatDoesNothing) {
  graph.task("first", i.in(0, 1));
  contains(said(), "its tasks have no body: call runs()");
}

TEST_F(MisuseOfPtg, AFlowWithoutAnInput) {
  graph.task("first").runs(add, ptg::flow("x"));
  contains(said(), "its flow \"x\" has no input: call from()");
}

TEST_F(MisuseOfPtg, ChangesInAnyOrder) {
  const auto commute = codelet("commute").cpu([](Commute<int> x) { ++*x; });
  graph.task("first").runs(commute, ptg::flow("x").from(data(0)));
  contains(said(), "is changed in any order");
}

TEST_F(MisuseOfPtg, AStepOfZero) {
  graph.task("first", i.in(0, 5, 0)).runs(add, ptg::flow("x").from(data(i)));
  contains(said(), "goes in steps of 0");
}

TEST_F(MisuseOfPtg, ADivisionByZero) {
  auto first = graph.task("first", i.in(0, 5));
  first.runs(add, ptg::flow("x").from(data(i)).to(first["x"](7)).when(1 / (i - 3) > 5));
  contains(said(), "a division by 0");
  runtime.flush();
}

// For a task that becomes ready: its priority and its inputs. The other tasks finish, and the runtime
// continues.
class DivisionsByZero : public tests::NumbersUnderPolicy {
 public:
  /// `define(graph, numbers)` builds a graph of six tasks; the task with i = 3 divides by 0.
  template <class Define>
  void expect_error(Define&& define) {
    {
      ptg::Graph graph(*runtime);
      define(graph, graph.data(handles, "data"));
      for (int times = 0; times < 2; ++times) {
        try {
          graph.run();
          ADD_FAILURE() << "no error";
        } catch (const UsageError& error) {
          EXPECT_NE(std::string(error.what()).find("a division by 0"), std::string::npos) << error.what();
        }
      }
    }
    int number = 0;
    const auto handle = runtime->value("other", number);
    ptg::Graph graph(*runtime);
    auto chain = graph.task("chain", i.in(0, 5));
    chain.runs(add, ptg::flow("x").from(graph.data(handle, "other")()).when(i == 0).from(chain["x"](i - 1)));
    graph.run();
    EXPECT_EQ(number, 6);
  }

  const Codelet<InOut<int>, int> add_number =
      codelet("add_number").cpu([](InOut<int> x, int number) { *x += number; });
};

TEST_P(DivisionsByZero, InAPriority) {
  expect_error([&](ptg::Graph& graph, const ptg::Collection& data) {
    graph.task("t", i.in(0, 5)).runs(add, ptg::flow("x").from(data(i))).priority(1 / (i - 3));
  });
}

TEST_P(DivisionsByZero, InThePlaceOfADatum) {
  expect_error([&](ptg::Graph& graph, const ptg::Collection& data) {
    graph.task("t", i.in(0, 5)).runs(add, ptg::flow("x").from(data(i + 10 + 1 / (i - 3) * 0)));
  });
}

TEST_P(DivisionsByZero, InANumberOfABody) {
  expect_error([&](ptg::Graph& graph, const ptg::Collection& data) {
    graph.task("t", i.in(0, 5)).runs(add_number, ptg::flow("x").from(data(i)), 1 / (i - 3));
  });
}

TEST_P(DivisionsByZero, InAPriorityWithinAChain) {
  expect_error([&](ptg::Graph& graph, const ptg::Collection& data) {
    auto t = graph.task("t", i.in(0, 5));
    t.runs(add, ptg::flow("x").from(data(0)).when(i == 0).from(t["x"](i - 1))).priority(1 / (i - 3));
  });
}

TEST_P(DivisionsByZero, InTheConditionOfAnInputOfAChain) {
  expect_error([&](ptg::Graph& graph, const ptg::Collection& data) {
    auto t = graph.task("t", i.in(0, 5));
    t.runs(take, ptg::flow("a").from(data(7)).when(1 / (i - 3) > 5).from(data(8)),
           ptg::flow("x").from(data(0)).when(i == 0).from(t["x"](i - 1)));
  });
}

INSTANTIATE_TEST_SUITE_P(Policies, DivisionsByZero, testing::Values("lws", "eager", "ap", "darts"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_F(MisuseOfPtg, AGraphThatOutlivesItsRuntime) {
  auto other = std::make_unique<Runtime>(two_workers());
  int number = 1;
  const auto handle = other->value("number", number);
  ptg::Graph late(*other);
  late.task("first").runs(add, ptg::flow("x").from(late.data(handle, "data")()));
  late.run();
  EXPECT_EQ(number, 2);
  other.reset();
  EXPECT_THROW(late.run(), UsageError);
}

TEST_F(MisuseOfPtg, ARunInsideABody) {
  std::string inside;
  const auto nested = codelet("nested").cpu([&](InOut<int>) { inside = said(); });
  graph.task("first").runs(nested, ptg::flow("x").from(data(0)));
  graph.run();
  contains(inside, "run");
}

TEST_F(MisuseOfPtg, AClassAddedAfterTheRun) {
  graph.task("first").runs(add, ptg::flow("x").from(data(0)));
  EXPECT_EQ(said(), "nothing");
  contains(said_by([&] { graph.task("late"); }), "the class late is added too late");
}

TEST_F(MisuseOfPtg, RemovedData) {
  graph.task("first").runs(add, ptg::flow("x").from(data(0)));
  EXPECT_EQ(said(), "nothing");
  runtime.remove(handles[0]);
  contains(said(), "uses a datum of data that no longer exists");
}

TEST_F(MisuseOfPtg, FreshDataOfAnUnsupportedType) {
  graph.task("first", i.in(0, 0)).runs(add, ptg::flow("x").from(ptg::fresh_like(data)));
  contains(said(),
           "its flow \"x\" is a fresh datum like those of data, whose type does not support fresh data");
}

TEST_F(MisuseOfPtg, ABodyThatThrows) {
  const auto fail = codelet("fail").cpu([](InOut<int> x, int number) {
    if (number == 3) throw std::runtime_error("three");
    ++*x;
  });
  auto chain = graph.task("chain", i.in(0, 9));
  chain.runs(fail, ptg::flow("x").from(data(0)).when(i == 0).from(chain["x"](i - 1)), i);
  try {
    graph.run();
    FAIL();
  } catch (const TaskError& error) {
    contains(error.what(), "the task chain(3): fail(number), submitted at ");
    contains(error.what(), "failed: three");
    contains(error.what(), "6 tasks that needed its results were not run");
  }
  EXPECT_EQ(numbers[0], 3);
}

TEST_F(MisuseOfPtg, ATaskThatFitsNowhere) {
  const auto large = runtime.vector<int>("large", 1 << 20);
  const ptg::Collection all = graph.data(large, "large");
  const auto set = codelet("set").cpu([](Out<Vector<int>> x) { x.data()[0] = 1; });
  graph.task("first").runs(set, ptg::flow("x").from(all()));
  EXPECT_THROW(graph.run(), FootprintError);
}

TEST_F(MisuseOfPtg, ATaskOnTilesThatFitsNowhere) {
  const auto tiles = runtime.tiled<int>("M", 1100, 1100, 400);
  const ptg::Collection all = graph.data(tiles, "M");
  const auto two = codelet("two").cpu([](Out<Tile<int>> a, Out<Tile<int>>) { a(0, 0) = 1; });
  graph.task("first").runs(two, ptg::flow("x").from(all(2, 1)), ptg::flow("y").from(all(2, 2)));
  try {
    graph.run();
    FAIL();
  } catch (const FootprintError& error) {
    contains(error.what(), "the task two(M[0,0], M[0,0])");  // the largest tile stands for all of them
  }
}

}  // namespace fairlead
