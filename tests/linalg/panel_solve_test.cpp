// The solve in panels, beside that of the library in one piece.
#include <gtest/gtest.h>

#include "algorithms/linalg/blas/panel_solve.hpp"
#include "linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

TEST(PanelSolve, AgreesWithASolveInOnePiece) {
  for (const auto& [m, n] : {std::pair(5, 1), {7, 95}, {96, 96}, {30, 97}, {200, 193}, {64, 300}}) {
    auto l = dense<double>(GeneratedSpd<double>(n, 1));
    const auto a = dense<double>(GeneratedUniform<double>(m, n, 2));
    ASSERT_EQ(kernels().blas().potrf<double>(Triangle::lower, n, l.elements.data(), n), 0);
    auto whole = a, panels = a;
    kernels().blas().trsm<double>(Side::right, Triangle::lower, Transpose::yes, Diagonal::general, m, n, 1,
                                  l.elements.data(), n, whole.elements.data(), m);
    panel_solve<double>(kernels().blas(), m, n, l.elements.data(), n, panels.elements.data(), m);
    for (std::size_t i = 0; i < whole.elements.size(); ++i)
      ASSERT_NEAR(panels.elements[i], whole.elements[i], 1e-14) << m << " x " << n;
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
