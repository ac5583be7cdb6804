// The benchmarks: a factorization, checked by a solve; and a product, checked by its effect on a vector.
#include "solver/benchmark/benchmark.hpp"

#include <fairlead/matrix_file.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/element_sizes.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/pass_estimate.hpp"
#include "algorithms/linalg/tile_digest.hpp"
#include "solver/benchmark/generated_problem.hpp"
#include "solver/jdf/jdf_algorithms.hpp"
#include "solver/refined_steps.hpp"
#include "solver/tiled_factors.hpp"

namespace fairlead::solver {

namespace {

using linalg::BackwardError;
using linalg::GeneratedUniform;
using linalg::LeastSquaresError;
using linalg::MatrixSource;

template <class T>
std::uint64_t digest_of(Execution& run, const TiledMatrix<T>& a, Tiles which) {
  run.begin("digest", linalg::fill_tasks(a, which));
  linalg::TileDigest<T> digest(which);
  digest.submit(run.flow(), a);
  run.end_uncounted();
  digest.combine_ranks(run.runtime());
  return digest.value();
}

template <class T>
void run_jdf(Execution& run, std::string_view algorithm, const MatricesOfJdf<T>& matrices,
             const linalg::Kernels& kernels) {
  ptg::Graph graph(run.runtime());
  add_jdf_algorithm<T>(graph, algorithm, matrices, kernels);
  run.run(graph);
}

template <class T>
class Factorization final : public Benchmark<T> {
 public:
  Factorization(const DenseProblem& problem, linalg::Kernels kernels, std::uint64_t seed)
      : problem_(problem),
        kernels_(std::move(kernels)),
        of_factor_(problem.in_tf32 ? kernels_.in_tf32() : kernels_),
        seed_(seed) {}

  /// The right-hand side that becomes the solution, and the memory of the error check.
  Bytes reserved_bytes(std::size_t workers) const override {
    const Bytes x = static_cast<Bytes>(problem_.rows()) * sizeof(T);
    return x + (square() ? workers * BackwardError<T>::scratch_bytes_per_worker(problem_.n, 1) +
                               (grows() ? refined_steps_bytes<T>(problem_.n, 1) : 0)
                         : LeastSquaresError<T>::bytes(problem_.rows(), 1) +
                               workers * LeastSquaresError<T>::scratch_bytes_per_worker(problem_.rows(), 1));
  }
  void begin(Execution& run, const GridRank& place, const DenseProblem& problem) override {
    problem_ = problem;
    run_ = &run;
    const std::int64_t m = problem.rows();
    x_.resize(static_cast<std::size_t>(m));
    a_.emplace(place.for_operation(*problem.operation)
                   .tiled<T>(run.runtime(), "A", m, problem.n, problem.tile, problem.operation->tiles));
    factors_ = make_factors<T>(problem, {of_factor_, kernels_}, run.runtime(), *a_);
  }
  std::uint64_t generation_tasks() const override {
    const std::uint64_t tasks = linalg::fill_tasks(*a_, problem_.operation->tiles);
    return grows() ? 2 * tasks : tasks;
  }
  void generate(Flow& flow) override {
    linalg::fill<T>(flow, matrix<T>(), *a_, problem_.operation->tiles);
    if (grows()) before_.submit(flow, *a_, elements());
  }
  void compute() override {
    if (run_->front() == Front::jdf)
      return run_jdf<T>(*run_, problem_.operation->jdf, {{"descA", &*a_}}, of_factor_);
    run_->compute([this](auto& front) { factors_->factor(front); });
  }
  std::uint64_t digest() override { return digest_of(*run_, *a_, problem_.operation->tiles); }
  double check() override {
    const std::int64_t m = problem_.rows();
    if (grows()) measure_growth();
    run_->begin("solve", factors_->solve_tasks(1));
    GeneratedUniform<T>(m, 1, seed_ + 1).read(0, m, 0, 1, x_.data(), m);
    linalg::DistributedColumns<T> x(run_->runtime(), "x", x_.data(), m, 1, problem_.tile, a_->distribution());
    run_->compute([&](auto& front) { factors_->solve(front, x.tiles()); });
    run_->wait();
    x.gather();
    run_->end_uncounted();

    const auto b = std::make_shared<GeneratedUniform<double>>(m, 1, seed_ + 1);
    if (!square()) return least_squares_error(b);
    const RefinedSteps judged = judge_and_refine<T>(*run_, kernels_, *factors_,
                                                    {.a = matrix<double>(),
                                                     .b = b,
                                                     .x = x_.data(),
                                                     .columns = 1,
                                                     .tile = problem_.tile,
                                                     .limit = linalg::max_correct_backward_error<T>(m),
                                                     .may_refine = grows(),
                                                     .counts = false,
                                                     .readers = run_->runtime().ranks(),
                                                     .distribution = a_->distribution()});
    if (judged.steps > 0) steps_ = judged.steps;
    return judged.backward_error;
  }
  std::optional<double> growth() const override {
    if (!grows()) return std::nullopt;
    return grown_ / before_.largest();
  }
  std::optional<int> refinement_steps() const override { return steps_; }
  std::uint64_t calls_in_tf32() const override { return of_factor_.calls_in_tf32(); }
  void end() override {
    factors_.reset();
    a_.reset();
  }

 private:
  bool square() const noexcept { return problem_.rows() == problem_.n; }
  bool grows() const noexcept {
    const SolveMethod& method = *problem_.operation->solve;
    return method.grows && method.matrices != MatrixKind::dominant;  // of those, elements hardly grow
  }
  linalg::Elements elements() const noexcept {
    return problem_.operation->tiles == Tiles::lower ? linalg::Elements::lower : linalg::Elements::all;
  }
  void measure_growth() {
    before_.combine_ranks(run_->runtime());
    if (const std::optional<double> largest = factors_->largest_element()) {
      grown_ = *largest;
      return;
    }
    linalg::ElementSizes<T> of_u;
    run_->begin("growth", of_u.tasks(*a_, linalg::Elements::upper));
    of_u.submit(run_->flow(), *a_, linalg::Elements::upper);
    run_->end_uncounted();
    of_u.combine_ranks(run_->runtime());
    grown_ = of_u.largest();
  }
  template <class U>
  std::shared_ptr<const MatrixSource<U>> matrix() const {
    return generated_matrix<U>(problem_, seed_);
  }
  double least_squares_error(const std::shared_ptr<const MatrixSource<double>>& b) {
    const std::int64_t m = problem_.rows();
    LeastSquaresError<T> error(kernels_, matrix<double>(), b, x_.data(), m, 1);
    run_->begin("error check", error.tasks());
    error.check(
        run_->runtime(), run_->flow(), problem_.tile,
        [this](Flow& flow, const TiledMatrix<T>& r) { factors_->rotate(flow, r); }, [this] { run_->wait(); },
        run_->runtime().ranks(), a_->distribution());
    run_->end_uncounted();
    return error.value();
  }

  DenseProblem problem_;
  linalg::Kernels kernels_, of_factor_;
  std::uint64_t seed_;
  Execution* run_ = nullptr;
  std::vector<T> x_;
  std::optional<TiledMatrix<T>> a_;
  std::unique_ptr<TiledFactors<T>> factors_;
  linalg::ElementSizes<T> before_;  // of A
  double grown_ = 0;                // the largest element of U
  std::optional<int> steps_;
};

/// C := C + A B. For a vector x, C x must equal A (B x) plus the old C times x: Freivalds 1979
/// ("Fast probabilistic algorithms").
template <class T>
class Product final : public Benchmark<T> {
 public:
  Product(linalg::Kernels kernels, std::int64_t n, std::uint64_t seed)
      : kernels_(std::move(kernels)), n_(n), seed_(seed) {}

  Bytes reserved_bytes(std::size_t workers) const override {
    return static_cast<Bytes>(n_) * 2 * (sizeof(T) + sizeof(double)) +
           workers * BackwardError<double>::scratch_bytes_per_worker(n_, 1);
  }
  void begin(Execution& run, const GridRank& place, const DenseProblem& problem) override {
    run_ = &run;
    for (const char* name : {"A", "B", "C"})
      matrices_.push_back(place.tiled<T>(run.runtime(), name, n_, n_, problem.tile));
  }
  std::uint64_t generation_tasks() const override { return 3 * linalg::fill_tasks(c(), Tiles::all); }
  void generate(Flow& flow) override {
    for (std::size_t i = 0; i < matrices_.size(); ++i)
      linalg::fill<T>(flow, matrix<T>(i), matrices_[i], Tiles::all);
  }
  void compute() override {
    if (run_->front() == Front::jdf)
      return run_jdf<T>(*run_, product_operation.jdf,
                        {{"descA", &matrices_[0]}, {"descB", &matrices_[1]}, {"descC", &c()}}, kernels_);
    run_->compute(
        [this](auto& front) { linalg::multiply<T>(front, kernels_, 1, matrices_[0], matrices_[1], 1, c()); });
  }
  std::uint64_t digest() override { return digest_of(*run_, c(), Tiles::all); }

  double check() override {
    const auto size = static_cast<std::size_t>(n_);
    std::vector<T> x(size), y(size);  // y = C x
    std::vector<double> z(size), r(size);
    GeneratedUniform<T>(n_, 1, seed_ + 3).read(0, n_, 0, 1, x.data(), n_);
    run_->begin("error check", static_cast<std::uint64_t>(c().tile_rows() * c().tile_columns()) +
                                   static_cast<std::uint64_t>(3 * linalg::bands_of(n_, linalg::least_band)));
    {
      const std::int32_t tile = c().tile();
      const Distribution* const owners = c().distribution();
      const linalg::DistributedColumns<T> tiled_x(run_->runtime(), "x", x.data(), n_, 1, tile, owners);
      linalg::DistributedColumns<T> tiled_y(run_->runtime(), "y", y.data(), n_, 1, tile, owners);
      run_->compute([&](auto& front) {
        linalg::multiply<T>(front, kernels_, 1, c(), tiled_x.tiles(), 0, tiled_y.tiles());
      });
      run_->wait();
      tiled_y.gather();
      const double b = residual(1, r, x.data(), z.data());  // 0 - B x
      for (double& value : z) value = -value;
      std::copy(y.begin(), y.end(), r.begin());
      const double before = residual(2, r, x.data(), r.data());  // C x minus the old C times x
      const double a = residual(0, r, z.data(), r.data());
      run_->end_uncounted();
      // Relative to what was summed: A B alone may be small by chance, and C is rounded to its own size.
      const double error = largest(r);
      return error == 0 ? 0 : error / ((a * b + before) * largest(x));
    }
  }
  void end() override { matrices_.clear(); }

 private:
  const TiledMatrix<T>& c() const { return matrices_[2]; }
  /// A, B, and the old C.
  template <class U>
  std::shared_ptr<const MatrixSource<U>> matrix(std::size_t which) const {
    return std::make_shared<GeneratedUniform<U>>(n_, n_, seed_ + which);
  }
  /// The largest absolute value; NaN if a value is NaN.
  template <class X>
  static double largest(const std::vector<X>& values) {
    double size = 0;
    for (const X value : values) {
      if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
      size = std::max(size, std::abs(static_cast<double>(value)));
    }
    return size;
  }
  /// b - M x to `out`; returns the norm of M.
  template <class X>
  double residual(std::size_t which, const std::vector<double>& b, const X* x, double* out) {
    BackwardError<X> error(kernels_, matrix<double>(which), linalg::matrix_in_memory(b.data(), n_, 1), x, 1,
                           out);
    const std::uint32_t ranks = run_->runtime().ranks();
    error.submit(run_->flow(), run_->runtime().rank(), ranks);
    run_->wait();
    error.combine_ranks(run_->runtime());
    return error.matrix_norm();
  }

  linalg::Kernels kernels_;
  std::int64_t n_;
  std::uint64_t seed_;
  Execution* run_ = nullptr;
  std::vector<TiledMatrix<T>> matrices_;
};

}  // namespace

template <class T>
std::unique_ptr<Benchmark<T>> make_benchmark(const DenseProblem& problem, linalg::Kernels kernels,
                                             std::uint64_t seed) {
  if (problem.operation == &product_operation)
    return std::make_unique<Product<T>>(std::move(kernels), problem.n, seed);
  return std::make_unique<Factorization<T>>(problem, std::move(kernels), seed);
}

template std::unique_ptr<Benchmark<float>> make_benchmark<float>(const DenseProblem&, linalg::Kernels,
                                                                 std::uint64_t);
template std::unique_ptr<Benchmark<double>> make_benchmark<double>(const DenseProblem&, linalg::Kernels,
                                                                   std::uint64_t);

}  // namespace fairlead::solver
