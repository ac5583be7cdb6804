// One solve from input files to the output file: the matrix into tiles, the factorization, the solution, its
// error and how many digits can be trusted.
#include "fairlead/solve/solving.hpp"

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
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/column_block.hpp"
#include "algorithms/linalg/column_scales.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/npy_source.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/devices/devices_to_use.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/kernels.hpp"
#include "fairlead/ranks/ranks_report.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/run/watched_run.hpp"
#include "fairlead/solve/inverse_estimate.hpp"
#include "fairlead/solve/matrix_to_solve.hpp"
#include "fairlead/solve/read_vectors.hpp"
#include "fairlead/solve/refined_steps.hpp"
#include "fairlead/solve/solution.hpp"
#include "fairlead/solve/tiled_factors.hpp"
#include "fairlead/solve/trust.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t small_staging_bytes = 64 * 1024;
constexpr std::size_t widest_tile = 2048;  // largest tile that is chosen; --tile may exceed it

using data::ElementType;
using data::NpyFile;
using linalg::InverseNorm;

template <class T>
std::unique_ptr<MatrixToSolve<T>> matrix_of(const System& system, std::shared_ptr<const NpyFile> file) {
  return system.of_points ? matrix_of_points<T>(system.kernel)
                          : matrix_in_file<T>(std::move(file), system.stored);
}

/// The matrix to which errors refer, in words; empty: that of the file.
constexpr std::string_view part_of_file(linalg::Stored stored) {
  switch (stored) {
    case linalg::Stored::lower:
      return " (its lower triangle, mirrored)";
    case linalg::Stored::upper:
      return " (its upper triangle, mirrored)";
    case linalg::Stored::mean:
      return " (the mean of its triangles)";
    case linalg::Stored::both:
      break;
  }
  return "";
}

constexpr double epsilon_of(ElementType element) {
  return element == ElementType::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                         : std::numeric_limits<double>::epsilon();
}

/// An error that no precision avoids.
class NoPrecisionHelps : public NumericalError {
 public:
  using NumericalError::NumericalError;
};

/// Runs checks that read the values as stored.
template <class Check>
auto in_any_precision(const Check& check) {
  try {
    return check();
  } catch (const NumericalError& error) {
    throw NoPrecisionHelps(error.what());
  }
}

/// The precision of the factor.
enum class FactorIn : std::uint8_t {
  solution,  // the solution's precision
  single,    // and the solution is refined
  tf32,      // the same, with products in TF32 where a device has that
};

/// A solve in progress; the solution is of type T.
template <class T>
class Solve {
 public:
  /// `factor_in`: the first attempt.
  Solve(const System& system, Config config, const linalg::Kernels& kernels, const GridRank& place,
        FactorIn factor_in)
      : system_(system),
        config_(std::move(config)),
        place_(place),
        factor_in_(factor_in),
        workers_(config_.count_or("workers", machine::discover().workers)),
        n_(static_cast<std::int64_t>(system.b->rows())),
        columns_(static_cast<std::int64_t>(system.b->columns())),
        kernels_(kernels),
        reserved_(reserved_bytes()),
        a_(kept_ > 0 ? system.a->keeping(kept_) : system.a) {}

  SolvedHere run() {
    run_.emplace(config_, reserved_, kernels_, front_at(config_, place_, cholesky_operation), place_.rank);
    return run_->report_failure_of([this] { return solve(); });
  }

 private:
  SolvedHere solve() {
    // After signal handlers are installed: a file with a name would otherwise remain.
    if (place_.first()) {
      Interrupt::removes_at_exit([&] {
        out_.emplace(config_.text("output"), system_.solution(), data::StorageOrder::c,
                     system_.b->header().shape);
        return std::vector{out_->temporary()};
      });
    }
    const RunCounters before = counters_of(run_->runtime(), kernels_);
    x_ = in_any_precision([&] { return vectors_of_all<T>(run_->runtime(), place_, *system_.b); });
    Solved solved;
    if constexpr (std::is_same_v<T, double>) {
      if (system_.solution() == ElementType::float32)
        below_single_ = columns_below_single(x_.data(), n_, columns_);
      if (factor_in_ == FactorIn::tf32) solved = refined(FactorIn::tf32);
      if (!solved.backward_error && factor_in_ != FactorIn::solution && !was_single(solved))
        solved = refined(FactorIn::single);
    }
    if (!solved.backward_error) solved = direct();
    const std::optional<double> lost = lost_in_file();
    const bool does_not_fit = lost && *lost > static_cast<double>(std::numeric_limits<float>::epsilon());
    if (does_not_fit) *solved.backward_error += *lost, solved.condition.reset();
    const bool right = *solved.backward_error <= limit_ &&  // false for NaN
                       !distrusted(solved.condition, required_digits(config_));
    const bool written = right || config_.flag("keep-anyway");
    const bool writes = written && place_.first();
    if (writes) write();
    run_->hand_over_to_first_rank();
    if (writes) seconds_ += run_->end_by([this] { out_->commit(); });
    run_->remove_progress();
    recorded_ = run_->collect_traces();

    report::RunReport report = report_between(before, solved.after, config_, kernels_, solved.problem);
    report.front = name_of(run_->front());
    report.seconds = seconds_;
    report.phases = run_->phases();
    report.not_written = run_->end_records();
    if (place_.alone()) find_limit(report, tiled_, solved.after);
    report.backward_error = solved.backward_error;
    report.backward_error_limit = limit_;
    (does_not_fit ? report.lost_in_file : report.rounded_in_file) = lost;
    report.asymmetry = solved.asymmetry;
    report.refinement_steps = solved.steps;
    report.calls_in_tf32 = solved.calls_in_tf32;
    report.condition = solved.condition;
    report.required_digits = required_digits(config_);
    if (solved.traffic) {
      report.links.push_back(*solved.traffic);
      report.input_bytes = system_.a->header().data_bytes();
      report.input_bytes_read =
          solved.traffic->from_home[static_cast<std::size_t>(memory::Cause::demand)].bytes;
    }
    report.of = fmt::format("{}{} x = {}", system_.of_points ? "(kernel matrix)" : system_.a->path().string(),
                            part_of_file(system_.stored), system_.b->path().string());
    if (columns_ > 1) report.of += fmt::format(" ({} columns)", columns_);
    if (written) report.solution = config_.text("output");
    combine_ranks(report, run_->runtime(), place_, before, solved.after, reserved_, recorded_.front());
    const double size = static_cast<double>(n_), sides = static_cast<double>(columns_);
    report.gflops = (report::cholesky_flops(size) + report::cholesky_solve_flops(size, sides)) /
                    (report.seconds - given_up_seconds_) * 1e-9;
    return {std::move(report), std::move(recorded_)};
  }

  struct Solved {
    DenseProblem problem{};
    RunCounters after{};                     // when the solution was complete
    std::optional<double> backward_error{};  // none: there is no solution
    std::optional<double> asymmetry{};       // of a matrix that is not quite symmetric
    std::optional<int> steps{};
    std::optional<std::uint64_t> calls_in_tf32{};
    std::optional<report::LinkReport> traffic{};
    std::optional<report::ConditionReport> condition{};
  };

  /// An attempt in TF32 in which nothing was rounded to TF32. Not used over ranks, which may differ in
  /// devices.
  bool was_single(const Solved& solved) const { return place_.alone() && solved.calls_in_tf32 == 0u; }

  Bytes reserved_bytes() {
    const auto matrix = matrix_of<T>(system_, system_.a);
    const bool refines = factor_in_ != FactorIn::solution;
    const Bytes tiling = refines ? matrix_of<float>(system_, system_.a)->tiling_bytes_per_worker() : 0;
    const Bytes scratch =
        std::max<Bytes>({matrix->tiling_bytes_per_worker(), tiling,
                         linalg::BackwardError<T>::scratch_bytes_per_worker(
                             n_, linalg::BackwardError<T>::preferred_columns(n_, columns_)) +
                             matrix->source_bytes_per_worker() + small_staging_bytes});
    const Bytes vectors = static_cast<Bytes>(n_ * columns_) * sizeof(T);
    // A matrix in a file may turn out not to be quite symmetric.
    const Bytes refining = std::max<Bytes>(
        refines ? linalg::RefinedSolve::bytes(n_, linalg::columns_of_block(n_, columns_), 0) : 0,
        system_.of_points ? 0 : refined_steps_bytes<T>(n_, columns_));
    // Memory for double precision, as long as --refine may fall back to it.
    const Bytes condition = wants_condition() ? inverse_estimate_bytes<T>(n_) : 0;
    const Bytes judging = linalg::BackwardError<T>::bytes(n_);
    const Bytes needed = vectors + refining + judging + condition + matrix->bytes() + workers_ * scratch +
                         linalg::NpySource::staging_bytes;
    // Each step of --refine reads A. It stays in memory as far as there is more than even a factor in double
    // precision takes.
    if (refines && !system_.of_points && place_.reads()) {
      const Bytes limit = config_.bytes("memory");
      const auto n = static_cast<Bytes>(n_);
      const Bytes others =
          needed + (n * (n + widest_tile) / 2 * sizeof(double)) / place_.count() * 9 / 8 + limit / 8;
      if (limit > others) kept_ = std::min(limit - others, system_.a->header().data_bytes());
    }
    return needed + kept_;
  }

  /// All ranks make it.
  DenseProblem problem(std::string_view title, std::size_t element_bytes) {
    DenseProblem problem{.title = title,
                         .n = n_,
                         .element_bytes = element_bytes,
                         .own_products = kernels_.has_own_products(),
                         .made = system_.of_points,
                         .memory_limit = config_.bytes("memory"),
                         .reserved = reserved_,
                         .ranks = place_.count()};
    problem.set_tile(config_, workers_);
    settle_tile(run_->runtime(), problem);
    return problem;
  }

  /// The matrix in tiles, factored with these kernels.
  template <class Element>
  TiledMatrix<Element> factor(const DenseProblem& problem, MatrixToSolve<Element>& matrix,
                              const linalg::Kernels& kernels) {
    const Bytes memory = least_of_ranks(run_->runtime(), run_->runtime().capacity_bytes());
    TiledMatrix<Element> a = matrix.tiles(place_, run_->runtime(), problem.tile);
    if (matrix.phase() != nullptr) {
      run_->begin(matrix.phase(), matrix.tasks(a, memory));
      matrix.submit(run_->flow(), a, memory, place_.npy_readers([this] { run_->wait(); }));
      seconds_ += run_->end();
    }
    alike(place_.first(), [&] { in_any_precision([&] { matrix.end_tiling(run_->runtime()); }); });
    tiled_ = counters_of(run_->runtime(), kernels_);

    run_->begin("factorization", linalg::cholesky_tasks(problem.tiles()),
                report::cholesky_flops(static_cast<double>(n_)));
    run_->compute([&](auto& front) { linalg::cholesky(front, kernels, a); });
    seconds_ += run_->end();
    return a;
  }

  std::shared_ptr<const linalg::MatrixSource<double>> right_hand_sides() const {
    return std::make_shared<linalg::NpySource>(system_.b, small_staging_bytes);
  }

  bool wants_condition() const { return !config_.flag("no-condition"); }

  /// Runs the remaining steps of the estimate, whose time counts separately. Warns if little of the solution
  /// can be trusted. The bound is `times` that of the weights of the estimate.
  template <class Element>
  report::ConditionReport condition(InverseNorm<Element>& inverse, double times,
                                    const FactoredSystem& system) {
    const InverseEstimate estimate =
        estimate_inverse(*run_, inverse, system, InverseNorm<Element>::sweeps_per_step);
    return report_estimate(*run_, estimate, times, columns_, {epsilon_, epsilon_of(system_.solution())});
  }

  /// With the factor in T.
  Solved direct() {
    Solved solved{.problem = problem("Cholesky solve", sizeof(T))};
    const auto matrix = matrix_of<T>(system_, a_);
    const TiledMatrix<T> a = factor<T>(solved.problem, *matrix, kernels_);
    {
      const linalg::ColumnScales<T> scales(x_.data(), n_, columns_);
      linalg::DistributedColumns<T> x(run_->runtime(), "x", x_.data(), n_, columns_, solved.problem.tile,
                                      a.distribution());
      run_->begin("solve", linalg::solve_tasks(solved.problem.tiles(), x.tiles().tile_columns()),
                  report::cholesky_solve_flops(static_cast<double>(n_), static_cast<double>(columns_)));
      run_->compute([&](auto& front) { linalg::solve_factored(front, kernels_, a, x.tiles()); });
      run_->wait();
      x.gather();
      scales.undo(x_.data());
      seconds_ += run_->end();
    }
    solved.after = counters_of(run_->runtime(), kernels_);
    solved.traffic = matrix->traffic();

    // The factors are those of the lower triangle. The residual contains the difference of the upper
    // triangle, so that one step of refinement removes it.
    const bool asymmetric = matrix->asymmetry() != 0;
    const auto factors = make_factors<T>(solved.problem, kernels_, kernels_, run_->runtime(), a);
    const RefinedSteps judged = judge_and_refine<T>(*run_, kernels_, *factors,
                                                    {.a = matrix->source(),
                                                     .b = right_hand_sides(),
                                                     .x = x_.data(),
                                                     .columns = columns_,
                                                     .tile = solved.problem.tile,
                                                     .limit = limit_ / much_better,
                                                     .may_refine = asymmetric,
                                                     .counts = true,
                                                     .least_steps = asymmetric ? 1 : 0,
                                                     .readers = place_.readers,
                                                     .distribution = a.distribution()});
    seconds_ += judged.seconds;
    matrix->forget_pages();
    solved.backward_error = judged.backward_error;
    if (judged.steps > 0) solved.steps = judged.steps;
    if (asymmetric) solved.asymmetry = matrix->asymmetry();
    // If sums of a row overflow, the condition is unknown.
    if (wants_condition() && judged.backward_error <= limit_ && std::isfinite(judged.matrix_norm)) {
      InverseNorm<T> inverse(run_->runtime(), kernels_, a, weights_of(judged.uncertain_residual));
      solved.condition = condition(inverse, 1,
                                   {.kernels = kernels_,
                                    .a = matrix->source(),
                                    .matrix_norm = judged.matrix_norm,
                                    .factor_error = judged.first_backward_error,
                                    .epsilon = epsilon_,
                                    .readers = place_.readers});
      matrix->forget_pages();
    }
    return solved;
  }

  /// With a factor in single precision. Without a solution, and x_ as it was, if the matrix does not allow
  /// that; the reason has then been printed. Only the factorization is in TF32, if at all.
  Solved refined(FactorIn factor_in) {
    using State = linalg::RefinedSolve::State;
    const bool in_tf32 = factor_in == FactorIn::tf32;
    const linalg::Kernels factor_kernels = in_tf32 ? kernels_.in_tf32() : kernels_;
    Solved solved{.problem = problem(in_tf32 ? "Cholesky solve, factor in single precision, products in TF32"
                                             : "Cholesky solve, factor in single precision",
                                     sizeof(float))};
    bool others_go_on = place_.alone();
    try {
      const auto matrix = matrix_of<float>(system_, a_);
      const TiledMatrix<float> l = factor<float>(solved.problem, *matrix, factor_kernels);
      run_->begin("refined solve");
      std::optional<InverseNorm<float>> inverse;
      double matrix_norm = 0, backward_error = 0, first_error = 0;
      int steps = 0;
      std::vector<double> weights,
          uncertain;  // of the estimate; of the solution, the largest over the blocks
      linalg::for_each_block(columns_, linalg::columns_of_block(n_, columns_),
                             [&](std::int64_t first, std::int64_t count) {
                               linalg::RefinedSolve solve(
                                   run_->runtime(), kernels_, l, matrix->source(),
                                   std::make_shared<linalg::ColumnBlock>(right_hand_sides(), first, count),
                                   x_.data() + first * n_, place_.readers);
                               State state = State::improving;
                               while (state == State::improving) {
                                 solve.submit_correction(run_->flow(), inverse ? &*inverse : nullptr);
                                 run_->wait();
                                 solve.submit_residual(run_->flow());
                                 run_->wait();
                                 state = solve.evaluate_step();
                                 if (solve.steps() == 1)
                                   first_error = linalg::larger(first_error, solve.backward_error());
                                 // Refining changes the residual, but |A| |x| hardly.
                                 if (wants_condition() && !inverse) {
                                   weights = weights_of(solve.sizes());
                                   inverse.emplace(run_->runtime(), kernels_, l, weights);
                                 }
                               }
                               if (state == State::too_coarse) {
                                 others_go_on = true;  // they find the same
                                 seconds_ += run_->end();
                                 throw_too_coarse(solve, in_tf32 ? "TF32" : "single precision");
                               }
                               matrix_norm = solve.matrix_norm();
                               backward_error = std::max(backward_error, solve.backward_error());
                               steps = std::max(steps, solve.steps());
                               const std::vector<double> of_block = solve.uncertain_residual();
                               uncertain.resize(of_block.size());
                               std::ranges::transform(uncertain, of_block, uncertain.begin(), linalg::larger);
                             });
      seconds_ += run_->end();
      matrix->forget_pages();
      solved.after = counters_of(run_->runtime(), kernels_);
      solved.backward_error = backward_error;
      solved.steps = steps;
      if (matrix->asymmetry() != 0) solved.asymmetry = matrix->asymmetry();
      if (inverse && std::isfinite(matrix_norm))
        solved.condition = condition(*inverse, largest_quotient(uncertain, weights),
                                     {.kernels = kernels_,
                                      .a = matrix->source(),
                                      .matrix_norm = matrix_norm,
                                      .factor_error = first_error,
                                      .epsilon = static_cast<double>(std::numeric_limits<float>::epsilon()),
                                      .readers = place_.readers});
      solved.traffic = matrix->traffic();
      if (in_tf32) solved.calls_in_tf32 = factor_kernels.calls_in_tf32();
    } catch (const NoPrecisionHelps&) {
      throw;
    } catch (const NumericalError& error) {
      if (!others_go_on) throw;
      if (in_tf32) solved.calls_in_tf32 = factor_kernels.calls_in_tf32();
      run_->print_line(fmt::format("fairlead: {}; trying again in {} precision", error.what(),
                                   in_tf32 && !was_single(solved) ? "single" : "double"));
      seconds_ += run_->give_up();
      x_ = vectors_of_all<T>(run_->runtime(), place_, *system_.b);
      given_up_seconds_ = seconds_;
    }
    return solved;
  }

  /// Of a solution in double precision in a file in single: alike on all ranks, as the first one writes it.
  std::optional<double> lost_in_file() {
    if constexpr (std::is_same_v<T, double>)
      if (system_.solution() == ElementType::float32) {
        double lost[] = {lost_in_single(x_.data(), n_, columns_, below_single_)};
        linalg::allreduce_max(run_->runtime(), lost);
        return lost[0];
      }
    return std::nullopt;
  }

  void write() {
    run_->begin("writing");
    {
      std::vector<std::byte> staging(linalg::NpySource::staging_bytes);
      const NpyFile& b = *system_.b;
      write_solution<T>(*out_, system_.solution(), x_.data(), b.rows(), b.rows(), b.columns(), staging);
    }
  }

  const System& system_;
  const Config config_;
  const GridRank place_;
  const FactorIn factor_in_;
  const std::size_t workers_;
  const std::int64_t n_, columns_;
  const double epsilon_ = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double limit_ = linalg::max_correct_backward_error<T>(n_);  // of the backward error
  const linalg::Kernels kernels_;
  Bytes kept_ = 0;  // of the file of A, in memory
  const Bytes reserved_;
  const std::shared_ptr<const NpyFile> a_;     // may keep what was read in memory
  std::vector<T> x_;                           // b, which becomes the solution
  std::vector<std::int64_t> below_single_;     // columns of b: of a file in single precision
  double seconds_ = 0, given_up_seconds_ = 0;  // of these, in attempts in another precision
  RunCounters tiled_{};                        // when the matrix was in tiles, and computing started
  std::vector<trace::Snapshot> recorded_;
  std::optional<WatchedRun> run_;       // its tasks use what is above
  std::optional<data::NpyWriter> out_;  // destroyed first, while signals are handled
};

template <class T>
SolvedHere solve_in(const System& system, const Config& config, const linalg::Kernels& kernels,
                    const CommandRanks& ranks, FactorIn factor_in) {
  return ranks.results(
      [&](const GridRank& place) { return Solve<T>(system, config, kernels, place, factor_in).run(); });
}

/// Over ranks a factorization in single precision that fails ends the run of all ranks: so they agree whether
/// to start again in double.
SolvedHere solve_refined(const System& system, const Config& config, const linalg::Kernels& kernels,
                         CommandRanks& ranks, FactorIn factor_in) {
  constexpr double well = 0, by_numbers = 1, by_another_rank = 2, badly = 3;
  double ended = well;
  std::exception_ptr why;
  std::string words;
  SolvedHere solved;
  try {
    solved = solve_in<double>(system, config, kernels, ranks, factor_in);
  } catch (const NoPrecisionHelps&) {
    ended = badly, why = std::current_exception();
  } catch (const NumericalError& error) {
    ended = by_numbers, why = std::current_exception(), words = error.what();
  } catch (const RankError& error) {
    ended = by_another_rank, why = std::current_exception(), words = error.what();
  } catch (...) {
    ended = badly, why = std::current_exception();
  }
  // A signal after the first attempt: otherwise the second would ignore it.
  if (const int signal = Interrupt::signal();
      signal != 0 && (ended == by_numbers || ended == by_another_rank))
    ended = badly, why = std::make_exception_ptr(Interrupted{signal});
  const double own[] = {ended};
  ranks.renew();
  const std::vector<double> all = ranks.gather_from_processes(config, own);
  const bool again = std::ranges::find(all, by_numbers) != all.end() &&
                     std::ranges::none_of(all, [](double one) { return one == well || one == badly; });
  if (!again && why != nullptr) std::rethrow_exception(why);
  if (!again) return solved;
  if (ranks.first()) fmt::print(stderr, "fairlead: {}; trying again in double precision\n", words);
  return solve_in<double>(system, config, kernels, ranks, FactorIn::solution);
}

}  // namespace

std::string System::changed_input() const {
  for (const auto& file : {a, b})
    if (file != nullptr && file->changed()) return file->path().string();
  return {};
}

data::ElementType System::solution() const {
  const bool in_single = a->element() == ElementType::float32 && b->element() == ElementType::float32;
  return in_single ? ElementType::float32 : ElementType::float64;
}

int publish_solution(const SolvedHere& solved, const Config& config, const CommandRanks& ranks) {
  if (ranks.first()) return publish_solution(solved.report, config, solved.recorded);
  return wrong_answer(solved.report) ? wrong_result : success;
}

KernelsAndDevices kernels_and_devices(const System& system, Config& config, CommandRanks& ranks) {
  const bool single = system.solution() == ElementType::float32 || config.flag("refine");
  const auto n = static_cast<std::int64_t>(system.of_points ? system.b->rows() : system.a->columns());
  const auto m = static_cast<std::int64_t>(system.b->rows());
  const DenseProblem problem{.operation = system.method,
                             .title = {},
                             .n = n,
                             .m = m == n ? 0 : m,
                             .element_bytes = single ? 4u : 8u};
  KernelsAndDevices both;
  both.kernels = load_kernels(config, [&](const linalg::KernelChoice& choice) {
    both.devices = select_devices(config, true, problem_work(problem, choice.gflops(), config), ranks);
  });
  return both;
}

int solve(const System& system, const Config& given, CommandRanks& ranks) {
  if (system.method != &cholesky_operation) return solve_general(system, given, ranks);
  Config config = given;
  const auto [kernels, devices] = kernels_and_devices(system, config, ranks);
  const bool refine = config.flag("refine");
  const bool in_single = !system.of_points && system.solution() == ElementType::float32 && !refine;
  const FactorIn factor_in = !refine               ? FactorIn::solution
                             : config.flag("tf32") ? FactorIn::tf32
                                                   : FactorIn::single;
  SolvedHere solved = in_single ? solve_in<float>(system, config, *kernels, ranks, factor_in)
                      : refine && !ranks.alone()
                          ? solve_refined(system, config, *kernels, ranks, factor_in)
                          : solve_in<double>(system, config, *kernels, ranks, factor_in);
  solved.report.devices = devices;
  solved.report.changed_input = system.changed_input();
  return publish_solution(solved, config, ranks);
}

}  // namespace fairlead::app
