// A Cholesky factorization with the tasks of ../jdf/cholesky.jdf; checks that L times its transpose equals the matrix.
// FAIRLEAD_MEMORY sets the memory limit, for an out-of-core run.
//
//   jdf_cholesky [SIZE [TILE]]
#include <fairlead/fairlead.hpp>
#include <fairlead/parsec.hpp>
#include <fairlead/ptg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cholesky.hpp"

using namespace fairlead;

namespace {

double element(std::int64_t i, std::int64_t j, std::int64_t n) {
  return 1.0 / (1.0 + static_cast<double>(std::abs(i - j))) + (i == j ? static_cast<double>(n) : 0.0);
}

}  // namespace

int main(int count, char** arguments) try {
  const std::int64_t n = count > 1 ? std::atoi(arguments[1]) : 500;
  const std::int32_t tile = count > 2 ? std::atoi(arguments[2]) : 96;

  Runtime runtime;
  const TiledMatrix<double> a = runtime.tiled<double>("A", n, n, tile);
  const auto fill = codelet("fill").cpu([n](Out<Tile<double>> t, std::int64_t row, std::int64_t column) {
    for (std::int32_t j = 0; j < t.columns(); ++j)
      for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = element(row + i, column + j, n);
  });
  Flow flow(runtime);
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j)
      flow.submit(fill(a(i, j), std::int64_t{i} * tile, std::int64_t{j} * tile));

  int info = 0;
  parsec::Descriptor descriptor(a);
  ptg::Graph graph(runtime);
  cholesky(graph, descriptor, &info);
  graph.run();
  if (info != 0) {
    std::printf("the leading minor of order %d is not positive definite\n", info);
    return 1;
  }

  std::vector<double> l(static_cast<std::size_t>(n * n), 0.0);
  const auto keep = codelet("keep").cpu([&l, n](In<Tile<double>> t, std::int64_t row, std::int64_t column) {
    for (std::int32_t j = 0; j < t.columns(); ++j)
      for (std::int32_t i = 0; i < t.rows(); ++i)
        if (row + i >= column + j) l[static_cast<std::size_t>(row + i + (column + j) * n)] = t(i, j);
  });
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j <= i; ++j)
      flow.submit(keep(a(i, j), std::int64_t{i} * tile, std::int64_t{j} * tile));
  flow.wait();

  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k <= j; ++k)
        sum += l[static_cast<std::size_t>(i + k * n)] * l[static_cast<std::size_t>(j + k * n)];
      worst = std::max(worst, std::abs(sum - element(i, j, n)) / static_cast<double>(n));
    }
  std::printf("%lld x %lld in tiles of %d: |L L^T - A| / n = %g\n", static_cast<long long>(n),
              static_cast<long long>(n), tile, worst);
  return worst < 1e-14 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
