// Estimates norms of an inverse. Tasks generate the vectors and evaluate the results, one tile each, so the program
// does not need access to data on other nodes or on disk. Each tile's result has its own slot; they are combined in
// order.
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/inverse_norm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "algorithms/linalg/factored_solve.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::int64_t most_vectors = 8;  // for each of the two norms

std::int64_t vectors_for(std::int64_t n, bool weighted) noexcept {
  return std::min(n, weighted ? 2 * most_vectors : most_vectors);
}
/// The number of vectors without weights. Half of the vectors if there are few: weighted_row_maxima() needs the weighted ones.
std::int64_t plain_vectors_for(std::int64_t n, bool weighted) noexcept {
  return std::min(most_vectors, weighted ? (n + 1) / 2 : n);
}

/// The maximum; NaN if either is NaN.
double largest_of(double a, double b) noexcept { return std::isnan(a) || a > b ? a : b; }

struct Row {
  double size = -1;  // the maximum absolute value of its elements
  std::int64_t row = 0;
  /// Larger sizes first; NaN before all others.
  bool operator<(const Row& other) const noexcept {
    const double mine = std::isnan(size) ? HUGE_VAL : size,
                 others = std::isnan(other.size) ? HUGE_VAL : other.size;
    return mine != others ? mine > others : row < other.row;
  }
};

/// The result of one tile.
struct TileResult {
  std::vector<double> sums;      // per column, of absolute values
  std::vector<double> weighted;  // per column, of absolute values times the weight of the row
  std::vector<double> diagonal;  // second step, per column: the element in the row of its unit vector
  // First step: the rows with the largest elements, in the columns without weights and in the columns with weights.
  std::array<std::vector<Row>, 2> candidates;
  std::vector<double> largest;  // per row, over the columns with weights
};

}  // namespace

template <class T>
class InverseNorm<T>::Implementation {
 public:
  Implementation(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse,
                 std::vector<double> weights)
      : runtime_(runtime),
        inverse_(std::move(inverse)),
        n_(n),
        count_(vectors_for(n_, !weights.empty())),
        plain_(plain_vectors_for(n_, !weights.empty())),
        weights_(std::move(weights)),
        memory_(runtime.ranks() == 1 ? static_cast<std::size_t>(n_ * count_) : 0),
        vectors_(runtime.ranks() == 1
                     ? runtime.tiled_in_place<T>("condition", memory_.data(), n_, count_, n_, tile)
                     : runtime.tiled<T>("condition", n_, count_, tile, Distribution::over(runtime.ranks()))) {
    tile_results_.resize(static_cast<std::size_t>(vectors_.tile_rows()) *
                         static_cast<std::size_t>(vectors_.tile_columns()));
    if (weights_.empty()) return;
    if (std::ssize(weights_) != n_)
      throw UsageError(fmt::format("{} weights for an inverse of {} rows", weights_.size(), n_));
    for (const double weight : weights_) unit_ = largest_of(weight, unit_);
    if (unit_ > 0)
      for (double& weight : weights_) weight /= unit_;
  }

  void begin(Flow& flow) {
    if (steps_ == steps) throw UsageError("the norm of the inverse has been estimated: no step is left");
    if (++steps_ == 1) {
      for_each_tile(flow,
                    codelet("probe").cpu([this](Out<Tile<T>> x, Place place) { fill_signs(x, place); }));
    } else {
      choose_rows();
      tile_results_.assign(tile_results_.size(), {});
      for_each_tile(flow,
                    codelet("probe").cpu([this](Out<Tile<T>> x, Place place) { fill_units(x, place); }));
    }
  }
  void end(Flow& flow) {
    for_each_tile(flow, codelet("look").cpu([this](In<Tile<T>> y, Place place) { evaluate(y, place); }));
  }
  void submit(Flow& flow) {
    begin(flow);
    (steps_ == 1 ? inverse_.plain : inverse_.transposed)(flow, vectors_);
    end(flow);
  }
  std::uint64_t tasks() const noexcept {
    return inverse_.tasks(vectors_.tile_columns()) + 2 * tile_results_.size();
  }

  void combine_ranks() {
    if (runtime_.ranks() == 1) return;
    const std::size_t room = numbers_of_tile();
    std::vector<double> own(tile_results_.size() * room);
    for (std::size_t t = 0; t < tile_results_.size(); ++t) pack(tile_results_[t], own.data() + t * room);
    const std::vector<double> all = gather(runtime_, own);
    for (std::size_t one = 0; one < all.size(); one += room) {
      if (all[one] == 0) continue;
      const auto t = static_cast<std::int32_t>(one / room % tile_results_.size());
      unpack(all.data() + one, vectors_.rows_of(t / vectors_.tile_columns()),
             vectors_.columns_of(t % vectors_.tile_columns()), tile_results_[static_cast<std::size_t>(t)]);
    }
  }

  double value() const {
    if (steps_ == 0) return 0;
    std::vector<double> sums = of_columns(&TileResult::sums);
    if (steps_ < steps) sums.resize(static_cast<std::size_t>(plain_));
    double largest = 0;
    for (const double sum : sums) {
      if (!std::isfinite(sum)) return HUGE_VAL;
      largest = std::max(largest, sum);
    }
    // || A^-1 x || <= || A^-1 || || x || in the one norm, and vectors of 1 and -1 have norm n.
    return steps_ == steps ? largest : largest / static_cast<double>(n_);
  }

  std::vector<RowOfInverse> rows() const {
    if (steps_ < steps) throw UsageError("rows of the inverse are known after the last step");
    const auto sums = of_columns(&TileResult::sums), weighted = of_columns(&TileResult::weighted),
               diagonal = of_columns(&TileResult::diagonal);
    std::vector<RowOfInverse> all;
    for (std::size_t c = 0; c < rows_.size(); ++c)
      all.push_back({rows_[c], sums[c], weighted[c] * unit_, diagonal[c]});
    return all;
  }
  std::vector<T> elements() const {
    if (runtime_.ranks() == 1) return memory_;
    std::vector<T> all(static_cast<std::size_t>(n_ * count_));
    gather(runtime_, vectors_, all.data(), n_);
    return all;
  }
  const std::vector<double>& weighted_row_maxima() const noexcept { return weighted_row_maxima_; }
  bool is_weighted() const noexcept { return !weights_.empty(); }

  int steps_done() const noexcept { return steps_; }
  const TiledMatrix<T>& vectors() const noexcept { return vectors_; }

 private:
  struct Place {
    std::int64_t row, column;  // the first element of the tile
    std::size_t index;
  };
  template <class C>
  void for_each_tile(Flow& flow, const C& codelet) {
    const std::int64_t side = vectors_.tile();
    std::size_t index = 0;
    for (std::int32_t i = 0; i < vectors_.tile_rows(); ++i)
      for (std::int32_t j = 0; j < vectors_.tile_columns(); ++j)
        flow.submit(codelet(vectors_(i, j), Place{i * side, j * side, index++}));
  }

  std::size_t numbers_of_tile() const noexcept {
    // Whether the tile has been evaluated; sums, weighted sums, diagonal; candidates of both kinds; the maximum of each
    // row.
    const auto count = static_cast<std::size_t>(count_);
    return 1 + 3 * count + 4 * count + (weights_.empty() ? 0 : static_cast<std::size_t>(vectors_.tile()));
  }
  void pack(const TileResult& result, double* at) const {
    const auto count = static_cast<std::size_t>(count_);
    *at++ = result.sums.empty() ? 0 : 1;
    for (const auto* numbers : {&result.sums, &result.weighted, &result.diagonal}) {
      std::ranges::copy(*numbers, at);
      at += count;
    }
    for (const auto& rows : result.candidates) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        at[2 * k] = rows[k].size;
        at[2 * k + 1] = static_cast<double>(rows[k].row);
      }
      at += 2 * count;
    }
    std::ranges::copy(result.largest, at);
  }
  void unpack(const double* at, std::int64_t rows, std::int64_t columns, TileResult& result) const {
    const auto count = static_cast<std::size_t>(count_);
    ++at;
    for (auto* numbers : {&result.sums, &result.weighted, &result.diagonal}) {
      numbers->assign(at, at + columns);
      at += count;
    }
    for (auto& candidates : result.candidates) {
      candidates.resize(std::min(static_cast<std::size_t>(rows), count));
      for (std::size_t k = 0; k < candidates.size(); ++k)
        candidates[k] = {at[2 * k], static_cast<std::int64_t>(at[2 * k + 1])};
      at += 2 * count;
    }
    if (!weights_.empty()) result.largest.assign(at, at + rows);
  }

  bool is_weighted(std::int64_t vector) const noexcept { return vector >= plain_; }
  double weight(std::int64_t row) const noexcept {
    return weights_.empty() ? 1 : weights_[static_cast<std::size_t>(row)];
  }

  /// The first vector of each kind is positive, which suits inverses without negative elements; the others have random
  /// signs.
  void fill_signs(Out<Tile<T>>& x, const Place& place) const {
    using Real = RealOf<T>;
    std::vector<Real> signs(static_cast<std::size_t>(x.rows()));
    for (int j = 0; j < x.columns(); ++j) {
      GeneratedUniform<Real>(n_, count_, seed)
          .read(place.row, x.rows(), place.column + j, 1, signs.data(), x.rows());
      for (int i = 0; i < x.rows(); ++i) {
        const std::int64_t vector = place.column + j;
        const bool positive = vector == 0 || vector == plain_ || signs[static_cast<std::size_t>(i)] >= 0;
        const Real size = is_weighted(vector) ? static_cast<Real>(weight(place.row + i)) : Real(1);
        x(i, j) = positive ? size : -size;
      }
    }
  }
  void fill_units(Out<Tile<T>>& x, const Place& place) const {
    for (int j = 0; j < x.columns(); ++j) {
      const std::int64_t one = rows_[static_cast<std::size_t>(place.column + j)];
      for (int i = 0; i < x.rows(); ++i) x(i, j) = place.row + i == one ? T(1) : T(0);
    }
  }

  void evaluate(const In<Tile<T>>& y, const Place& place) {
    TileResult& result = tile_results_[place.index];
    const auto columns = static_cast<std::size_t>(y.columns()), rows = static_cast<std::size_t>(y.rows());
    for (auto* numbers : {&result.sums, &result.weighted, &result.diagonal}) numbers->assign(columns, 0);
    std::array<std::vector<Row>, 2> of_rows{std::vector<Row>(rows), std::vector<Row>(rows)};
    for (auto& some : of_rows)
      for (int i = 0; i < y.rows(); ++i) some[static_cast<std::size_t>(i)].row = place.row + i;
    for (int j = 0; j < y.columns(); ++j) {
      const std::int64_t vector = place.column + j;
      const auto c = static_cast<std::size_t>(j);
      const std::int64_t made_for = steps_ == steps ? rows_[static_cast<std::size_t>(vector)] : -1;
      for (int i = 0; i < y.rows(); ++i) {
        const double size = magnitude(y(i, j));
        Row& row = of_rows[is_weighted(vector) ? 1 : 0][static_cast<std::size_t>(i)];
        if (!(size <= row.size)) row.size = size;
        result.sums[c] += size;
        if (size != 0) result.weighted[c] += size * weight(place.row + i);
        if (place.row + i == made_for) result.diagonal[c] = size;
      }
    }
    if (steps_ == steps) return;
    if (!weights_.empty()) {
      result.largest.resize(rows);
      std::ranges::transform(of_rows[1], result.largest.begin(), [](const Row& row) { return row.size; });
    }
    std::ranges::transform(of_rows, result.candidates.begin(),
                           [this](std::vector<Row>& some) { return largest(std::move(some)); });
  }

  std::vector<Row> largest(std::vector<Row> rows) const {
    const auto wanted = std::min(rows.size(), static_cast<std::size_t>(count_));
    std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(wanted), std::less<>());
    rows.resize(wanted);
    return rows;
  }

  /// The rows with the largest results of the first step are probably the largest rows of A^-1.
  void choose_rows() {
    rows_.clear();
    const std::vector<Row> plain = candidates(0), weighted = candidates(1);
    take(plain, plain_);
    take(weighted, count_);
    take(plain, count_);
    if (weights_.empty()) return;
    weighted_row_maxima_.assign(static_cast<std::size_t>(n_), 0);
    std::size_t index = 0;
    for (std::int32_t i = 0; i < vectors_.tile_rows(); ++i)
      for (std::int32_t j = 0; j < vectors_.tile_columns(); ++j) {
        const std::vector<double>& of_tile = tile_results_[index++].largest;
        double* const at = weighted_row_maxima_.data() + static_cast<std::int64_t>(i) * vectors_.tile();
        for (std::size_t k = 0; k < of_tile.size(); ++k) at[k] = largest_of(of_tile[k], at[k]);
      }
  }
  /// The candidates of all tiles, largest first. Adjacent tiles may list the same row.
  std::vector<Row> candidates(std::size_t kind) const {
    std::vector<Row> all;
    for (const TileResult& result : tile_results_)
      all.insert(all.end(), result.candidates[kind].begin(), result.candidates[kind].end());
    std::ranges::sort(all, std::less<>());
    return all;
  }
  void take(const std::vector<Row>& candidates, std::int64_t most) {
    for (const Row& row : candidates)
      if (std::ssize(rows_) < most && std::ranges::find(rows_, row.row) == rows_.end())
        rows_.push_back(row.row);
  }

  std::vector<double> of_columns(std::vector<double> TileResult::*numbers) const {
    std::vector<double> sums(static_cast<std::size_t>(count_));
    std::size_t index = 0;
    for (std::int32_t i = 0; i < vectors_.tile_rows(); ++i)
      for (std::int32_t j = 0; j < vectors_.tile_columns(); ++j) {
        const std::vector<double>& of_tile = tile_results_[index++].*numbers;
        for (std::size_t k = 0; k < of_tile.size(); ++k)
          sums[static_cast<std::size_t>(j) * static_cast<std::size_t>(vectors_.tile()) + k] += of_tile[k];
      }
    return sums;
  }

  static constexpr std::uint64_t seed = 84;

  Runtime& runtime_;
  AppliedInverse<T> inverse_;
  std::int64_t n_, count_, plain_;  // the first `plain_` of `count_` vectors have no weights
  std::vector<double> weights_;     // per row, at most 1; empty: no weights
  double unit_ = 0;                 // scale of the weights
  std::vector<T> memory_;
  // Tasks read all of the above, rows_ and steps_, which the submitting thread changes only while no task runs. Each
  // element of tile_results_ is written by its task and read by the submitting thread after waiting.
  std::vector<TileResult> tile_results_;
  std::vector<std::int64_t> rows_;           // of each vector of the second step
  std::vector<double> weighted_row_maxima_;  // see InverseNorm::weighted_row_maxima()
  int steps_ = 0;                            // steps that have started
  TiledMatrix<T> vectors_;  // last: its destructor waits for the tasks, which use all of the above
};

namespace {

template <class T>
AppliedInverse<T> inverse_of_factored(Kernels kernels, const TiledMatrix<T>& l) {
  if (l.rows() != l.columns())
    throw UsageError(fmt::format("a factor is square; this one is {} x {}", l.rows(), l.columns()));
  const auto solve = [kernels = std::move(kernels), &l](Flow& flow, const TiledMatrix<T>& b) {
    solve_factored(flow, kernels, l, b);
  };
  return {solve, solve, [&l](std::int64_t columns) { return solve_tasks(l.tile_rows(), columns); }};
}

}  // namespace

template <class T>
InverseNorm<T>::InverseNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& l,
                            std::vector<double> weights)
    : InverseNorm(runtime, l.rows(), l.tile(), inverse_of_factored(std::move(kernels), l),
                  std::move(weights)) {}
template <class T>
InverseNorm<T>::InverseNorm(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse,
                            std::vector<double> weights)
    : implementation_(
          std::make_unique<Implementation>(runtime, n, tile, std::move(inverse), std::move(weights))) {}
template <class T>
InverseNorm<T>::~InverseNorm() = default;

template <class T>
std::size_t InverseNorm<T>::bytes(std::int64_t n, bool weighted) noexcept {
  return static_cast<std::size_t>(n * vectors_for(n, weighted)) * sizeof(T) +
         (weighted ? static_cast<std::size_t>(3 * n) * sizeof(double) : 0);
}
template <class T>
int InverseNorm<T>::steps_done() const noexcept {
  return implementation_->steps_done();
}
template <class T>
void InverseNorm<T>::submit(Flow& flow) {
  implementation_->submit(flow);
}
template <class T>
std::uint64_t InverseNorm<T>::tasks() const noexcept {
  return implementation_->tasks();
}
template <class T>
void InverseNorm<T>::combine_ranks() {
  implementation_->combine_ranks();
}
template <class T>
double InverseNorm<T>::value() const {
  return implementation_->value();
}
template <class T>
double InverseNorm<T>::weighted_value() const {
  double largest = implementation_->is_weighted() ? 0 : HUGE_VAL;
  for (const RowOfInverse& row : rows()) {
    if (!std::isfinite(row.weighted_sum)) return HUGE_VAL;
    largest = std::max(largest, row.weighted_sum);
  }
  return largest;
}
template <class T>
std::vector<RowOfInverse> InverseNorm<T>::rows() const {
  return implementation_->rows();
}
template <class T>
std::vector<T> InverseNorm<T>::elements() const {
  return implementation_->elements();
}
template <class T>
const std::vector<double>& InverseNorm<T>::weighted_row_maxima() const noexcept {
  return implementation_->weighted_row_maxima();
}
template <class T>
void InverseNorm<T>::submit_vectors(Flow& flow) {
  implementation_->begin(flow);
}
template <class T>
const TiledMatrix<T>& InverseNorm<T>::vectors() const noexcept {
  return implementation_->vectors();
}
template <class T>
void InverseNorm<T>::submit_evaluation(Flow& flow) {
  implementation_->end(flow);
}

template class InverseNorm<float>;
template class InverseNorm<double>;
template class InverseNorm<std::complex<float>>;
template class InverseNorm<std::complex<double>>;

}  // namespace fairlead::linalg
