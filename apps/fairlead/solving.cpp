// One solve from the files to the file: the matrix into tiles, the factorization, the solution, how wrong it
// is and how far it can be trusted.
#include "fairlead/solving.hpp"

#include <fairlead/error.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/parameterized_linalg.hpp>
#include <fairlead/refined_solve.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/npy_source.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/dense_report.hpp"
#include "fairlead/interrupt.hpp"
#include "fairlead/kernels.hpp"
#include "fairlead/matrix_to_solve.hpp"
#include "fairlead/read_vectors.hpp"
#include "fairlead/solution.hpp"
#include "fairlead/trust.hpp"
#include "fairlead/watched_run.hpp"
#include "machine/machine.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t small_staging_bytes = 64 * 1024;

using data::ElementType;
using data::NpyFile;
using linalg::InverseNorm;

template <class T>
std::unique_ptr<MatrixToSolve<T>> matrix_of(const System& system) {
  return system.of_points ? matrix_of_points<T>(system.config, *system.a)
                          : matrix_in_file<T>(system.a, system.stored);
}

constexpr double epsilon_of(ElementType element) {
  return element == ElementType::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                         : std::numeric_limits<double>::epsilon();
}

/// A solve under way; the solution is of T.
template <class T>
class Solve {
 public:
  Solve(const System& system, Config config)
      : system_(system),
        config_(std::move(config)),
        workers_(config_.count_or("workers", machine::discover().workers)),
        n_(static_cast<std::int64_t>(system.b->rows())),
        columns_(static_cast<std::int64_t>(system.b->columns())),
        kernels_(load_kernels(config_)),
        reserved_(reserved_bytes()) {}

  report::RunReport run() {
    run_.emplace(config_, reserved_, kernels_, front_in(config_));
    // Now that signals are heeded: where files have to have names, this would be left.
    out_.emplace(config_.text("output"), system_.solution(), data::StorageOrder::c,
                 system_.b->header().shape);
    Interrupt::removes_at_exit(out_->temporary());
    const Counts before = counts_of(run_->runtime(), kernels_);
    {
      std::vector<std::byte> staging(linalg::NpySource::staging_bytes);
      x_ = read_vectors<T>(*system_.b, staging);
    }
    Solved solved;
    if constexpr (std::is_same_v<T, double>)
      if (config_.flag("refine")) solved = refined();
    if (!solved.backward_error) solved = direct();
    const bool right = *solved.backward_error <= limit_;  // false for NaN
    const bool written = right || config_.flag("keep-anyway");
    if (written) write();
    run_->stop_showing();
    recorded_ = run_->runtime().recorded();

    report::RunReport report = report_between(before, solved.after, config_, kernels_, solved.problem);
    report.front = config_.text_or("front", "flow");
    report.seconds = seconds_;
    const double size = static_cast<double>(n_), sides = static_cast<double>(columns_);
    report.gflops =
        (report::cholesky_flops(size) + report::cholesky_solve_flops(size, sides)) / seconds_ * 1e-9;
    report.phases = run_->phases();
    report.not_written = run_->end_records();
    find_limit(report, tiled_, solved.after);
    report.backward_error = solved.backward_error;
    report.backward_error_limit = limit_;
    report.refinement_steps = solved.steps;
    report.condition = solved.condition;
    if (solved.traffic) {
      report.links.push_back(*solved.traffic);
      report.input_bytes = system_.a->header().data_bytes();
      report.input_bytes_read =
          solved.traffic->from_home[static_cast<std::size_t>(memory::Cause::demand)].bytes;
    }
    report.of = fmt::format("{} x = {}", system_.of_points ? "(kernel matrix)" : system_.a->path().string(),
                            system_.b->path().string());
    if (columns_ > 1) report.of += fmt::format(" ({} columns)", columns_);
    if (written) report.solution = config_.text("output");
    return report;
  }

  /// What was recorded during run().
  const trace::Snapshot& recorded() const noexcept { return recorded_; }

 private:
  struct Solved {
    DenseProblem problem{};
    Counts after{};                          // when the solution was there
    std::optional<double> backward_error{};  // none: there is no solution
    std::optional<int> steps{};
    std::optional<report::LinkReport> traffic{};
    std::optional<report::ConditionReport> condition{};
  };

  Bytes reserved_bytes() const {
    const auto matrix = matrix_of<T>(system_);
    const Bytes scratch = std::max<Bytes>(matrix->tiling_bytes_per_worker(),
                                          linalg::BackwardError<T>::scratch_bytes_per_worker(columns_) +
                                              matrix->source_bytes_per_worker() + small_staging_bytes);
    const Bytes vectors = static_cast<Bytes>(n_ * columns_) * sizeof(T);
    // Refining keeps the right-hand sides besides, for when it does not succeed.
    const Bytes refining =
        config_.flag("refine") ? vectors + linalg::RefinedSolve::bytes(n_, columns_, 0) : 0;
    // While --refine may still turn to double precision, for that.
    const Bytes condition = wants_condition() ? InverseNorm<T>::bytes(n_) : 0;
    return vectors + refining + condition + matrix->bytes() + workers_ * scratch +
           linalg::NpySource::staging_bytes;
  }

  DenseProblem problem(std::string_view title, std::size_t element_bytes) const {
    DenseProblem problem{.title = title,
                         .n = n_,
                         .element_bytes = element_bytes,
                         .own_products = kernels_.has_own_products(),
                         .made = system_.of_points,
                         .memory_limit = config_.bytes("memory"),
                         .reserved = reserved_};
    problem.set_tile(config_, workers_);
    return problem;
  }

  /// The matrix in tiles, factored.
  template <class Element>
  TiledMatrix<Element> factor(const DenseProblem& problem, MatrixToSolve<Element>& matrix) {
    const Bytes memory = run_->runtime().capacity_bytes();
    TiledMatrix<Element> a = matrix.tiles(run_->runtime(), problem.tile);
    if (matrix.phase() != nullptr) {
      run_->begin(matrix.phase(), matrix.tasks(a, memory));
      matrix.submit(run_->flow(), a, memory);
      seconds_ += run_->end();
    }
    matrix.end_tiling();
    tiled_ = counts_of(run_->runtime(), kernels_);

    run_->begin("factorization", linalg::cholesky_tasks(problem.tiles()),
                report::cholesky_flops(static_cast<double>(n_)));
    run_->compute([&](auto& front) { linalg::cholesky(front, kernels_, a); });
    seconds_ += run_->end();
    return a;
  }

  std::shared_ptr<const linalg::MatrixSource<double>> right_hand_sides() const {
    return std::make_shared<linalg::NpySource>(system_.b, small_staging_bytes);
  }

  bool wants_condition() const { return !config_.flag("no-condition"); }

  /// With the steps that are left of the estimate, which take a time of their own. Says so if little of the
  /// solution can be trusted.
  template <class Element>
  report::ConditionReport condition(InverseNorm<Element>& inverse, double matrix_norm,
                                    double backward_error) {
    const int sweeps = (InverseNorm<Element>::steps - inverse.steps_done()) * inverse.sweeps_per_step;
    double seconds = 0;
    if (!inverse.done()) {
      run_->begin(
          "condition estimate",
          static_cast<std::uint64_t>(InverseNorm<Element>::steps - inverse.steps_done()) * inverse.tasks());
      while (!inverse.done()) {
        inverse.submit(run_->flow());
        run_->wait();
      }
      seconds = run_->end_aside();
    }
    const Precision precision{epsilon_, epsilon_of(system_.solution())};
    auto report = condition_report(n_, matrix_norm * inverse.value(), backward_error, precision);
    report.seconds = seconds;
    report.sweeps = sweeps;
    if (const std::string warning = condition_warning(report, precision); !warning.empty())
      run_->say("fairlead: " + warning);
    return report;
  }

  /// With the factor in T.
  Solved direct() {
    Solved solved{.problem = problem("Cholesky solve", sizeof(T))};
    const auto matrix = matrix_of<T>(system_);
    const TiledMatrix<T> a = factor<T>(solved.problem, *matrix);
    const TiledMatrix<T> x =
        run_->runtime().template tiled_in_place<T>("x", x_.data(), n_, columns_, n_, solved.problem.tile);
    run_->begin("solve", linalg::solve_tasks(solved.problem.tiles(), x.tile_columns()),
                report::cholesky_solve_flops(static_cast<double>(n_), static_cast<double>(columns_)));
    run_->compute([&](auto& front) { linalg::solve_factored(front, kernels_, a, x); });
    seconds_ += run_->end();
    solved.after = counts_of(run_->runtime(), kernels_);
    solved.traffic = matrix->traffic();

    run_->begin("error check", linalg::BackwardError<T>::tasks(n_));
    linalg::BackwardError<T> error(kernels_, matrix->source(), right_hand_sides(), x_.data(), columns_);
    error.submit(run_->flow());
    run_->end_aside();
    matrix->forget_pages();
    solved.backward_error = error.value();
    if (wants_condition() && error.value() <= limit_) {
      InverseNorm<T> inverse(run_->runtime(), kernels_, a);
      solved.condition = condition(inverse, error.matrix_norm(), error.value());
    }
    return solved;
  }

  /// With a factor in single precision. Without a solution, and x_ as it was, if the matrix does not allow
  /// that; then the user has been told why.
  Solved refined() {
    using State = linalg::RefinedSolve::State;
    Solved solved{.problem = problem("Cholesky solve, factor in single precision", sizeof(float))};
    const std::vector<T> b = x_;
    try {
      const auto matrix = matrix_of<float>(system_);
      const TiledMatrix<float> l = factor<float>(solved.problem, *matrix);
      run_->begin("refined solve");
      linalg::RefinedSolve solve(run_->runtime(), kernels_, l, matrix->source(), right_hand_sides(),
                                 x_.data());
      std::optional<InverseNorm<float>> inverse;
      if (wants_condition()) inverse.emplace(run_->runtime(), kernels_, l);
      State state = State::improving;
      while (state == State::improving) {
        solve.submit_correction(run_->flow(), inverse ? &*inverse : nullptr);
        run_->wait();
        solve.submit_residual(run_->flow());
        run_->wait();
        state = solve.judge();
      }
      seconds_ += run_->end();
      matrix->forget_pages();
      if (state == State::too_coarse) throw_too_coarse(solve);
      solved.after = counts_of(run_->runtime(), kernels_);
      solved.backward_error = solve.backward_error();
      solved.steps = solve.steps();
      if (inverse) solved.condition = condition(*inverse, solve.matrix_norm(), solve.backward_error());
      solved.traffic = matrix->traffic();
    } catch (const NumericalError& error) {
      run_->say(fmt::format("fairlead: {}; trying again in double precision", error.what()));
      x_ = b;
    }
    return solved;
  }

  void write() {
    run_->begin("writing");
    {
      std::vector<std::byte> staging(linalg::NpySource::staging_bytes);
      const NpyFile& b = *system_.b;
      write_solution<T>(*out_, system_.solution(), x_.data(), b.rows(), b.rows(), b.columns(), staging);
    }
    out_->commit();
    seconds_ += run_->end();
  }

  const System& system_;
  const Config config_;
  const std::size_t workers_;
  const std::int64_t n_, columns_;
  const double epsilon_ = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double limit_ = linalg::largest_right_error<T>(n_);  // of the backward error
  const linalg::Kernels kernels_;
  const Bytes reserved_;
  std::vector<T> x_;  // b, which becomes the solution
  double seconds_ = 0;
  Counts tiled_{};  // when the matrix was there, and computing began
  trace::Snapshot recorded_;
  std::optional<WatchedRun> run_;       // its tasks use what is above
  std::optional<data::NpyWriter> out_;  // ends first, while signals are heeded
};

template <class T>
int solve_in(const System& system, const Config& config) {
  report::RunReport report;
  trace::Snapshot recorded;
  {
    Solve<T> solve(system, config);
    report = solve.run();
    recorded = solve.recorded();
  }
  return publish_solution(report, config, recorded);
}

}  // namespace

data::ElementType System::solution() const {
  const bool in_single = a->element() == ElementType::float32 && b->element() == ElementType::float32;
  return in_single ? ElementType::float32 : ElementType::float64;
}

int solve(const System& system, const Config& config) {
  if (system.method != &cholesky_operation) return solve_general(system, config);
  const bool in_single =
      !system.of_points && system.solution() == ElementType::float32 && !config.flag("refine");
  return in_single ? solve_in<float>(system, config) : solve_in<double>(system, config);
}

}  // namespace fairlead::app
