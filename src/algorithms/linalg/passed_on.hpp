// Over ranks: data that tasks of other ranks read. A task takes from collections only what its own rank has, so where
// a matrix is dealt out, each of its data is passed on by a task that does nothing else, where the datum is.
#pragma once
#include <fairlead/parameterized_linalg.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::linalg {

/// Data of a collection as all tasks can take them, whichever rank they run on.
template <class D>
class PassedOn {
 public:
  /// On one rank: as they are.
  explicit PassedOn(ptg::Collection data) : data_(std::move(data)) {}

  /// Over ranks: those with these indices. `controls`: what they wait for.
  template <class... C>
  void pass(ptg::Graph& graph, const std::string& name, std::vector<ptg::Range> indices,
            const ptg::Expression& priority, const C&... controls) {
    const auto nothing = codelet("pass").cpu([](In<D>) {}).emulated();
    const std::vector<ptg::Index> at = parameters_of(indices);
    passing_.emplace(graph.task(name, std::move(indices)));
    const ptg::Place place = at.size() == 1 ? data_(at[0]) : data_(at[0], at[1]);
    passing_->runs(nothing, ptg::flow("D").from(place), controls...).at(place).priority(priority);
  }
  template <class... I>
  ptg::Place operator()(const I&... indices) const {
    return passing_ ? (*passing_)["D"](indices...) : data_(indices...);
  }

 private:
  static std::vector<ptg::Index> parameters_of(const std::vector<ptg::Range>& ranges) {
    std::vector<ptg::Index> indices;
    for (const ptg::Range& range : ranges) indices.push_back(range.index);
    return indices;
  }
  ptg::Collection data_;
  std::optional<ptg::TaskClass> passing_;
};

/// Where the tasks of a solve run over ranks: a tile of the matrix and some rows of the right-hand sides meet. Few
/// right-hand sides travel to the matrix; where they are many, its tiles travel to them.
template <class T>
class SolvePlaces {
 public:
  SolvePlaces(ptg::Graph& graph, const TiledMatrix<T>& a, const TiledMatrix<T>& b)
      : over_ranks_(a.distribution() != nullptr),
        at_matrix_(over_ranks_ && b.tile_columns() == 1),
        a_(graph.data(a)),
        b_(graph.data(b, "B")),
        matrix_(a_),
        sides_(b_) {
    const ptg::Index i("i"), j("j");
    const ptg::Expression rows = a.tile_rows(), columns = a.tile_columns();
    const ptg::Range row = i.in(0, rows - 1);
    if (at_matrix_)
      sides_.pass(graph, "pass B", {row, j.in(0, b.tile_columns() - 1)}, 5 * rows);
    else if (over_ranks_)
      matrix_.pass(graph, "pass A", {row, j.in(0, a.lower_only() ? min(i, columns - 1) : columns - 1)},
                   4 * rows - i - j);
  }

  bool over_ranks() const noexcept { return over_ranks_; }
  /// Tiles of the matrix go to where the right-hand sides are.
  bool matrix_travels() const noexcept { return over_ranks_ && !at_matrix_; }
  ptg::Place matrix(const ptg::Expression& i, const ptg::Expression& j) const { return matrix_(i, j); }
  const ptg::Collection& sides() const noexcept { return b_; }
  /// With which the tile of the right-hand sides begins.
  ptg::Place side(const ptg::Expression& i, const ptg::Expression& c) const { return sides_(i, c); }
  /// Of a task for tile (i, j) of the matrix and (to, c) of the right-hand sides.
  ptg::Place where(const ptg::Expression& i, const ptg::Expression& j, const ptg::Expression& to,
                   const ptg::Expression& c) const {
    return at_matrix_ ? a_(i, j) : b_(to, c);
  }
  /// The flow, which has the last value of that tile if the condition holds.
  ptg::FlowSpecification ends(ptg::FlowSpecification flow, const ptg::Expression& i, const ptg::Expression& c,
                              const ptg::Expression& condition) const {
    return over_ranks_ ? std::move(flow).to(b_(i, c)).when(condition) : flow;
  }

 private:
  bool over_ranks_, at_matrix_;
  ptg::Collection a_, b_;
  PassedOn<Tile<T>> matrix_, sides_;
};

}  // namespace fairlead::linalg
