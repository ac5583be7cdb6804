// A matrix product, C = alpha A B + beta C, with the tasks of ../jdf/gemm.jdf; compares the result with plain loops.
// FAIRLEAD_MEMORY sets the memory limit, for an out-of-core run.
//
//   jdf_gemm [SIZE [TILE]]
#include <fairlead/fairlead.hpp>
#include <fairlead/parsec.hpp>
#include <fairlead/ptg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "gemm.hpp"

using namespace fairlead;

namespace {

double of_a(std::int64_t i, std::int64_t j) { return std::sin(static_cast<double>(i + 2 * j)); }
double of_b(std::int64_t i, std::int64_t j) { return std::cos(static_cast<double>(2 * i - j)); }
double of_c(std::int64_t i, std::int64_t j) { return static_cast<double>(i - j); }

/// A matrix that is computed instead of stored until a task writes it.
TiledMatrix<double> matrix(Runtime& runtime, const char* name, std::int64_t rows, std::int64_t columns,
                           std::int32_t tile, double (*element)(std::int64_t, std::int64_t)) {
  const auto fill = [element](TileView<double> t, std::int64_t row, std::int64_t column) {
    for (std::int32_t j = 0; j < t.columns(); ++j)
      for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = element(row + i, column + j);
  };
  return runtime.tiled<double>(name, rows, columns, tile, generated_by(fill));
}

}  // namespace

int main(int count, char** arguments) try {
  const std::int64_t n = count > 1 ? std::atoi(arguments[1]) : 400;
  const std::int32_t tile = count > 2 ? std::atoi(arguments[2]) : 72;
  const std::int64_t rows = n, columns = n - n / 5, depth = n + n / 7;
  const double alpha = 1.5, beta = -2;

  Runtime runtime;
  const TiledMatrix<double> a = matrix(runtime, "A", rows, depth, tile, of_a),
                            b = matrix(runtime, "B", depth, columns, tile, of_b),
                            c = matrix(runtime, "C", rows, columns, tile, of_c);
  parsec::Descriptor of_a_matrix(a), of_b_matrix(b), of_c_matrix(c);
  ptg::Graph graph(runtime);
  gemm(graph, alpha, beta, of_a_matrix, of_b_matrix, of_c_matrix);
  graph.run();

  double worst = 0;
  const auto compare = codelet("compare").cpu(
      [&](In<Tile<double>> t, std::int64_t row, std::int64_t column, InOut<double> so_far) {
        for (std::int32_t j = 0; j < t.columns(); ++j)
          for (std::int32_t i = 0; i < t.rows(); ++i) {
            double sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) sum += of_a(row + i, k) * of_b(k, column + j);
            const double expected = alpha * sum + beta * of_c(row + i, column + j);
            *so_far = std::max(*so_far, std::abs(t(i, j) - expected) / static_cast<double>(depth));
          }
      });
  const Handle<double> result = runtime.value("worst", worst);
  Flow flow(runtime);
  for (std::int32_t j = 0; j < c.tile_columns(); ++j)
    for (std::int32_t i = 0; i < c.tile_rows(); ++i)
      flow.submit(compare(c(i, j), std::int64_t{i} * tile, std::int64_t{j} * tile, result));
  flow.wait();
  std::printf("%lld x %lld x %lld in tiles of %d: |C - plain C| / k = %g\n", static_cast<long long>(rows),
              static_cast<long long>(columns), static_cast<long long>(depth), tile, worst);
  return worst < 1e-14 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
