// The solve with an upper triangle as task classes of a parameterized graph: the last phase of several solves.
#pragma once
#include <fairlead/ptg.hpp>

#include <cstdint>

#include "algorithms/linalg/forwarded_data.hpp"
#include "algorithms/linalg/upper_solve.hpp"

namespace fairlead::linalg {

/// Like solve_upper() for flows: the tasks are solve(k, c) and update(k, i, c), for column c of tiles.
class UpperClasses {
 public:
  UpperClasses(ptg::Graph& graph, std::int32_t rows_of_tiles, std::int32_t columns_of_tiles)
      : rows_(rows_of_tiles),
        solve_(graph.task("solve_upper", k_.in(0, rows_ - 1), c_.in(0, columns_of_tiles - 1))),
        update_(graph.task("update_upper", k_.in(1, rows_ - 1), i_.in(0, k_ - 1),
                           c_.in(0, columns_of_tiles - 1))) {}

  /// Defines the tasks. `begun(flow, row, column, condition)` adds the origin of that tile of b in the preceding phase
  /// to the flow, for tasks for which the condition holds.
  template <class T, class Begun>
  void run(const Kernels& kernels, const UpperTriangle& triangle, const SolvePlacement<T>& of,
           std::int32_t tile, const Begun& add_origin) {
    using ptg::flow;
    const UpperKernels<T> body(kernels, triangle, UpperForm::plain);
    const ptg::Expression first = k_ == rows_ - 1;
    solve_
        .runs(body.solve, flow("U").from(of.matrix(k_, k_)),
              of.add_final_destination(
                  add_origin(flow("X"), k_, c_, first).from(update_["Y"](k_ + 1, k_, c_)), k_, c_, 1),
              k_ * std::int64_t{tile})
        .priority(2 * k_)
        .at(of.place_of_task(k_, k_, k_, c_));
    update_
        .runs(body.update, flow("U").from(of.matrix(i_, k_)), flow("X").from(solve_["X"](k_, c_)),
              add_origin(flow("Y"), i_, c_, first).from(update_["Y"](k_ + 1, i_, c_)))
        .priority(k_ + i_)
        .at(of.place_of_task(i_, k_, i_, c_));
  }
  /// Adds a destination to the flow: the first task of this phase that uses this row of b, for tasks for which the
  /// condition holds. Needed where the destination cannot be derived from the origins.
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
