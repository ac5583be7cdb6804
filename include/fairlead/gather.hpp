// Gathers the tiles of a distributed matrix, or a few numbers of each rank, on all ranks (an all-gather). The functions
// are collective: all ranks call them in the same order. Each call returns when this rank has all the values.
//
//   fairlead::gather(runtime, a, all.data(), n);  // all of a, on every rank
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead {

/// Copies matrix `a` to `into`, column-major: element (i, j) goes to into[i + j * leading_dimension]. If only the lower
/// tiles of `a` exist, the others are left unchanged in `into`. Throws as ptg::Graph::run().
template <class T>
void gather(Runtime& runtime, const TiledMatrix<T>& a, T* into, std::int64_t leading_dimension) {
  const std::uint32_t ranks = runtime.ranks();
  // Row r is owned by rank r: it places tasks on that rank.
  const auto of_rank = runtime.tiled<char>(
      "rank", ranks, 1, 1,
      Distribution([](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row); }));
  const std::int64_t height = a.tile_size().rows, width = a.tile_size().columns;
  const auto pass = codelet("pass").cpu([](In<Tile<T>>) {});
  const auto take = codelet("gather").cpu(
      [into, leading_dimension](In<Tile<T>> tile, std::int64_t row, std::int64_t column) {
        for (std::int32_t j = 0; j < tile.columns(); ++j)
          for (std::int32_t i = 0; i < tile.rows(); ++i)
            into[row + i + (column + j) * leading_dimension] = tile(i, j);
      });
  ptg::Graph graph(runtime);
  const ptg::Index i("i"), j("j"), r("r");
  const ptg::Range rows = i.in(0, a.tile_rows() - 1),
                   columns =
                       j.in(0, a.lower_only() ? ptg::Expression(i) : ptg::Expression(a.tile_columns() - 1));
  const ptg::Collection A = graph.data(a), R = graph.data(of_rank, "rank");
  auto have = graph.task("have", rows, columns);
  auto get = graph.task("gather", rows, columns, r.in(0, static_cast<std::int64_t>(ranks) - 1));
  have.runs(pass, ptg::flow("T").from(A(i, j))).at(A(i, j));
  get.runs(take, ptg::flow("T").from(have["T"](i, j)), i * height, j * width).at(R(r, 0));
  graph.run();
}

/// Returns the numbers of rank 0, then those of rank 1, and so on. Each rank must pass the same number of values.
inline std::vector<double> gather(Runtime& runtime, std::span<const double> own) {
  const auto count = static_cast<std::int32_t>(own.size()),
             ranks = static_cast<std::int32_t>(runtime.ranks());
  std::vector<double> all(own.size() * runtime.ranks());
  const auto numbers = runtime.tiled<double>(
      "numbers", count, ranks, TileSize{count, 1},
      Distribution([](std::int32_t, std::int32_t column) { return static_cast<std::uint32_t>(column); }));
  const auto say = codelet("say").cpu([own](Out<Tile<double>> tile) {
    for (std::int32_t i = 0; i < tile.rows(); ++i) tile(i, 0) = own[static_cast<std::size_t>(i)];
  });
  {
    ptg::Graph graph(runtime);
    const ptg::Index r("r");
    const ptg::Collection N = graph.data(numbers);
    auto speak = graph.task("say", r.in(0, ranks - 1));
    speak.runs(say, ptg::flow("T").from(N(0, r))).at(N(0, r));
    graph.run();
  }
  gather(runtime, numbers, all.data(), count);
  return all;
}

}  // namespace fairlead
