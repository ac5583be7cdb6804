// From all ranks to each: the tiles of a matrix that is dealt out, or a few numbers of every rank. All ranks call these,
// in the same order; each returns when this rank has everything.
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

/// Column-major: element (i, j) of the matrix goes to into[i + j * leading_dimension]. Of a triangle the rest is left as
/// it is. Throws as ptg::Graph::run.
template <class T>
void gather(Runtime& runtime, const TiledMatrix<T>& a, T* into, std::int64_t leading_dimension) {
  const std::uint32_t ranks = runtime.ranks();
  // Names a rank by a datum that it has.
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

/// The numbers of rank 0, then those of rank 1, and so on; each gives as many.
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
