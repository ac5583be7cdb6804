// See over_ranks.hpp: two small parameterized graphs.
#include "algorithms/linalg/over_ranks.hpp"

#include <fairlead/ptg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/linalg/krylov_vectors.hpp"

namespace fairlead::linalg {

template <class T>
std::vector<T> gathered(Runtime& runtime, const TiledMatrix<T>& matrix) {
  std::vector<T> all(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
  const NumbersOfRanks places(runtime, 1);
  ptg::Graph graph(runtime);
  const ptg::Index i("i"), j("j"), r("r");
  const ptg::Collection M = graph.data(matrix), S = places.in(graph);
  const ptg::Range row = i.in(0, matrix.tile_rows() - 1), column = j.in(0, matrix.tile_columns() - 1);
  auto give = graph.task("give", row, column);
  give.runs(codelet("pass").cpu([](In<Tile<T>>) {}), ptg::flow("M").from(M(i, j))).at(M(i, j));
  const auto keep = codelet("keep").cpu([&all, rows = matrix.rows(), side = std::int64_t{matrix.tile()}](
                                            In<Tile<T>> tile, std::int64_t at_row, std::int64_t at_column) {
    for (std::int32_t c = 0; c < tile.columns(); ++c)
      for (std::int32_t k = 0; k < tile.rows(); ++k)
        all[static_cast<std::size_t>(at_row * side + k + (at_column * side + c) * rows)] = tile(k, c);
  });
  graph.task("keep", r.in(0, places.ranks() - 1), row, column)
      .runs(keep, ptg::flow("M").from(give["M"](i, j)), i, j)
      .at(S(r));
  graph.run();
  return all;
}

void largest_of_ranks(Runtime& runtime, std::span<double> numbers) {
  const NumbersOfRanks places(runtime, static_cast<std::int64_t>(numbers.size()));
  ptg::Graph graph(runtime);
  const ptg::Index r("r"), q("q");
  const ptg::Collection S = places.in(graph);
  const auto last = places.ranks() - 1;
  std::vector<double> largest(numbers.begin(), numbers.end());
  auto give = graph.task("give", q.in(0, last));
  give.runs(codelet("give").cpu([numbers](Out<Vector<double>> own) {
        for (std::int64_t k = 0; k < own.size(); ++k) own(k) = numbers[static_cast<std::size_t>(k)];
      }),
            ptg::flow("own").from(S(q)))
      .at(S(q));
  auto keep = graph.task("keep", r.in(0, last), q.in(0, last));
  keep.runs(codelet("largest").cpu([&largest](In<Vector<double>> of_one) {
        for (std::int64_t k = 0; k < of_one.size(); ++k) {
          double& so_far = largest[static_cast<std::size_t>(k)];
          so_far = std::isnan(of_one(k)) || std::isnan(so_far) ? std::numeric_limits<double>::quiet_NaN()
                                                               : std::max(so_far, of_one(k));
        }
      }),
            ptg::flow("own").from(give["own"](q)), ptg::control("after").from(keep(r, q - 1)).when(q > 0))
      .at(S(r));
  graph.run();
  std::ranges::copy(largest, numbers.begin());
}

template std::vector<float> gathered<float>(Runtime&, const TiledMatrix<float>&);
template std::vector<double> gathered<double>(Runtime&, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
