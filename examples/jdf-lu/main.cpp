// An LU factorization without pivoting, with the tasks of ../jdf/lu.jdf, of a matrix in the program's memory in
// LAPACK's layout; checks that L times U equals the matrix.
//
//   jdf_lu [ROWS [COLUMNS [TILE]]]
#include <fairlead/fairlead.hpp>
#include <fairlead/parsec.hpp>
#include <fairlead/ptg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lu.hpp"

using namespace fairlead;

int main(int count, char** arguments) try {
  const std::int64_t rows = count > 1 ? std::atoi(arguments[1]) : 420,
                     columns = count > 2 ? std::atoi(arguments[2]) : 350;
  const std::int32_t tile = count > 3 ? std::atoi(arguments[3]) : 64;

  // Diagonally dominant, so no pivoting is needed.
  std::vector<double> a(static_cast<std::size_t>(rows * columns));
  const auto at = [&](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i + j * rows); };
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      a[at(i, j)] = std::sin(static_cast<double>(3 * i + 5 * j)) + (i == j ? static_cast<double>(rows) : 0.0);
  const std::vector<double> before = a;

  int info = 0;
  {
    Runtime runtime;
    const TiledMatrix<double> matrix =
        runtime.tiled_in_place<double>("A", a.data(), rows, columns, rows, tile);
    parsec::Descriptor descriptor(matrix);
    ptg::Graph graph(runtime);
    lu(graph, descriptor, &info);
    graph.run();
  }  // now the whole result is in the program's memory
  if (info != 0) {
    std::printf("the pivot in column %d is zero\n", info);
    return 1;
  }

  double worst = 0;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      double sum = i <= j ? a[at(i, j)] : 0.0;
      for (std::int64_t k = 0; k < std::min(i, j + 1); ++k) sum += a[at(i, k)] * a[at(k, j)];
      worst = std::max(worst, std::abs(sum - before[at(i, j)]) / static_cast<double>(rows));
    }
  std::printf("%lld x %lld in tiles of %d: |L U - A| / m = %g\n", static_cast<long long>(rows),
              static_cast<long long>(columns), tile, worst);
  return worst < 1e-14 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
