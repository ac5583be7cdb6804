// One solve with a matrix that is not symmetric, from input files to the output file: the matrix into tiles,
// LU or QR, the solution or least squares solution, its error and how many digits can be trusted.
#include <fairlead/error.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/column_block.hpp"
#include "algorithms/linalg/column_scales.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/element_sizes.hpp"
#include "algorithms/linalg/general_npy.hpp"
#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/npy_source.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/kernels.hpp"
#include "fairlead/ranks/ranks_report.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/run/watched_run.hpp"
#include "fairlead/solve/inverse_estimate.hpp"
#include "fairlead/solve/rank_decision.hpp"
#include "fairlead/solve/read_vectors.hpp"
#include "fairlead/solve/refined_steps.hpp"
#include "fairlead/solve/solution.hpp"
#include "fairlead/solve/solving.hpp"
#include "fairlead/solve/tiled_factors.hpp"
#include "fairlead/solve/trust.hpp"
#include "machine/machine.hpp"

namespace fairlead::app {

namespace {

using data::ElementType;
using linalg::BackwardError;
using linalg::DistributedColumns;
using linalg::Elements;
using linalg::ElementSizes;
using linalg::GeneralNpy;
using linalg::InverseNorm;
using linalg::LeastSquaresError;
using linalg::NpySource;

constexpr std::size_t staging_of_vectors = 64 * 1024;

std::string_view title_of(const DenseProblem& problem) {
  if (problem.operation == &lu_operation) return "LU solve without pivoting";
  if (problem.operation == &pivoted_lu_operation) return "LU solve with partial pivoting";
  if (problem.operation == &incremental_lu_operation) return "LU solve with incremental pivoting";
  if (problem.m == 0) return "QR solve";
  return problem.tree == linalg::QrTree::flat ? "QR least squares" : "QR least squares by a binary tree";
}

/// A solve in progress, all of it in T.
template <class T>
class GeneralSolve {
 public:
  GeneralSolve(const System& system, Config config, const linalg::Kernels& kernels, const GridRank& place)
      : system_(system),
        config_(std::move(config)),
        place_(place),
        workers_(config_.count_or("workers", machine::discover().workers)),
        m_(static_cast<std::int64_t>(system.a->rows())),
        n_(static_cast<std::int64_t>(system.a->columns())),
        columns_(static_cast<std::int64_t>(system.b->columns())),
        limit_(linalg::max_correct_backward_error<T>(m_)),
        kernels_(kernels),
        problem_(problem()) {}

  SolvedHere run() {
    run_.emplace(config_, problem_.reserved, kernels_, front_at(config_, place_, *problem_.operation),
                 place_.rank);
    return run_->report_failure_of([this] { return solve(); });
  }

 private:
  SolvedHere solve() {
    settle_tile(run_->runtime(), problem_);
    problem_.set_tree();
    problem_.title = title_of(problem_);
    std::vector<std::uint64_t> shape = system_.b->header().shape;
    shape[0] = static_cast<std::uint64_t>(n_);
    // After signal handlers are installed: a file with a name would otherwise remain.
    if (place_.first()) {
      Interrupt::removes_at_exit([&] {
        out_.emplace(config_.text("output"), system_.solution(), data::StorageOrder::c, shape);
        return std::vector{out_->temporary()};
      });
    }
    const RunCounters before = counters_of(run_->runtime(), kernels_);
    x_ = vectors_of_all<T>(run_->runtime(), place_, *system_.b);
    report::RunReport found;
    const auto [tiled, after] = compute(found);
    const bool right = *found.backward_error <= limit_ &&  // false for NaN
                       !distrusted(found.condition, required_digits(config_));
    const bool written = right || config_.flag("keep-anyway");
    const bool writes = written && place_.first();
    if (writes) write();
    run_->hand_over_to_first_rank();
    if (writes) seconds_ += run_->end_by([this] { out_->commit(); });
    run_->remove_progress();
    recorded_ = run_->collect_traces();

    report::RunReport report = report_between(before, after, config_, kernels_, problem_);
    report.front = name_of(run_->front());
    report.seconds = seconds_;
    report.phases = run_->phases();
    report.not_written = run_->end_records();
    if (place_.alone()) find_limit(report, tiled, after);
    report.backward_error = found.backward_error;
    report.backward_error_limit = limit_;
    report.refinement_steps = found.refinement_steps;
    report.condition = found.condition;
    report.required_digits = required_digits(config_);
    report.growth = found.growth;
    report.residual = found.residual;
    report.numerical_rank = found.numerical_rank;
    report::LinkReport link{.name = "A.npy"};
    link.from_home[static_cast<std::size_t>(memory::Cause::demand)] = {read_for_tiles_, 1};
    report.links.push_back(link);
    report.input_bytes = system_.a->header().data_bytes();
    report.input_bytes_read = read_for_tiles_;
    report.of = fmt::format("{} x = {}", system_.a->path().string(), system_.b->path().string());
    if (columns_ > 1) report.of += fmt::format(" ({} columns)", columns_);
    if (written) report.solution = config_.text("output");
    combine_ranks(report, run_->runtime(), place_, before, after, problem_.reserved, recorded_.front());
    report.gflops = (problem_.operation->flops(problem_) + solve_flops()) / report.seconds * 1e-9;
    return {std::move(report), std::move(recorded_)};
  }

  struct Moments {
    RunCounters tiled, solved;  // the matrix was in tiles; the solution was there
  };

  bool square() const noexcept { return m_ == n_; }
  /// For a square system only on request: whether to decide the rank of its matrix.
  bool is_least_squares() const {
    return system_.method == &qr_operation && (!square() || config_.has("rank-tolerance"));
  }
  bool may_refine() const noexcept { return system_.method != &qr_operation; }  // QR need not
  bool wants_condition() const { return !config_.flag("no-condition"); }
  double solve_flops() const {
    const auto m = static_cast<double>(m_), n = static_cast<double>(n_),
               sides = static_cast<double>(columns_);
    return problem_.operation == &qr_operation ? (4 * m * n - n * n) * sides : 2 * n * n * sides;
  }

  DenseProblem problem() const {
    const std::int64_t judged_at_once = linalg::columns_of_block(m_, columns_);
    const Bytes judging = is_least_squares() ? LeastSquaresError<T>::scratch_bytes_per_worker(judged_at_once)
                                             : BackwardError<T>::scratch_bytes_per_worker(
                                                   n_, BackwardError<T>::preferred_columns(n_, columns_));
    const Bytes scratch = std::max<Bytes>(GeneralNpy<T>::scratch_bytes_per_worker,
                                          judging + NpySource::staging_bytes + staging_of_vectors);
    const Bytes vectors = static_cast<Bytes>(m_ * columns_) * sizeof(T);
    const Bytes residual = is_least_squares() ? LeastSquaresError<T>::bytes(m_, judged_at_once)
                           : may_refine()     ? refined_steps_bytes<T>(n_, columns_)
                                              : 0;
    const Bytes condition = (wants_condition() ? inverse_estimate_bytes<T>(n_) : 0) +
                            (is_least_squares() ? RankDecision<T>::bytes(n_) : BackwardError<T>::bytes(n_));
    DenseProblem problem{
        .operation = system_.method,
        .title = {},
        .n = n_,
        .m = square() ? 0 : m_,
        .element_bytes = sizeof(T),
        .own_products = kernels_.has_own_products(),
        .memory_limit = config_.bytes("memory"),
        .reserved = vectors + residual + condition + workers_ * scratch + NpySource::staging_bytes,
        .ranks = place_.count()};
    problem.set_tile(config_, workers_);
    return problem;
  }

  Moments compute(report::RunReport& found) {
    Runtime& runtime = run_->runtime();
    const TiledMatrix<T> a = place_.tiled<T>(runtime, "A", m_, n_, problem_.tile);
    const auto factors = make_factors<T>(problem_, kernels_, kernels_, runtime, a);
    Moments moments;
    const double largest = read(a);
    moments.tiled = counters_of(runtime, kernels_);

    run_->begin("factorization", problem_.operation->tasks(problem_), problem_.operation->flops(problem_));
    run_->compute([&](auto& front) { factors->factor(front); });
    seconds_ += run_->end();
    std::optional<RankDecision<T>> rank;
    if (is_least_squares()) {
      rank.emplace(*run_, kernels_, a, rank_tolerance(), [&] {
        of_inverse_ = inverse_norm(a, *factors);
        return of_inverse_.norm;
      });
      seconds_ += rank->seconds();
    }
    const linalg::ColumnScales<T> scales(x_.data(), m_, columns_);
    if (rank && rank->is_reduced()) {
      solve_of_lower_rank(a, *factors, *rank);
      scales.undo(x_.data());
    } else {
      DistributedColumns<T> x(runtime, "x", x_.data(), m_, columns_, problem_.tile, a.distribution());
      run_->begin("solve", factors->solve_tasks(x.tiles().tile_columns()), solve_flops());
      run_->compute([&](auto& front) { factors->solve(front, x.tiles()); });
      run_->wait();
      x.gather();
      scales.undo(x_.data());
      seconds_ += run_->end();
    }
    moments.solved = counters_of(runtime, kernels_);

    if (problem_.operation != &qr_operation) {
      ElementSizes<T> of_u;
      run_->begin("growth", of_u.tasks(a, Elements::upper));
      of_u.submit(run_->flow(), a, Elements::upper);
      run_->end_uncounted();
      of_u.combine_ranks(runtime);
      if (largest > 0) found.growth = of_u.largest() / largest;
    }
    if (rank)
      judge_least_squares(found, a, *factors, *rank);
    else
      judge(found, a, *factors);
    return moments;
  }

  void solve_of_lower_rank(const TiledMatrix<T>& a, TiledFactors<T>& factors, RankDecision<T>& rank) {
    run_->begin("solve", 0, solve_flops());
    {
      DistributedColumns<T> x(run_->runtime(), "x", x_.data(), m_, columns_, problem_.tile, a.distribution());
      factors.rotate(run_->flow(), x.tiles());
      run_->wait();
      x.gather();
    }
    rank.solve(x_.data(), m_, columns_);
    seconds_ += run_->end();
  }
  double rank_tolerance() const {
    if (config_.has("rank-tolerance")) return config_.real("rank-tolerance");
    return static_cast<double>(std::numeric_limits<T>::epsilon()) * static_cast<double>(std::max(m_, n_));
  }

  /// The size of the largest element.
  double read(const TiledMatrix<T>& a) {
    GeneralNpy<T> reader(system_.a);
    const Bytes memory = least_of_ranks(run_->runtime(), run_->runtime().capacity_bytes());
    const linalg::NpyReaders readers = place_.npy_readers([this] { run_->wait(); });
    run_->begin("reading", reader.tasks(a, memory, readers.root_reads_all));
    reader.submit(run_->flow(), a, memory, readers);
    seconds_ += run_->end();
    reader.combine_ranks(run_->runtime());
    system_.a->forget_pages();
    read_for_tiles_ = system_.a->bytes_read();
    return reader.largest();
  }

  std::shared_ptr<const linalg::MatrixSource<double>> matrix() const {
    return std::make_shared<NpySource>(system_.a, NpySource::staging_bytes, linalg::Shape::general);
  }
  std::shared_ptr<const linalg::MatrixSource<double>> right_hand_sides() const {
    return std::make_shared<NpySource>(system_.b, staging_of_vectors);
  }

  void judge(report::RunReport& found, const TiledMatrix<T>& a, TiledFactors<T>& factors) {
    const RefinedSteps judged = judge_and_refine<T>(*run_, kernels_, factors,
                                                    {.a = matrix(),
                                                     .b = right_hand_sides(),
                                                     .x = x_.data(),
                                                     .columns = columns_,
                                                     .tile = problem_.tile,
                                                     .limit = limit_ / much_better,
                                                     .may_refine = may_refine(),
                                                     .counts = true,
                                                     .readers = place_.readers,
                                                     .distribution = a.distribution()});
    seconds_ += judged.seconds;
    system_.a->forget_pages();
    found.backward_error = judged.backward_error;
    if (judged.steps > 0) found.refinement_steps = judged.steps;
    // If sums of a row overflow, the condition is unknown.
    if (!wants_condition() || !(judged.backward_error <= limit_) || !std::isfinite(judged.matrix_norm))
      return;
    InverseNorm<T> inverse(run_->runtime(), n_, a.tile(), factors.inverse(),
                           weights_of(judged.uncertain_residual));
    const InverseEstimate estimate = estimate_inverse(*run_, inverse,
                                                      {.kernels = kernels_,
                                                       .a = matrix(),
                                                       .matrix_norm = judged.matrix_norm,
                                                       .factor_error = judged.first_backward_error,
                                                       .epsilon = precision().epsilon,
                                                       .readers = place_.readers},
                                                      InverseNorm<T>::sweeps_per_step);
    system_.a->forget_pages();
    found.condition = report_estimate(*run_, estimate, 1, columns_, precision());
  }

  /// Errors and residuals over all columns of x, checked block by block.
  struct LeastSquares {
    double backward_error = 0;
    report::LeastSquaresResidual residual;
    double size_to_residual = std::numeric_limits<double>::infinity();
    double uncertain_residual = 0;         ///< as of LeastSquaresError, the largest
    std::vector<double> uncertain_normal;  ///< likewise
    int exponent_of_matrix = 0;
  };

  LeastSquares judge_columns(const TiledMatrix<T>& a, TiledFactors<T>& factors, RankDecision<T>& rank) {
    LeastSquares all;
    const std::int64_t at_once = linalg::columns_of_block(m_, columns_);
    linalg::for_each_block(columns_, at_once, [&](std::int64_t first, std::int64_t count) {
      run_->begin("error check", LeastSquaresError<T>::tasks(m_, n_));
      const auto b = std::make_shared<linalg::ColumnBlock>(right_hand_sides(), first, count);
      LeastSquaresError<T> error(kernels_, matrix(), b, x_.data() + first * m_, m_, count);
      error.check(
          run_->runtime(), run_->flow(), problem_.tile,
          [&factors](Flow& flow, const TiledMatrix<T>& r) { factors.rotate(flow, r); },
          [this] { run_->wait(); }, place_.readers, a.distribution());
      if (rank.is_reduced()) rank.restrict(error, m_, count);
      run_->end_uncounted();
      all.backward_error = linalg::larger(all.backward_error, error.value());
      all.residual = {.relative = linalg::larger(all.residual.relative, error.relative_residual()),
                      .excess = linalg::larger(all.residual.excess, error.residual_excess())};
      all.size_to_residual = std::min(all.size_to_residual, error.ratio_to_residual());
      all.uncertain_residual = linalg::larger(all.uncertain_residual, error.residual_bound());
      all.exponent_of_matrix = error.exponent_of_matrix();
      const std::vector<double> of_block = error.normal_residual_bound();
      all.uncertain_normal.resize(of_block.size());
      std::ranges::transform(all.uncertain_normal, of_block, all.uncertain_normal.begin(), linalg::larger);
    });
    system_.a->forget_pages();
    return all;
  }

  void judge_least_squares(report::RunReport& found, const TiledMatrix<T>& a, TiledFactors<T>& factors,
                           RankDecision<T>& rank) {
    const LeastSquares judged = judge_columns(a, factors, rank);
    found.backward_error = judged.backward_error;
    found.residual = judged.residual;
    found.numerical_rank = rank.rank();
    if (!wants_condition() || !(judged.backward_error <= limit_) || rank.rank().rank == 0) return;
    const double condition = rank.condition();
    Estimate of_error;
    if (rank.is_reduced())
      of_error.norm =
          normwise_least_squares_error(m_, condition, judged.backward_error, judged.size_to_residual);
    else
      of_error = least_squares_error(a, factors, judged, condition);
    found.condition = condition_report(condition, of_error.norm, precision());
    found.condition->is_exact = rank.rank().values.has_value();
    found.condition->seconds = of_inverse_.seconds + of_error.seconds;
    found.condition->columns = static_cast<std::uint64_t>(columns_);
    found.condition->sweeps = of_inverse_.sweeps + of_error.sweeps;
    const std::string warning = least_squares_warning(*found.condition, judged.size_to_residual, precision());
    if (!warning.empty()) run_->print_line("fairlead: " + warning);
  }

  struct Estimate {
    double norm = 0, seconds = 0;
    int sweeps = 0;
  };
  /// Of R, in steps that take a time of their own.
  Estimate inverse_norm(const TiledMatrix<T>& a, TiledFactors<T>& factors) {
    InverseNorm<T> inverse(run_->runtime(), n_, a.tile(), factors.inverse());
    return finished(inverse, 1);
  }
  /// `sweeps_per_step`: over R.
  Estimate finished(InverseNorm<T>& inverse, int sweeps_per_step) {
    const double seconds = finish_estimate(*run_, inverse);
    return {inverse.value(), seconds, InverseNorm<T>::steps * sweeps_per_step};
  }
  /// The bound of || x - true x || / || x ||. With r = b - A x as computed and what rounding may have changed
  /// in it, x - true x = -(A^T A)^-1 A^T r - A^+ (that change), and the rows of A^+ have the norms sqrt((A^T
  /// A)^-1_ii).
  Estimate least_squares_error(const TiledMatrix<T>& a, TiledFactors<T>& factors, const LeastSquares& judged,
                               double condition) {
    // R is that of A + E, which changes the inverse by about the condition times the size of E.
    const double off = 2 * condition * std::max(judged.backward_error, precision().epsilon);
    InverseNorm<T> inverse(run_->runtime(), n_, a.tile(),
                           inverse_of_product(factors.inverse(), judged.exponent_of_matrix),
                           weights_of(judged.uncertain_normal));
    Estimate estimate = finished(inverse, 2);
    double bound = inverse.weighted_value();
    if (std::isfinite(bound)) {
      bound = 0;
      for (const linalg::RowOfInverse& row : inverse.rows())
        bound = std::max(bound, row.weighted_sum + std::sqrt(row.diagonal) * judged.uncertain_residual);
    }
    estimate.norm = off < 0.5 ? bound / (1 - off) : HUGE_VAL;
    return estimate;
  }
  /// (A^T A)^-1 from that of R, for A x 2^-exponent.
  linalg::AppliedInverse<T> inverse_of_product(const linalg::AppliedInverse<T>& of_r, int exponent) {
    const auto scale = codelet("scale").cpu([exponent](InOut<Tile<T>> x) {
      for (int j = 0; j < x.columns(); ++j)
        for (int i = 0; i < x.rows(); ++i) x(i, j) = std::scalbn(x(i, j), exponent);
    });
    const auto scale_all = [scale](Flow& flow, const TiledMatrix<T>& x) {
      for (std::int32_t i = 0; i < x.tile_rows(); ++i)
        for (std::int32_t j = 0; j < x.tile_columns(); ++j) flow.submit(scale(x(i, j)));
    };
    const auto both = [of_r, scale_all](Flow& flow, const TiledMatrix<T>& x) {
      of_r.transposed(flow, x);
      scale_all(flow, x);
      of_r.plain(flow, x);
      scale_all(flow, x);
    };
    const std::int64_t tiles = (n_ + problem_.tile - 1) / problem_.tile;
    return {both, both, [of_r, tiles](std::int64_t columns) {
              return 2 * (of_r.tasks(columns) + static_cast<std::uint64_t>(tiles * columns));
            }};
  }
  SolvePrecision precision() const {
    const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    return {.epsilon = epsilon, .given_epsilon = epsilon, .can_refine = false};
  }

  void write() {
    run_->begin("writing");
    {
      std::vector<std::byte> staging(NpySource::staging_bytes);
      write_solution<T>(*out_, system_.solution(), x_.data(), static_cast<std::uint64_t>(m_),
                        static_cast<std::uint64_t>(n_), static_cast<std::uint64_t>(columns_), staging);
    }
  }

  const System& system_;
  const Config config_;
  const GridRank place_;
  const std::size_t workers_;
  const std::int64_t m_, n_, columns_;
  const double limit_;  // of the backward error
  const linalg::Kernels kernels_;
  DenseProblem problem_;
  std::vector<T> x_;  // b, whose first n rows become the solution
  double seconds_ = 0;
  Bytes read_for_tiles_ = 0;
  Estimate of_inverse_;  // of R, if it was needed
  std::vector<trace::Snapshot> recorded_;
  std::optional<WatchedRun> run_;       // its tasks use what is above
  std::optional<data::NpyWriter> out_;  // destroyed first, while signals are handled
};

template <class T>
int solve_general_in(const System& system, const Config& given, CommandRanks& ranks) {
  Config config = given;
  const auto loaded = kernels_and_devices(system, config, ranks);
  SolvedHere solved = ranks.results(
      [&](const GridRank& place) { return GeneralSolve<T>(system, config, *loaded.kernels, place).run(); });
  solved.report.devices = loaded.devices;
  solved.report.changed_input = system.changed_input();
  return publish_solution(solved, config, ranks);
}

}  // namespace

int solve_general(const System& system, const Config& config, CommandRanks& ranks) {
  return system.solution() == ElementType::float32 ? solve_general_in<float>(system, config, ranks)
                                                   : solve_general_in<double>(system, config, ranks);
}

}  // namespace fairlead::app
