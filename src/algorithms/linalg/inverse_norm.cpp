// Tasks make the vectors and look at the results, a tile each, so that the program's own memory is never
// asked for what may be elsewhere. What a tile tells has a place of its own; it is put together in order.
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/inverse_norm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "algorithms/linalg/factored_solve.hpp"
#include "algorithms/linalg/generated_matrix.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::int64_t most_vectors = 8;

std::int64_t vectors_for(std::int64_t n) noexcept { return std::min(n, most_vectors); }

struct Row {
  double size = -1;  // the largest of its elements
  std::int64_t row = 0;
  /// The larger first; what is not a number before all.
  bool operator<(const Row& other) const noexcept {
    const double mine = std::isnan(size) ? HUGE_VAL : size,
                 others = std::isnan(other.size) ? HUGE_VAL : other.size;
    return mine != others ? mine > others : row < other.row;
  }
};

/// What one tile of the results tells.
struct Told {
  std::vector<double> sums;     // of each column's absolute values
  std::vector<Row> candidates;  // the rows with the largest elements
};

}  // namespace

template <class T>
class InverseNorm<T>::Implementation {
 public:
  Implementation(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse)
      : runtime_(runtime),
        inverse_(std::move(inverse)),
        n_(n),
        count_(vectors_for(n_)),
        memory_(runtime.ranks() == 1 ? static_cast<std::size_t>(n_ * count_) : 0),
        vectors_(runtime.ranks() == 1
                     ? runtime.tiled_in_place<T>("condition", memory_.data(), n_, count_, n_, tile)
                     : runtime.tiled<T>("condition", n_, count_, tile, Distribution::over(runtime.ranks()))),
        told_(static_cast<std::size_t>(vectors_.tile_rows()) *
              static_cast<std::size_t>(vectors_.tile_columns())) {}

  void begin(Flow& flow) {
    if (steps_ == steps) throw UsageError("the norm of the inverse has been estimated: no step is left");
    if (++steps_ == 1) {
      for_each_tile(flow, codelet("probe").cpu([this](Out<Tile<T>> x, Place place) { of_signs(x, place); }));
    } else {
      choose_rows();
      told_.assign(told_.size(), {});
      for_each_tile(flow, codelet("probe").cpu([this](Out<Tile<T>> x, Place place) { of_units(x, place); }));
    }
  }
  void end(Flow& flow) {
    for_each_tile(flow, codelet("look").cpu([this](In<Tile<T>> y, Place place) { look(y, place); }));
  }
  void submit(Flow& flow) {
    begin(flow);
    (steps_ == 1 ? inverse_.plain : inverse_.transposed)(flow, vectors_);
    end(flow);
  }
  std::uint64_t tasks() const noexcept { return inverse_.tasks(vectors_.tile_columns()) + 2 * told_.size(); }

  void bring_together() {
    if (runtime_.ranks() == 1) return;
    // Of each tile whether it was looked at, sums of columns, candidates: as many numbers of each.
    const auto count = static_cast<std::size_t>(count_), room = 1 + 3 * count;
    std::vector<double> own(told_.size() * room);
    for (std::size_t t = 0; t < told_.size(); ++t) {
      const Told& told = told_[t];
      double* const at = own.data() + t * room;
      at[0] = told.sums.empty() ? 0 : 1;
      std::ranges::copy(told.sums, at + 1);
      for (std::size_t k = 0; k < told.candidates.size(); ++k) {
        at[1 + count + 2 * k] = told.candidates[k].size;
        at[2 + count + 2 * k] = static_cast<double>(told.candidates[k].row);
      }
    }
    const std::vector<double> all = gather(runtime_, own);
    for (std::size_t one = 0; one < all.size(); one += room) {
      const double* const at = all.data() + one;
      if (at[0] == 0) continue;
      const auto t = static_cast<std::int32_t>(one / room % told_.size());
      const std::int32_t i = t / vectors_.tile_columns(), j = t % vectors_.tile_columns();
      Told& told = told_[static_cast<std::size_t>(t)];
      told.sums.assign(at + 1, at + 1 + vectors_.columns_of(j));
      told.candidates.resize(std::min(static_cast<std::size_t>(vectors_.rows_of(i)), count));
      for (std::size_t k = 0; k < told.candidates.size(); ++k)
        told.candidates[k] = {at[1 + count + 2 * k], static_cast<std::int64_t>(at[2 + count + 2 * k])};
    }
  }

  double value() const {
    if (steps_ == 0) return 0;
    const std::vector<double> sums = column_sums();
    double largest = 0;
    for (const double sum : sums) {
      if (!std::isfinite(sum)) return HUGE_VAL;
      largest = std::max(largest, sum);
    }
    // || A^-1 x || <= || A^-1 || || x ||, and the vectors of 1 and -1 have the norm n.
    return steps_ == steps ? largest : largest / static_cast<double>(n_);
  }

  int steps_done() const noexcept { return steps_; }
  const TiledMatrix<T>& vectors() const noexcept { return vectors_; }

 private:
  struct Place {
    std::int64_t row, column;  // where the tile begins
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

  /// The first vector is of ones, which suits what has no negative elements; the others are random.
  void of_signs(Out<Tile<T>>& x, const Place& place) const {
    GeneratedUniform<T>(n_, count_, seed)
        .read(place.row, x.rows(), place.column, x.columns(), x.data(), x.leading_dimension());
    for (int j = 0; j < x.columns(); ++j)
      for (int i = 0; i < x.rows(); ++i) x(i, j) = place.column + j == 0 || x(i, j) >= 0 ? T(1) : T(-1);
  }
  void of_units(Out<Tile<T>>& x, const Place& place) const {
    for (int j = 0; j < x.columns(); ++j) {
      const std::int64_t one = rows_[static_cast<std::size_t>(place.column + j)];
      for (int i = 0; i < x.rows(); ++i) x(i, j) = place.row + i == one ? T(1) : T(0);
    }
  }

  void look(const In<Tile<T>>& y, const Place& place) {
    Told& told = told_[place.index];
    told.sums.assign(static_cast<std::size_t>(y.columns()), 0);
    std::vector<Row> rows(static_cast<std::size_t>(y.rows()));
    for (int i = 0; i < y.rows(); ++i) rows[static_cast<std::size_t>(i)].row = place.row + i;
    for (int j = 0; j < y.columns(); ++j)
      for (int i = 0; i < y.rows(); ++i) {
        const double size = std::abs(static_cast<double>(y(i, j)));
        Row& row = rows[static_cast<std::size_t>(i)];
        if (!(size <= row.size)) row.size = size;
        told.sums[static_cast<std::size_t>(j)] += size;
      }
    told.candidates = largest(std::move(rows));
  }

  std::vector<Row> largest(std::vector<Row> rows) const {
    const auto wanted = std::min(rows.size(), static_cast<std::size_t>(count_));
    std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(wanted), std::less<>());
    rows.resize(wanted);
    return rows;
  }

  /// Where the results of the first step are largest, there A^-1 has its largest rows, probably.
  void choose_rows() {
    // A row may be in several tiles beside each other: then the largest of what they tell.
    std::vector<Row> all;
    for (const Told& told : told_) all.insert(all.end(), told.candidates.begin(), told.candidates.end());
    std::ranges::sort(all, std::less<>());
    rows_.clear();
    for (const Row& row : all)
      if (std::ranges::find(rows_, row.row) == rows_.end() && std::ssize(rows_) < count_)
        rows_.push_back(row.row);
  }

  std::vector<double> column_sums() const {
    std::vector<double> sums(static_cast<std::size_t>(count_));
    std::size_t index = 0;
    for (std::int32_t i = 0; i < vectors_.tile_rows(); ++i)
      for (std::int32_t j = 0; j < vectors_.tile_columns(); ++j) {
        const Told& told = told_[index++];
        for (std::size_t k = 0; k < told.sums.size(); ++k)
          sums[static_cast<std::size_t>(j) * static_cast<std::size_t>(vectors_.tile()) + k] += told.sums[k];
      }
    return sums;
  }

  static constexpr std::uint64_t seed = 84;

  Runtime& runtime_;
  AppliedInverse<T> inverse_;
  std::int64_t n_, count_;
  std::vector<T> memory_;
  TiledMatrix<T> vectors_;
  // Tasks read all of the above, and rows_. What one tile tells is written by its task, and read by the
  // thread that submits, after it has waited. That thread alone has steps_.
  std::vector<Told> told_;
  std::vector<std::int64_t> rows_;  // of each vector of the second step
  int steps_ = 0;                   // that have begun
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
InverseNorm<T>::InverseNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& l)
    : InverseNorm(runtime, l.rows(), l.tile(), inverse_of_factored(std::move(kernels), l)) {}
template <class T>
InverseNorm<T>::InverseNorm(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse)
    : implementation_(std::make_unique<Implementation>(runtime, n, tile, std::move(inverse))) {}
template <class T>
InverseNorm<T>::~InverseNorm() = default;

template <class T>
std::size_t InverseNorm<T>::bytes(std::int64_t n) noexcept {
  return static_cast<std::size_t>(n * vectors_for(n)) * sizeof(T);
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
void InverseNorm<T>::bring_together() {
  implementation_->bring_together();
}
template <class T>
double InverseNorm<T>::value() const {
  return implementation_->value();
}
template <class T>
void InverseNorm<T>::begin(Flow& flow) {
  implementation_->begin(flow);
}
template <class T>
const TiledMatrix<T>& InverseNorm<T>::vectors() const noexcept {
  return implementation_->vectors();
}
template <class T>
void InverseNorm<T>::end(Flow& flow) {
  implementation_->end(flow);
}

template class InverseNorm<float>;
template class InverseNorm<double>;

}  // namespace fairlead::linalg
