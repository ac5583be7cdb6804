// The solve with an upper triangle as classes of a parameterized graph: the last part of solves that differ in what
// comes before.
#pragma once
#include <fairlead/ptg.hpp>

#include <cstdint>

#include "algorithms/linalg/passed_on.hpp"
#include "algorithms/linalg/upper_solve.hpp"

namespace fairlead::linalg {

/// As solve_upper() of a flow: its tasks are solve(k, c) and update(k, i, c), for column c of tiles.
class UpperClasses {
 public:
  UpperClasses(ptg::Graph& graph, std::int32_t rows_of_tiles, std::int32_t columns_of_tiles)
      : rows_(rows_of_tiles),
        solve_(graph.task("solve_upper", k_.in(0, rows_ - 1), c_.in(0, columns_of_tiles - 1))),
        update_(graph.task("update_upper", k_.in(1, rows_ - 1), i_.in(0, k_ - 1),
                           c_.in(0, columns_of_tiles - 1))) {}

  /// What its tasks do. `begun(flow, row, column, condition)`: the flow, to which the value of that tile of b has
  /// come before, if the condition holds.
  template <class T, class Begun>
  void run(const Kernels& kernels, const UpperTriangle& triangle, const SolvePlaces<T>& of, std::int32_t tile,
           const Begun& begun) {
    using ptg::flow;
    const UpperKernels<T> body(kernels, triangle, UpperForm::plain);
    const ptg::Expression first = k_ == rows_ - 1;
    solve_
        .runs(body.solve, flow("U").from(of.matrix(k_, k_)),
              of.ends(begun(flow("X"), k_, c_, first).from(update_["Y"](k_ + 1, k_, c_)), k_, c_, 1),
              k_ * std::int64_t{tile})
        .priority(2 * k_)
        .at(of.where(k_, k_, k_, c_));
    update_
        .runs(body.update, flow("U").from(of.matrix(i_, k_)), flow("X").from(solve_["X"](k_, c_)),
              begun(flow("Y"), i_, c_, first).from(update_["Y"](k_ + 1, i_, c_)))
        .priority(k_ + i_)
        .at(of.where(i_, k_, i_, c_));
  }
  /// The flow, whose value is that with which this row of b begins here, if the condition holds. To be said where it
  /// cannot be found out.
  ptg::FlowSpecification begins(ptg::FlowSpecification flow, const ptg::Expression& row,
                                const ptg::Expression& column, const ptg::Expression& condition) const {
    return std::move(flow)
        .to(solve_["X"](row, column))
        .when(condition && row == rows_ - 1)
        .to(update_["Y"](rows_ - 1, row, column))
        .when(condition && row < rows_ - 1);
  }

 private:
  std::int32_t rows_;
  ptg::Index k_{"k"}, i_{"i"}, c_{"c"};
  ptg::TaskClass solve_, update_;
};

}  // namespace fairlead::linalg
