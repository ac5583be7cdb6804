// Estimates norms of an inverse. Tasks fill the vectors and evaluate the results, one tile each, so the program does not
// need access to data on other nodes or on disk.
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/inverse_norm.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/factored_solve.hpp"
#include "algorithms/linalg/inverse_probes.hpp"

namespace fairlead::linalg {

template <class T>
class InverseNorm<T>::Implementation {
 public:
  Implementation(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse,
                 std::vector<double> weights)
      : runtime_(runtime),
        inverse_(std::move(inverse)),
        n_(n),
        count_(Probes::vectors_for(n, !weights.empty())),
        memory_(runtime.ranks() == 1 ? static_cast<std::size_t>(n_ * count_) : 0),
        probes_(n, std::move(weights), {tile, tiles_of(n, tile), tiles_of(count_, tile)}),
        vectors_(runtime.ranks() == 1
                     ? runtime.tiled_in_place<T>("condition", memory_.data(), n_, count_, n_, tile)
                     : runtime.tiled<T>("condition", n_, count_, tile, Distribution::over(runtime.ranks()))) {
  }

  void begin(Flow& flow) {
    probes_.begin();
    for_each_tile(flow, codelet("probe").cpu(body_of_type<T>, [this](Out<Tile<T>> x, Place place) {
      probes_.fill(x, place);
    }));
  }
  void end(Flow& flow) {
    for_each_tile(flow, codelet("look").cpu(body_of_type<T>, [this](In<Tile<T>> y, Place place) {
      probes_.evaluate(y, place);
    }));
  }
  void submit(Flow& flow) {
    begin(flow);
    (probes_.steps_done() == 1 ? inverse_.plain : inverse_.transposed)(flow, vectors_);
    end(flow);
  }
  std::uint64_t tasks() const noexcept {
    return inverse_.tasks(vectors_.tile_columns()) + 2 * probes_.tiles();
  }

  void combine_ranks() {
    if (runtime_.ranks() == 1) return;
    const std::size_t room = probes_.numbers_of_tile(), tiles = probes_.tiles();
    std::vector<double> own(tiles * room);
    for (std::size_t t = 0; t < tiles; ++t) probes_.pack(t, own.data() + t * room);
    const std::vector<double> all = gather(runtime_, own);
    for (std::size_t one = 0; one < all.size(); one += room) {
      if (all[one] == 0) continue;
      const auto t = static_cast<std::int32_t>(one / room % tiles);
      probes_.unpack(all.data() + one, vectors_.rows_of(t / vectors_.tile_columns()),
                     vectors_.columns_of(t % vectors_.tile_columns()), static_cast<std::size_t>(t));
    }
  }

  std::vector<T> elements() const {
    if (runtime_.ranks() == 1) return memory_;
    std::vector<T> all(static_cast<std::size_t>(n_ * count_));
    gather(runtime_, vectors_, all.data(), n_);
    return all;
  }
  const InverseProbes<T>& probes() const noexcept { return probes_; }
  const TiledMatrix<T>& vectors() const noexcept { return vectors_; }

 private:
  using Probes = InverseProbes<T>;
  using Place = typename Probes::Place;

  static std::int32_t tiles_of(std::int64_t elements, std::int64_t side) noexcept {
    return static_cast<std::int32_t>((elements + side - 1) / side);
  }
  template <class C>
  void for_each_tile(Flow& flow, const C& codelet) {
    const std::int64_t side = vectors_.tile();
    std::size_t index = 0;
    for (std::int32_t i = 0; i < vectors_.tile_rows(); ++i)
      for (std::int32_t j = 0; j < vectors_.tile_columns(); ++j)
        flow.submit(codelet(vectors_(i, j), Place{i * side, j * side, index++}));
  }

  Runtime& runtime_;
  AppliedInverse<T> inverse_;
  std::int64_t n_, count_;
  std::vector<T> memory_;
  // Tasks fill and evaluate tiles; the submitting thread uses the rest of it only while no task runs.
  Probes probes_;
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
  return static_cast<std::size_t>(n * InverseProbes<T>::vectors_for(n, weighted)) * sizeof(T) +
         (weighted ? static_cast<std::size_t>(3 * n) * sizeof(double) : 0);
}
template <class T>
int InverseNorm<T>::steps_done() const noexcept {
  return implementation_->probes().steps_done();
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
  return implementation_->probes().value();
}
template <class T>
double InverseNorm<T>::weighted_value() const {
  return implementation_->probes().weighted_value();
}
template <class T>
std::vector<RowOfInverse> InverseNorm<T>::rows() const {
  return implementation_->probes().rows();
}
template <class T>
std::vector<T> InverseNorm<T>::elements() const {
  return implementation_->elements();
}
template <class T>
const std::vector<double>& InverseNorm<T>::weighted_row_maxima() const noexcept {
  return implementation_->probes().weighted_row_maxima();
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
