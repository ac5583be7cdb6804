// The solve in panels compared with one call of the library.
#include <gtest/gtest.h>

#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

TEST(PanelSolve, AgreesWithASingleSolve) {
  constexpr TriangularSolve transposed{Side::left, Triangle::upper, Transpose::yes, Diagonal::general};
  for (const TriangularSolve& solve : {below_cholesky<double>, below_lu, right_of_lu, transposed})
    for (const auto& [m, n] : {std::pair(5, 1), {7, 95}, {96, 96}, {30, 97}, {200, 193}, {64, 300}}) {
      ASSERT_TRUE(goes_forward(solve));
      const int order = solve.side == Side::right ? n : m;
      auto t = dense<double>(GeneratedSpd<double>(order, 1));
      if (solve.diagonal == Diagonal::unit)
        for (double& element : t.elements) element /= order;
      const auto a = dense<double>(GeneratedUniform<double>(m, n, 2));
      auto whole = a, panels = a;
      kernels().blas().trsm<double>(solve.side, solve.triangle, solve.op, solve.diagonal, m, n, 1,
                                    t.elements.data(), order, whole.elements.data(), m);
      panel_solve<double>(kernels().blas(), solve, m, n, t.elements.data(), order, panels.elements.data(), m);
      for (std::size_t i = 0; i < whole.elements.size(); ++i)
        ASSERT_NEAR(panels.elements[i], whole.elements[i], 1e-13) << m << " x " << n;
    }
}

TEST(PanelSolve, DoesNotApplyToBackwardSolves) {
  EXPECT_FALSE(goes_forward({Side::left, Triangle::upper, Transpose::no, Diagonal::general}));
  EXPECT_FALSE(goes_forward({Side::left, Triangle::lower, Transpose::yes, Diagonal::general}));
  EXPECT_FALSE(goes_forward({Side::right, Triangle::lower, Transpose::no, Diagonal::general}));
  EXPECT_FALSE(goes_forward({Side::right, Triangle::upper, Transpose::yes, Diagonal::general}));
}

}  // namespace
}  // namespace fairlead::linalg::testing
