// Applies the reflectors of a QR factorization to columns of tiles, as task classes of a parameterized graph: to the
// tiles right of a panel, or to right-hand sides.
//
// With a binary tree, row p = i - d annihilates the tile in row i of step k, where the distance d is the lowest set bit
// of i - k. Before, row i itself annihilates others, at distances 1, 2, ... d / 2 within the matrix.
#pragma once
#include <fairlead/parameterized_linalg.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "algorithms/linalg/qr_kernels.hpp"

namespace fairlead::linalg {

/// The indices of tasks that join two rows, for a matrix with `rows` tiles per column.
class TreeOfRows {
 public:
  explicit TreeOfRows(std::int32_t rows) : rows_(rows) {}

  const ptg::Index& step() const noexcept { return k_; }
  const ptg::Index& row() const noexcept { return i_; }
  ptg::Range below() const { return i_.in(k_ + 1, rows_ - 1); }
  ptg::Range distance() const { return d_.is((i_ - k_) & (k_ - i_)); }
  ptg::Range last_on_top() const {
    const auto last = [rows = rows_](std::span<const std::int64_t> numbers) {
      const std::int64_t row = numbers[0];
      std::int64_t found = numbers[1] / 2;
      while (found > 0 && row + found >= rows) found /= 2;
      return found;
    };
    return e_.is(ptg::computed("last_on_top", last, {i_, d_}));
  }

  /// The origins of the two values of a task that joins rows p and i. start(row): the value of a row at the start of
  /// the step; top(row): the upper value of the task that annihilates this row.
  template <class Start, class Top>
  ptg::FlowSpecification upper(ptg::FlowSpecification flow, const Start& start, const Top& top) const {
    return std::move(flow).from(start(i_ - 1)).when(d_ == 1).from(top(i_ - d_ / 2));
  }
  template <class Start, class Top>
  ptg::FlowSpecification lower(ptg::FlowSpecification flow, const Start& start, const Top& top) const {
    return std::move(flow).from(start(i_)).when(e_ == 0).from(top(i_ + e_));
  }
  /// The destinations of a value: that of row i at the start of the step; that of the upper row of a join. top(row),
  /// bottom(row): the two flows of the task that annihilates this row.
  template <class Top, class Bottom>
  ptg::FlowSpecification from_start(ptg::FlowSpecification flow, const Top& top, const Bottom& bottom) const {
    return on(std::move(flow), i_, 1, top, bottom);
  }
  template <class Top, class Bottom>
  ptg::FlowSpecification from_upper(ptg::FlowSpecification flow, const Top& top, const Bottom& bottom) const {
    return on(std::move(flow), i_ - d_, 2 * d_, top, bottom);
  }
  /// The row that row k annihilates last, in a step k with more than one row.
  ptg::Expression last_below(const ptg::Expression& step) const {
    const auto row = [rows = rows_](std::span<const std::int64_t> numbers) {
      std::int64_t distance = 1;
      while (numbers[0] + 2 * distance < rows) distance *= 2;
      return numbers[0] + distance;
    };
    return ptg::computed("last_below", row, {step});
  }
  /// True if the value is the final one of row k in this step: the one at its start, or that of the upper row of a
  /// join.
  ptg::Expression start_is_last() const { return i_ == k_ && k_ == rows_ - 1; }
  ptg::Expression upper_is_last() const { return i_ - d_ == k_ && i_ + d_ >= rows_; }

 private:
  /// The row is the upper one of a join at this distance, or is annihilated.
  template <class Top, class Bottom>
  ptg::FlowSpecification on(ptg::FlowSpecification flow, const ptg::Expression& row,
                            const ptg::Expression& distance, const Top& top, const Bottom& bottom) const {
    const ptg::Expression on_top = (row - k_) % (2 * distance) == 0 && row + distance < rows_;
    return std::move(flow).to(top(row + distance)).when(on_top).to(bottom(row)).when(row > k_ && !on_top);
  }
  std::int32_t rows_;
  ptg::Index k_{"k"}, i_{"i"};
  // Binary tree: the distance at which the row is annihilated, and the last at which it is the upper row before; 0:
  // none.
  ptg::Index d_{"d"}, e_{"e"};
};

/// The places of reflectors and their factors, by step and row: for a tile that was reduced to a triangle, and for one
/// that was annihilated.
struct ReflectorPlaces {
  using Of = std::function<ptg::Place(const ptg::Expression& k, const ptg::Expression& i)>;
  Of triangle, triangle_factors, joined, joined_factors;
};

/// The places of the rotated tiles in distributed runs. Rows move to the rows that they are joined with, and home at
/// the end.
struct UpdatePlacement {
  using Of = std::function<ptg::Place(const ptg::Expression& row, const ptg::Expression& column)>;
  Of initial;          ///< the initial value of a tile
  Of home;             ///< the place of its final value. Nothing: no transfer
  bool row_goes_home;  ///< row k goes home after its last rotation, in step k
  /// The place where the tasks of step k run for a tile of this row and column.
  std::function<ptg::Place(const ptg::Expression& row, const ptg::Expression& step,
                           const ptg::Expression& column)>
      where;
};

/// Applies Q^T to columns of tiles: the classes "unmqr", and "tsmqr" or "ttmqr".
class QrUpdates {
 public:
  /// `rows`, `columns`: of the matrix, in tiles. `column`: the columns that step k works on.
  QrUpdates(ptg::Graph& graph, QrTree tree, std::int32_t rows, std::int32_t columns, const TreeOfRows& tiles,
            const ptg::Range& column)
      : tree_(tree),
        rows_(rows),
        columns_(columns),
        tiles_(tiles),
        j_(column.index),
        unmqr_(tree == QrTree::flat ? graph.task("unmqr", tiles.step().in(0, columns - 1), column)
                                    : graph.task("unmqr", tiles.step().in(0, columns - 1),
                                                 tiles.row().in(tiles.step(), rows - 1), column)),
        join_(tree == QrTree::flat
                  ? graph.task("tsmqr", tiles.step().in(0, columns - 1), tiles.below(), column)
                  : graph.task("ttmqr", tiles.step().in(0, columns - 1), tiles.below(), tiles.distance(),
                               tiles.last_on_top(), column)) {}

  /// Defines the tasks, for the tiles at `c`. `steps`: the priority of step 0 in row 0. `last(flow, condition)` adds
  /// the destination of the final value of row k to the flow, for tasks for which the condition holds.
  template <class T, class Last>
  void run(const QrUpdateKernels<T>& body, const ReflectorPlaces& places, const UpdatePlacement& c,
           ScratchSize work, const ptg::Expression& steps, const Last& last) {
    using ptg::flow;
    const ptg::Index &k = tiles_.step(), &i = tiles_.row();
    const auto v = flow("V").from(places.joined(k, i)), t = flow("T").from(places.joined_factors(k, i));
    const auto from_before = [&](ptg::FlowSpecification of, const ptg::Expression& row) {
      return std::move(of).from(c.initial(row, j_)).when(k == 0).from(join_["C"](k - 1, row, j_));
    };
    const auto home = [&](ptg::FlowSpecification of, const ptg::Expression& row,
                          const ptg::Expression& condition) {
      return c.home ? std::move(of).to(c.home(row, j_)).when(condition) : of;
    };
    const ptg::Expression in_last_step = k == columns_ - 1;
    if (tree_ == QrTree::flat) {
      unmqr_
          .runs(body.unmqr, flow("V").from(places.triangle(k, k)),
                flow("T").from(places.triangle_factors(k, k)), from_before(flow("C"), k), work)
          .priority(steps - 2 * k)
          .at(c.where(k, k, j_));
      const auto top = flow("B").from(unmqr_["C"](k, j_)).when(i == k + 1).from(join_["B"](k, i - 1, j_));
      join_
          .runs(body.tsmqr, v, t, c.row_goes_home ? home(top, k, i == rows_ - 1) : top,
                home(from_before(flow("C"), i), i, in_last_step), work)
          .priority(steps - (i + k))
          .at(c.where(i, k, j_));
      return;
    }
    const auto start = [&](const ptg::Expression& row) { return unmqr_["C"](k, row, j_); };
    const auto top = [&](const ptg::Expression& row) { return join_["B"](k, row, j_); };
    const auto bottom = [&](const ptg::Expression& row) { return join_["C"](k, row, j_); };
    const auto ends = [&](ptg::FlowSpecification of, const ptg::Expression& condition) {
      return c.row_goes_home ? home(last(std::move(of), condition), k, condition)
                             : last(std::move(of), condition);
    };
    unmqr_
        .runs(body.unmqr, flow("V").from(places.triangle(k, i)),
              flow("T").from(places.triangle_factors(k, i)),
              ends(tiles_.from_start(from_before(flow("C"), i), top, bottom), tiles_.start_is_last()), work)
        .priority(steps - (i + k))
        .at(c.where(i, k, j_));
    join_
        .runs(
            body.ttmqr, v, t,
            ends(tiles_.from_upper(tiles_.upper(flow("B"), start, top), top, bottom), tiles_.upper_is_last()),
            home(tiles_.lower(flow("C"), start, top), i, in_last_step), work)
        .priority(steps - (i + k))
        .at(c.where(i, k, j_));
  }

  /// The task of step k that applies the reflectors of the triangle in row k.
  ptg::Place initial(const ptg::Expression& k, const ptg::Expression& j) const {
    return tree_ == QrTree::flat ? unmqr_(k, j) : unmqr_(k, k, j);
  }
  /// The value of row i in column j after the task of step k that annihilates it.
  ptg::Place annihilated(const ptg::Expression& k, const ptg::Expression& i, const ptg::Expression& j) const {
    return join_["C"](k, i, j);
  }
  /// Adds an origin to the flow: the final value of row k in step k of a flat tree, for tasks for which the condition
  /// holds.
  ptg::FlowSpecification from_flat(ptg::FlowSpecification flow, const ptg::Expression& k,
                                   const ptg::Expression& j, const ptg::Expression& condition) const {
    return std::move(flow)
        .from(unmqr_["C"](k, j))
        .when(condition && k == rows_ - 1)
        .from(join_["B"](k, rows_ - 1, j))
        .when(condition && k < rows_ - 1);
  }
  /// The same for a binary tree.
  ptg::FlowSpecification from_binary(ptg::FlowSpecification flow, const ptg::Expression& k,
                                     const ptg::Expression& j, const ptg::Expression& condition) const {
    return std::move(flow)
        .from(unmqr_["C"](k, k, j))
        .when(condition && k == rows_ - 1)
        .from(join_["B"](k, tiles_.last_below(k), j))
        .when(condition && k < rows_ - 1);
  }

 private:
  QrTree tree_;
  std::int32_t rows_, columns_;
  const TreeOfRows& tiles_;
  ptg::Index j_;
  ptg::TaskClass unmqr_, join_;
};

}  // namespace fairlead::linalg
