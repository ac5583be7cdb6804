// What the reflectors of a QR factorization do to columns of tiles, as classes of a parameterized graph: to those right
// of a panel, or to right-hand sides.
//
// With a binary tree the tile in row i of step k is annihilated at the distance d that is the lowest bit of i - k, by
// the one in row p = i - d. Before, it was itself on top of others at distances 1, 2, ... d / 2, as far as the matrix
// goes.
#pragma once
#include <fairlead/parameterized_linalg.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "algorithms/linalg/qr_kernels.hpp"

namespace fairlead::linalg {

/// The indices of tasks that work on two rows, of a matrix of so many tiles a column.
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

  /// Where the two values of a task come from that joins rows p and i: start(row) is that with which a row begins
  /// the step, top(row) is the upper value of the task that annihilates this row.
  template <class Start, class Top>
  ptg::FlowSpecification upper(ptg::FlowSpecification flow, const Start& start, const Top& top) const {
    return std::move(flow).from(start(i_ - 1)).when(d_ == 1).from(top(i_ - d_ / 2));
  }
  template <class Start, class Top>
  ptg::FlowSpecification lower(ptg::FlowSpecification flow, const Start& start, const Top& top) const {
    return std::move(flow).from(start(i_)).when(e_ == 0).from(top(i_ + e_));
  }
  /// Where a value goes: of row i at the beginning of the step; of the upper row of a join. top(row), bottom(row): the
  /// two flows of the task that annihilates this row.
  template <class Top, class Bottom>
  ptg::FlowSpecification from_start(ptg::FlowSpecification flow, const Top& top, const Bottom& bottom) const {
    return on(std::move(flow), i_, 1, top, bottom);
  }
  template <class Top, class Bottom>
  ptg::FlowSpecification from_upper(ptg::FlowSpecification flow, const Top& top, const Bottom& bottom) const {
    return on(std::move(flow), i_ - d_, 2 * d_, top, bottom);
  }
  /// The row that row k annihilates last, in a step k that has any.
  ptg::Expression last_below(const ptg::Expression& step) const {
    const auto row = [rows = rows_](std::span<const std::int64_t> numbers) {
      std::int64_t distance = 1;
      while (numbers[0] + 2 * distance < rows) distance *= 2;
      return numbers[0] + distance;
    };
    return ptg::computed("last_below", row, {step});
  }
  /// The value is that of row k when the step is over: at its beginning, or of the upper row of a join.
  ptg::Expression start_is_last() const { return i_ == k_ && k_ == rows_ - 1; }
  ptg::Expression upper_is_last() const { return i_ - d_ == k_ && i_ + d_ >= rows_; }

 private:
  /// The row goes on top of the one at this distance, or is annihilated.
  template <class Top, class Bottom>
  ptg::FlowSpecification on(ptg::FlowSpecification flow, const ptg::Expression& row,
                            const ptg::Expression& distance, const Top& top, const Bottom& bottom) const {
    const ptg::Expression on_top = (row - k_) % (2 * distance) == 0 && row + distance < rows_;
    return std::move(flow).to(top(row + distance)).when(on_top).to(bottom(row)).when(row > k_ && !on_top);
  }
  std::int32_t rows_;
  ptg::Index k_{"k"}, i_{"i"};
  // Of a binary tree: the distance at which the row is annihilated, and the last at which it is on top before; 0: none.
  ptg::Index d_{"d"}, e_{"e"};
};

/// Where reflectors and their factors are, by step and row: of a tile that became a triangle, and of one that was
/// annihilated.
struct ReflectorPlaces {
  using Of = std::function<ptg::Place(const ptg::Expression& k, const ptg::Expression& i)>;
  Of triangle, triangle_factors, joined, joined_factors;
};

/// Over ranks: where what is rotated is. Rows go to those that they are joined with, and come home at the end.
struct RotatedPlaces {
  using Of = std::function<ptg::Place(const ptg::Expression& row, const ptg::Expression& column)>;
  Of begins;      ///< with what a tile begins
  Of home;        ///< where its last value is left. Nothing: where it is anyway
  bool rows_end;  ///< when row k is rotated for the last time, in step k, it goes home
  /// Where the tasks of step k for a tile of that row and column run.
  std::function<ptg::Place(const ptg::Expression& row, const ptg::Expression& step,
                           const ptg::Expression& column)>
      where;
};

/// Q^T to columns of tiles: the classes "unmqr", and "tsmqr" or "ttmqr".
class QrUpdates {
 public:
  /// Of a matrix of these tiles; `column` has the columns that step k works on.
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

  /// What they do, to the tiles at `c`. `steps`: the priority of step 0 in row 0.
  /// `last(flow, condition)`: the flow, that leaves the value of row k if the condition holds.
  template <class T, class Last>
  void run(const QrUpdateKernels<T>& body, const ReflectorPlaces& places, const RotatedPlaces& c,
           ScratchSize work, const ptg::Expression& steps, const Last& last) {
    using ptg::flow;
    const ptg::Index &k = tiles_.step(), &i = tiles_.row();
    const auto v = flow("V").from(places.joined(k, i)), t = flow("T").from(places.joined_factors(k, i));
    const auto from_before = [&](ptg::FlowSpecification of, const ptg::Expression& row) {
      return std::move(of).from(c.begins(row, j_)).when(k == 0).from(join_["C"](k - 1, row, j_));
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
          .runs(body.tsmqr, v, t, c.rows_end ? home(top, k, i == rows_ - 1) : top,
                home(from_before(flow("C"), i), i, in_last_step), work)
          .priority(steps - (i + k))
          .at(c.where(i, k, j_));
      return;
    }
    const auto start = [&](const ptg::Expression& row) { return unmqr_["C"](k, row, j_); };
    const auto top = [&](const ptg::Expression& row) { return join_["B"](k, row, j_); };
    const auto bottom = [&](const ptg::Expression& row) { return join_["C"](k, row, j_); };
    const auto ends = [&](ptg::FlowSpecification of, const ptg::Expression& condition) {
      return c.rows_end ? home(last(std::move(of), condition), k, condition) : last(std::move(of), condition);
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

  /// Of step k, when row i is annihilated: its value in column j.
  ptg::Place annihilated(const ptg::Expression& k, const ptg::Expression& i, const ptg::Expression& j) const {
    return join_["C"](k, i, j);
  }
  /// The flow, to which the value of row k comes from step k of a flat tree, if the condition holds.
  ptg::FlowSpecification from_flat(ptg::FlowSpecification flow, const ptg::Expression& k,
                                   const ptg::Expression& j, const ptg::Expression& condition) const {
    return std::move(flow)
        .from(unmqr_["C"](k, j))
        .when(condition && k == rows_ - 1)
        .from(join_["B"](k, rows_ - 1, j))
        .when(condition && k < rows_ - 1);
  }
  /// The same of a binary one.
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
