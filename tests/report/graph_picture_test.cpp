// Pictures of graphs: every task or class has a box and every edge an arrow; the same graph gives the same bytes.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "front/unrolled/task_graph.hpp"
#include "report/graph/graph_picture.hpp"

namespace fairlead::report {
namespace {

std::size_t times_in(std::string_view text, std::string_view what) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += what.size()) ++out;
  return out;
}

/// T(0) -> T(1) -> ... and each of them -> U(k).
unrolled::TaskGraph chain_with_leaves(std::int32_t count) {
  unrolled::TaskGraph graph;
  graph.classes = {{"T", {"k"}, {{"X", unrolled::FlowAccess::read_write, "a:1:1"}}, "a:1:1"},
                   {"U", {"k"}, {{"X", unrolled::FlowAccess::read, "a:2:1"}}, "a:2:1"}};
  const auto end = [&](unrolled::TaskId task, std::uint32_t of, std::int32_t k) {
    graph.numbers.push_back(k);
    return unrolled::EdgeEnd{.task = task,
                             .kind = unrolled::EdgeEnd::Kind::task,
                             .of = of,
                             .count = 1,
                             .first_number = static_cast<std::uint32_t>(graph.numbers.size() - 1)};
  };
  for (std::uint32_t of = 0; of < 2; ++of)
    for (std::int32_t k = 0; k < count; ++k) {
      const auto task = static_cast<unrolled::TaskId>(graph.tasks.size());
      graph.tasks.push_back({of, static_cast<std::uint32_t>(graph.numbers.size()), 0});
      graph.numbers.push_back(k);
      if (of == 1 || k > 0) graph.inputs.push_back(end(task, 0, of == 1 ? k : k - 1));
      if (of == 0 && k + 1 < count) graph.outputs.push_back(end(task, 0, k + 1));
      if (of == 0) graph.outputs.push_back(end(task, 1, k));
    }
  return graph;
}

}  // namespace

TEST(GraphPicture, HasABoxForEveryTaskAndAnArrowForEveryEdge) {
  const std::string picture = graph_picture(chain_with_leaves(5));
  EXPECT_EQ(times_in(picture, "rx=\"4\""), 10U);
  EXPECT_EQ(times_in(picture, "marker-end"), 9U);
  for (const char* name : {">T(0)<", ">T(4)<", ">U(3)<"}) EXPECT_EQ(times_in(picture, name), 1U) << name;
  EXPECT_EQ(picture, graph_picture(chain_with_leaves(5)));
}

TEST(GraphPicture, LargeOnesAreDrawnByClass) {
  const std::string picture = graph_picture(chain_with_leaves(300));
  EXPECT_EQ(times_in(picture, "rx=\"4\""), 2U);
  EXPECT_EQ(times_in(picture, "marker-end"), 2U);  // T to itself, and to U
  EXPECT_EQ(times_in(picture, ">T: 300<"), 1U);
  EXPECT_EQ(times_in(picture, ">299<"), 1U);
  EXPECT_EQ(times_in(picture, ">300<"), 1U);
}

TEST(GraphPicture, CyclesAndEmptyGraphsAreDrawnToo) {
  unrolled::TaskGraph graph = chain_with_leaves(3);
  graph.numbers.push_back(2);
  graph.inputs.push_back({.task = 0,
                          .kind = unrolled::EdgeEnd::Kind::task,
                          .of = 0,
                          .count = 1,
                          .first_number = static_cast<std::uint32_t>(graph.numbers.size() - 1)});
  EXPECT_EQ(times_in(graph_picture(graph), "marker-end"), 6U);
  EXPECT_EQ(times_in(graph_picture(unrolled::TaskGraph()), "</svg>"), 1U);
}

}  // namespace fairlead::report
