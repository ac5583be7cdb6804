// A task with or_copy() changes a value without waiting for its readers: they read a copy.
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <vector>

#include "little_memory.hpp"

namespace fairlead {
namespace {

using Numbers = Vector<double>;

// first(k) produces a value that reads(k) reads and next(k) changes. reads(k) also reads the result of
// next(k): without a copy, the two would wait for each other.
struct Circle {
  explicit Circle(Runtime& of) : runtime(of), graph(of) {
    for (int k = 0; k < 8; ++k) handles.push_back(runtime.vector<double>("value", 512));
    for (int k = 0; k < 8; ++k) results.push_back(runtime.vector<double>("result", 512));
  }
  void add(bool or_copy) {
    const ptg::Index k("k");
    const auto values = graph.data(handles, "values"), out = graph.data(results, "results");
    auto first = graph.task("first", k.in(0, 7)), next = graph.task("next", k.in(0, 7)),
         reads = graph.task("reads", k.in(0, 7));
    first.runs(codelet("fill").cpu([](Out<Numbers> to, std::int64_t number) {
      for (std::int64_t i = 0; i < to.size(); ++i) to(i) = static_cast<double>(number);
    }),
               ptg::flow("V").from(values(k)), k);
    auto changed = ptg::flow("V").from(first["V"](k));
    next.runs(codelet("add").cpu([](InOut<Numbers> to) {
      for (std::int64_t i = 0; i < to.size(); ++i) to(i) += 100;
    }),
              or_copy ? std::move(changed).or_copy() : changed);
    reads.runs(codelet("both").cpu([](In<Numbers> before, In<Numbers> after, Out<Numbers> sum) {
      for (std::int64_t i = 0; i < sum.size(); ++i) sum(i) = 1000 * before(i) + after(i);
    }),
               ptg::flow("before").from(first["V"](k)), ptg::flow("after").from(next["V"](k)),
               ptg::flow("sum").from(out(k)));
  }
  Runtime& runtime;
  ptg::Graph graph;
  std::vector<Handle<Numbers>> handles, results;
};

TEST(PtgCopies, WritersDoNotWaitForReadersOfACopy) {
  Config config;
  config.set("workers", 2);
  Runtime runtime(config);
  Circle circle(runtime);
  circle.add(true);
  EXPECT_EQ(circle.graph.check().text, "");
  EXPECT_EQ(circle.graph.tasks(), 32u);  // eight of them copy
  for (int run = 0; run < 2; ++run) {
    circle.graph.run();
    Flow flow(runtime);
    for (std::size_t k = 0; k < 8; ++k) {
      const auto hold = flow.acquire(read(circle.handles[k]), read(circle.results[k]));
      const double before = static_cast<double>(k);
      EXPECT_EQ(hold.get<0>()(511), before + 100);  // the value is in its own datum
      EXPECT_EQ(hold.get<1>()(511), 1000 * before + before + 100);
    }
  }
}
TEST(PtgCopies, WithoutCopiesTheGraphHasACycle) {
  Runtime runtime(tests::in_little_memory());
  Circle circle(runtime);
  circle.add(false);
  EXPECT_NE(circle.graph.check().text, "");
  EXPECT_THROW(circle.graph.run(), UsageError);
}

// Tiles of four sizes, in place in a matrix with a larger leading dimension, and in its lower triangle.
TEST(PtgCopies, ACopyHasTheSizeOfItsValue) {
  constexpr std::int32_t rows = 70, columns = 50, tile = 32;
  Config config;
  config.set("workers", 2);
  Runtime runtime(config);
  std::vector<double> elements(80 * columns, -1);
  auto matrix = runtime.tiled_in_place("A", elements.data(), rows, columns, 80, tile);
  ptg::Graph graph(runtime);
  const auto A = graph.data(matrix);
  const ptg::Index m("m"), n("n");
  const auto all_m = m.in(0, 2);
  const auto all_n = n.in(0, 1);
  auto first = graph.task("first", all_m, all_n), next = graph.task("next", all_m, all_n),
       reads = graph.task("reads", all_m, all_n);
  std::atomic<int> wrong{0}, seen{0};
  first.runs(codelet("fill").cpu([](Out<Tile<double>> to, std::int64_t i, std::int64_t j) {
    for (std::int32_t c = 0; c < to.columns(); ++c)
      for (std::int32_t r = 0; r < to.rows(); ++r)
        to(r, c) = static_cast<double>((32 * i + r) * 1000 + 32 * j + c);
  }),
             ptg::flow("T").from(A(m, n)), m, n);
  next.runs(codelet("negate").cpu([](InOut<Tile<double>> to) {
    for (std::int32_t c = 0; c < to.columns(); ++c)
      for (std::int32_t r = 0; r < to.rows(); ++r) to(r, c) = -to(r, c);
  }),
            ptg::flow("T").from(first["T"](m, n)).or_copy());
  reads.runs(codelet("compare").cpu([&](In<Tile<double>> before, In<Tile<double>> after) {
    seen += before.rows() * before.columns();
    for (std::int32_t c = 0; c < before.columns(); ++c)
      for (std::int32_t r = 0; r < before.rows(); ++r) wrong += before(r, c) != -after(r, c);
  }),
             ptg::flow("before").from(first["T"](m, n)), ptg::flow("after").from(next["T"](m, n)));
  graph.run();
  EXPECT_EQ(seen, rows * columns);
  EXPECT_EQ(wrong, 0);
}

// A task that forwards the value to its writer has the value itself; the writer waits for it.
TEST(PtgCopies, AValueForItsOnlyWriterIsNotCopied) {
  Runtime runtime(tests::in_little_memory());
  const std::vector handles{runtime.vector<double>("a", 4), runtime.vector<double>("b", 4)};
  ptg::Graph graph(runtime);
  const auto values = graph.data(handles, "values");
  const ptg::Index k("k");
  auto first = graph.task("first", k.in(0, 1)), shows = graph.task("shows", k.in(0, 1)),
       last = graph.task("last", k.in(0, 1));
  first.runs(codelet("fill").cpu([](Out<Numbers> to) { to(0) = 1; }), ptg::flow("V").from(values(k)));
  shows.runs(codelet("look").cpu([](In<Numbers>) {}), ptg::flow("V").from(first["V"](k)));
  // One task receives the value from its producer, the other from its reader.
  last.runs(codelet("add").cpu([](InOut<Numbers> to) { to(0) += 1; }),
            ptg::flow("V").from(first["V"](k)).when(k == 0).from(shows["V"](k)).or_copy());
  EXPECT_EQ(graph.tasks(), 6u);
  graph.run();
  Flow flow(runtime);
  for (const auto& handle : handles) EXPECT_EQ(flow.acquire(read(handle)).get<0>()(0), 2);
}

// A task changes the value of its predecessor and reads the old value, for a predecessor of its own class and
// for a fresh value.
TEST(PtgCopies, ATaskReadsWhatItChanges) {
  Config config;
  config.set("workers", 2);
  config.set("memory", "1MiB");
  Runtime runtime(config);
  const auto result = runtime.vector<double>("result", 4096), like = runtime.vector<double>("like", 4096);
  for (const bool fresh : {false, true}) {
    ptg::Graph graph(runtime);
    const auto out = graph.data(result, "out"), some = graph.data(like, "some");
    const ptg::Index i("i");
    auto first = graph.task("first", i.in(0, 0)), step = graph.task("step", i.in(1, 10)),
         last = graph.task("last", i.in(0, 0));
    const auto each = [](const auto& vector, const auto& to) {
      for (std::int64_t k = 0; k < vector.size(); ++k) to(k);
    };
    first.runs(codelet("fill").cpu([each](Out<Numbers> to) { each(to, [&](std::int64_t k) { to(k) = 1; }); }),
               ptg::flow("V").from(fresh ? ptg::fresh_like(some) : some()));
    step.runs(codelet("add twice").cpu([each](In<Numbers> before, InOut<Numbers> now) {
      each(now, [&](std::int64_t k) { now(k) += 2 * before(k); });
    }),
              ptg::flow("before").from(first["V"](0)).when(i == 1).from(step["V"](i - 1)),
              ptg::flow("V").from(first["V"](0)).when(i == 1).from(step["V"](i - 1)).or_copy());
    last.runs(codelet("keep").cpu([each](In<Numbers> of, Out<Numbers> to) {
      each(to, [&](std::int64_t k) { to(k) = of(k); });
    }),
              ptg::flow("of").from(step["V"](10)), ptg::flow("to").from(out()));
    EXPECT_EQ(graph.check().text, "");
    for (int run = 0; run < 3; ++run) {
      graph.run();
      Flow flow(runtime);
      const auto hold = flow.acquire(read(result));
      EXPECT_EQ(hold.get<0>()(0), 59049) << fresh;  // 3 to the 10
      EXPECT_EQ(hold.get<0>()(4095), 59049) << fresh;
    }
  }
}

// Both ends state the edge.
TEST(PtgCopies, CopiesApplyToEdgesStatedByTheGiver) {
  Config config;
  config.set("workers", 2);
  Runtime runtime(config);
  const std::vector handles{runtime.vector<double>("a", 4)};
  ptg::Graph graph(runtime);
  const auto values = graph.data(handles, "values");
  const ptg::Index i("i"), j("j");
  auto first = graph.task("first", i.in(0, 0)), reads = graph.task("reads", i.in(0, 5)),
       last = graph.task("last", i.in(0, 0));
  std::atomic<int> ones{0};
  first.runs(codelet("fill").cpu([](Out<Numbers> to) { to(0) = 1; }),
             ptg::flow("V").from(values(i)).to(reads["V"](j), j.in(0, 5)));
  reads.runs(codelet("look").cpu([&](In<Numbers> of) { ones += of(0) == 1; }),
             ptg::flow("V").from(first["V"](i / 6)), ptg::control("after").from(last(0)));
  last.runs(codelet("add").cpu([](InOut<Numbers> to) { to(0) += 1; }),
            ptg::flow("V").from(first["V"](i)).or_copy());
  EXPECT_EQ(graph.check().text, "");
  graph.run();
  EXPECT_EQ(ones, 6);
}

TEST(PtgCopies, RequireArraysThatAreChanged) {
  Runtime runtime(tests::in_little_memory());
  double number = 1;
  const auto value = runtime.value("number", number);
  const auto vector = runtime.vector<double>("a", 4);
  ptg::Graph graph(runtime);
  const ptg::Index k("k");
  const auto data = graph.data(value, "number"), vectors = graph.data(vector, "vector");
  auto first = graph.task("first", k.in(0, 0)), second = graph.task("second", k.in(0, 0));
  const auto refused = [](const std::function<void()>& add) -> std::string {
    try {
      add();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refused([&] {
              first.runs(codelet("add").cpu([](InOut<double>) {}), ptg::flow("N").from(data()).or_copy());
            }).find("only tiles, vectors and blocks"),
            std::string::npos);
  EXPECT_NE(refused([&] {
              second.runs(codelet("look").cpu([](In<Numbers>) {}), ptg::flow("V").from(vectors()).or_copy());
            }).find("it changes nothing"),
            std::string::npos);
}

}  // namespace
}  // namespace fairlead
