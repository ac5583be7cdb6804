// Tiles at the edges of a matrix and in the caller's memory: a body that uses mb x nb elements of each tile,
// as PaRSEC allows, changes only the matrix.
#include <gtest/gtest.h>

#include <vector>

#include "compiled_jdf/compiled.hpp"
#include "edges.hpp"

namespace fairlead::compiled_jdf {
namespace {

double added(std::int64_t i, std::int64_t j, std::int32_t tile) {
  return static_cast<double>(1 + i % tile + 10 * (j % tile));
}

}  // namespace

TEST(CompiledEdges, ChangeOnlyTheMatrixInTheRuntimesMemory) {
  const Plain<double> a = random_matrix<double>(10, 7, 11);
  Runtime runtime;
  Described<double> described(runtime, a, 4, Home::runtime);
  ptg::Graph graph(runtime);
  edges(graph, described.descriptor());
  graph.run();
  const Plain<double> after = described.numbers();
  for (std::int64_t j = 0; j < 7; ++j)
    for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(after(i, j), a(i, j) + added(i, j, 4));
}

TEST(CompiledEdges, ChangeOnlyTheMatrixInTheCallersMemory) {
  constexpr std::int64_t rows = 10, columns = 7, distance = 13, before = 5;
  std::vector<double> memory(before + distance * columns + 50, 3.0);
  {
    Runtime runtime;
    const auto matrix =
        runtime.tiled_in_place<double>("A", memory.data() + before, rows, columns, distance, 4);
    parsec::Descriptor descriptor(matrix);
    ptg::Graph graph(runtime);
    edges(graph, descriptor);
    graph.run();
  }
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(memory.size()); ++at) {
    const std::int64_t i = (at - before) % distance, j = (at - before) / distance;
    const bool inside = at >= before && i < rows && j < columns;
    EXPECT_EQ(memory[static_cast<std::size_t>(at)], inside ? 3.0 + added(i, j, 4) : 3.0) << at;
  }
}

// One full tile; the matrix is its corner.
TEST(CompiledEdges, ChangeOnlyAMatrixSmallerThanATile) {
  const Plain<double> a = random_matrix<double>(3, 1, 12);
  Runtime runtime;
  Described<double> described(runtime, a, 40, Home::runtime);
  ptg::Graph graph(runtime);
  edges(graph, described.descriptor());
  graph.run();
  const Plain<double> after = described.numbers();
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(after(i, 0), a(i, 0) + added(i, 0, 40));
}

}  // namespace fairlead::compiled_jdf
