// Data for tasks on other ranks. A task reads from collections only data of its own rank. For distributed matrices, an
// extra task on the owner rank therefore forwards each datum.
#pragma once
#include <fairlead/parameterized_linalg.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::linalg {

/// Data of a collection that tasks on any rank can read.
template <class D>
class ForwardedData {
 public:
  /// Without forward() tasks read the data directly, which suffices with one rank.
  explicit ForwardedData(ptg::Collection data) : data_(std::move(data)) {}

  /// Forwards the data with these indices, for runs with several ranks. `controls`: dependencies of the forwarding
  /// tasks.
  template <class... C>
  void forward(ptg::Graph& graph, const std::string& name, std::vector<ptg::Range> indices,
               const ptg::Expression& priority, const C&... controls) {
    const auto nothing = codelet("pass").cpu([](In<D>) {}).emulated();
    const std::vector<ptg::Index> at = parameters_of(indices);
    forwarding_.emplace(graph.task(name, std::move(indices)));
    const ptg::Place place = at.size() == 1 ? data_(at[0]) : data_(at[0], at[1]);
    forwarding_->runs(nothing, ptg::flow("D").from(place), controls...).at(place).priority(priority);
  }
  template <class... I>
  ptg::Place operator()(const I&... indices) const {
    return forwarding_ ? (*forwarding_)["D"](indices...) : data_(indices...);
  }

 private:
  static std::vector<ptg::Index> parameters_of(const std::vector<ptg::Range>& ranges) {
    std::vector<ptg::Index> indices;
    for (const ptg::Range& range : ranges) indices.push_back(range.index);
    return indices;
  }
  ptg::Collection data_;
  std::optional<ptg::TaskClass> forwarding_;
};

/// The places of the tasks of a solve in distributed runs, where a tile of the matrix and rows of right-hand sides
/// meet. A single column of tiles of right-hand sides is sent to the matrix; with several columns, tiles of the matrix
/// are sent to them.
template <class T>
class SolvePlacement {
 public:
  SolvePlacement(ptg::Graph& graph, const TiledMatrix<T>& a, const TiledMatrix<T>& b)
      : is_distributed_(a.distribution() != nullptr),
        owner_of_matrix_computes_(is_distributed_ && b.tile_columns() == 1),
        a_(graph.data(a)),
        b_(graph.data(b, "B")),
        matrix_(a_),
        sides_(b_),
        rows_(a.tile_rows()),
        columns_(a.tile_columns()),
        lower_only_(a.lower_only()),
        columns_of_sides_(b.tile_columns()) {}

  /// Call it before requesting other places. `before(step)`: the task that marks the start of that step of the solve.
  /// Tiles of column j are forwarded when step j - steps_ahead has been reached; those of the first `steps_ahead`
  /// columns immediately.
  template <class Before>
  void forward(ptg::Graph& graph, const Before& before) {
    const ptg::Index i("i"), j("j");
    const ptg::Range row = i.in(0, rows_ - 1);
    const ptg::Expression rows = rows_, columns = columns_;
    if (owner_of_matrix_computes_)
      sides_.forward(graph, "pass B", {row, j.in(0, columns_of_sides_ - 1)}, 5 * rows);
    else if (is_distributed_)
      matrix_.forward(graph, "pass A", {row, j.in(0, lower_only_ ? min(i, columns - 1) : columns - 1)},
                      4 * rows - i - j, not_before(before, j));
  }
  /// A control dependency: data are sent at most `steps_ahead` steps in advance, as the receivers must keep them.
  template <class Before>
  static ptg::FlowSpecification not_before(const Before& before, const ptg::Expression& step) {
    constexpr int steps_ahead = 2;
    return ptg::control("not before").from(before(step - steps_ahead)).when(step >= steps_ahead);
  }

  bool is_distributed() const noexcept { return is_distributed_; }
  /// True if tiles of the matrix are sent to the right-hand sides.
  bool sends_matrix() const noexcept { return is_distributed_ && !owner_of_matrix_computes_; }
  ptg::Place matrix(const ptg::Expression& i, const ptg::Expression& j) const { return matrix_(i, j); }
  const ptg::Collection& right_hand_sides() const noexcept { return b_; }
  /// The initial value of a tile of the right-hand sides.
  ptg::Place right_hand_side(const ptg::Expression& i, const ptg::Expression& c) const {
    return sides_(i, c);
  }
  /// The place of a task for tile (i, j) of the matrix and (to, c) of the right-hand sides.
  ptg::Place place_of_task(const ptg::Expression& i, const ptg::Expression& j, const ptg::Expression& to,
                           const ptg::Expression& c) const {
    return owner_of_matrix_computes_ ? a_(i, j) : b_(to, c);
  }
  /// Adds the home of that tile as a destination of the flow, whose value is the tile's final one if the condition
  /// holds.
  ptg::FlowSpecification add_final_destination(ptg::FlowSpecification flow, const ptg::Expression& i,
                                               const ptg::Expression& c,
                                               const ptg::Expression& condition) const {
    return is_distributed_ ? std::move(flow).to(b_(i, c)).when(condition) : flow;
  }

 private:
  bool is_distributed_, owner_of_matrix_computes_;
  ptg::Collection a_, b_;
  ForwardedData<Tile<T>> matrix_, sides_;
  std::int32_t rows_, columns_;
  bool lower_only_;
  std::int32_t columns_of_sides_;
};

}  // namespace fairlead::linalg
