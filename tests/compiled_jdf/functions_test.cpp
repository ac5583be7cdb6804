// Functions and a reduction tree as globals of a JDF file: a program passes them with their types.
#include <fairlead/core_blas_compat.h>
#include <gtest/gtest.h>

#include "compiled_jdf/compiled.hpp"
#include "functions.hpp"

namespace fairlead::compiled_jdf {
namespace {

int number_tile(parsec_execution_stream_t* es, const parsec_tiled_matrix_t* matrix, void* tile, int, int m,
                int n, void* step) {
  EXPECT_EQ(es, nullptr);
  static_cast<double*>(tile)[0] = *static_cast<const double*>(step) * (m + matrix->mt * n);
  return 0;
}

}  // namespace

TEST(FunctionsJdf, AreCalledByBodiesAndRanges) {
  const Plain<double> before = random_matrix<double>(12, 12, 1);
  Runtime runtime;
  Described<double> described(runtime, before, 4, Home::runtime);
  double step = 2;
  dplasma_qrtree_t tree{};
  tree.a = 5;
  tree.getnbgeqrf = [](const dplasma_qrtree_t* own, int k) { return own->a + k; };
  tree.currpiv = [](const dplasma_qrtree_t*, int, int m) { return m - 1; };
  tree.gettype = [](const dplasma_qrtree_t*, int, int m) { return m == 2 ? DPLASMA_QR_KILLED_BY_TS : 1; };
  ptg::Graph graph(runtime);
  functions(graph, PlasmaLower, described.descriptor(), number_tile, &step, tree);
  const ptg::Checked checked = graph.check();
  EXPECT_EQ(checked.errors, 0U) << checked.text;
  EXPECT_EQ(checked.tasks, 9U);
  graph.run();
  const Plain<double> after = described.numbers();
  for (int n = 0; n < 3; ++n)
    for (int m = 0; m < 3; ++m) {
      const double expected =
          step * (m + 3 * n) + (n > 0 ? 0 : 100 * (m - 1) + 1000 * (5 + m)) + (n == 0 && m == 2 ? 1e6 : 0);
      EXPECT_DOUBLE_EQ(after(4 * m, 4 * n), m < n ? before(4 * m, 4 * n) : expected) << m << ", " << n;
      EXPECT_DOUBLE_EQ(after(4 * m + 1, 4 * n), before(4 * m + 1, 4 * n));
    }
}

}  // namespace fairlead::compiled_jdf
