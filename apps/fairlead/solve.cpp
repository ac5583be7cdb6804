// fairlead solve A.npy b.npy -o x.npy: solves A x = b for a symmetric positive definite matrix that may be
// larger than the memory.
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/refined_solve.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/npy_source.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/dense_report.hpp"
#include "fairlead/kernels.hpp"
#include "fairlead/matrix_to_solve.hpp"
#include "fairlead/read_vectors.hpp"
#include "fairlead/subcommand.hpp"
#include "fairlead/watched_run.hpp"
#include "machine/machine.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {
    {.name = "A.npy",
     .help = "the matrix: square, symmetric, positive definite; or --kernel",
     .required = false},
    {.name = "b.npy", .help = "the right-hand side, or several as columns"}};
constexpr Setting options[] = {
    {.key = "output",
     .type = SettingType::text,
     .value_name = "x.npy",
     .help = "where the solution goes; it appears whole or not at all",
     .letter = 'o'},
    {.key = "kernel",
     .type = SettingType::choice,
     .choices = "rbf",
     .help = "the matrix is made from points: rbf has exp(-distance^2 / (2 length-scale^2))"},
    {.key = "points",
     .type = SettingType::text,
     .value_name = "points.npy",
     .help = "for --kernel: a point in each row"},
    {.key = "length-scale",
     .type = SettingType::real,
     .minimum = "0",
     .help = "for --kernel: the distance over which points are alike",
     .default_shown = "1"},
    {.key = "nugget",
     .type = SettingType::real,
     .minimum = "0",
     .help = "for --kernel: added to the diagonal",
     .default_shown = "0"},
    {.key = "refine",
     .type = SettingType::flag,
     .fallback = "false",
     .help = "factor in single precision and refine the solution to double; in double precision after all "
             "if the matrix is too ill-conditioned for that"}};

constexpr std::size_t small_staging_bytes = 64 * 1024;

using data::ElementType;
using data::NpyFile;

template <class Stored, class T>
void write_as(data::NpyWriter& out, const std::vector<T>& x, std::uint64_t rows, std::uint64_t columns,
              std::span<std::byte> staging) {
  if constexpr (std::is_same_v<Stored, T>) {
    out.write_block<T>(0, rows, 0, columns, x.data(), rows, staging);
  } else {
    std::vector<Stored> some;
    const std::uint64_t at_once = std::max<std::uint64_t>(1, (std::uint64_t{1} << 17) / columns);
    for (std::uint64_t row = 0; row < rows; row += at_once) {
      const auto count = std::min(at_once, rows - row);
      some.resize(count * columns);
      for (std::uint64_t j = 0; j < columns; ++j)
        for (std::uint64_t i = 0; i < count; ++i)
          some[i + j * count] = static_cast<Stored>(x[row + i + j * rows]);
      out.write_block<Stored>(row, count, 0, columns, some.data(), count, staging);
    }
  }
}

/// What the command line asks for, and the matrix in either precision, made when it is wanted.
struct System {
  Config config;
  std::shared_ptr<const NpyFile> a, b;  // a: the matrix or the points that it is made of
  bool of_points = false;

  template <class T>
  std::unique_ptr<MatrixToSolve<T>> matrix() const {
    return of_points ? matrix_of_points<T>(config, *a) : matrix_in_file<T>(a);
  }
};

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
    run_.emplace(config_, reserved_, kernels_);
    // Now that signals are heeded: where files have to have names, this would be left.
    const NpyFile& like = *system_.b;
    out_.emplace(config_.text("output"), like.element(), data::StorageOrder::c, like.header().shape);
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
    write();
    run_->stop_showing();
    recorded_ = run_->runtime().recorded();

    report::RunReport report = report_between(before, solved.after, config_, kernels_, solved.problem);
    report.seconds = seconds_;
    const double size = static_cast<double>(n_), sides = static_cast<double>(columns_);
    report.gflops =
        (report::cholesky_flops(size) + report::cholesky_solve_flops(size, sides)) / seconds_ * 1e-9;
    report.phases = run_->phases();
    report.not_written = run_->end_records();
    report.backward_error = solved.backward_error;
    report.refinement_steps = solved.steps;
    if (solved.traffic) report.links.push_back(*solved.traffic);
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
  };

  Bytes reserved_bytes() const {
    const auto matrix = system_.template matrix<T>();
    const Bytes scratch = std::max<Bytes>(matrix->tiling_bytes_per_worker(),
                                          linalg::BackwardError<T>::scratch_bytes_per_worker(columns_) +
                                              matrix->source_bytes_per_worker() + small_staging_bytes);
    const Bytes vectors = static_cast<Bytes>(n_ * columns_) * sizeof(T);
    // Refining keeps the right-hand sides besides, for when it does not succeed.
    const Bytes refining =
        config_.flag("refine") ? vectors + linalg::RefinedSolve::bytes(n_, columns_, 0) : 0;
    return vectors + refining + matrix->bytes() + workers_ * scratch + linalg::NpySource::staging_bytes;
  }

  DenseProblem problem(std::string_view title, std::size_t element_bytes) const {
    DenseProblem problem{.title = title,
                         .n = n_,
                         .element_bytes = element_bytes,
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

    run_->begin("factorization", linalg::cholesky_tasks(problem.tiles()),
                report::cholesky_flops(static_cast<double>(n_)));
    linalg::cholesky(run_->flow(), kernels_, a);
    seconds_ += run_->end();
    return a;
  }

  std::shared_ptr<const linalg::MatrixSource<double>> right_hand_sides() const {
    return std::make_shared<linalg::NpySource>(system_.b, small_staging_bytes);
  }

  /// With the factor in T.
  Solved direct() {
    Solved solved{.problem = problem("Cholesky solve", sizeof(T))};
    const auto matrix = system_.template matrix<T>();
    const TiledMatrix<T> a = factor<T>(solved.problem, *matrix);
    const TiledMatrix<T> x =
        run_->runtime().template tiled_in_place<T>("x", x_.data(), n_, columns_, n_, solved.problem.tile);
    run_->begin("solve", linalg::solve_tasks(solved.problem.tiles(), x.tile_columns()),
                report::cholesky_solve_flops(static_cast<double>(n_), static_cast<double>(columns_)));
    linalg::solve_factored(run_->flow(), kernels_, a, x);
    seconds_ += run_->end();
    solved.after = counts_of(run_->runtime(), kernels_);

    run_->begin("error check", linalg::BackwardError<T>::tasks(n_));
    linalg::BackwardError<T> error(kernels_, matrix->source(), right_hand_sides(), x_.data(), columns_);
    error.submit(run_->flow());
    run_->end();
    matrix->forget_pages();
    if (!std::isfinite(error.value()))
      throw NumericalError(
          "the solution is not finite: the matrix is too close to singular for this precision");
    solved.backward_error = error.value();
    solved.traffic = matrix->traffic();
    return solved;
  }

  /// With a factor in single precision. Without a solution, and x_ as it was, if the matrix does not allow
  /// that; then the user has been told why.
  Solved refined() {
    using State = linalg::RefinedSolve::State;
    Solved solved{.problem = problem("Cholesky solve, factor in single precision", sizeof(float))};
    const std::vector<T> b = x_;
    try {
      const auto matrix = system_.template matrix<float>();
      const TiledMatrix<float> l = factor<float>(solved.problem, *matrix);
      run_->begin("refined solve");
      linalg::RefinedSolve solve(run_->runtime(), kernels_, l, matrix->source(), right_hand_sides(),
                                 x_.data());
      State state = State::improving;
      while (state == State::improving) {
        solve.submit_correction(run_->flow());
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
      if (b.element() == ElementType::float64)
        write_as<double>(*out_, x_, b.rows(), b.columns(), staging);
      else
        write_as<float>(*out_, x_, b.rows(), b.columns(), staging);
    }
    out_->commit();
    seconds_ += run_->end();
  }

  const System& system_;
  const Config config_;
  const std::size_t workers_;
  const std::int64_t n_, columns_;
  const linalg::Kernels kernels_;
  const Bytes reserved_;
  std::vector<T> x_;  // b, which becomes the solution
  double seconds_ = 0;
  trace::Snapshot recorded_;
  std::optional<WatchedRun> run_;       // its tasks use what is above
  std::optional<data::NpyWriter> out_;  // ends first, while signals are heeded
};

template <class T>
void solve(const System& system, const Config& config) {
  report::RunReport report;
  trace::Snapshot recorded;
  {
    Solve<T> solve(system, config);
    report = solve.run();
    recorded = solve.recorded();
  }
  publish(report, config, recorded);
}

int run(const ParsedCommandLine& given) {
  if (!given.config.has("output")) throw ConfigError("where should the solution go? Give -o x.npy");
  const bool of_points = given.config.has("kernel");
  for (const std::string_view option : {"points", "length-scale", "nugget"})
    if (!of_points && given.config.has(option))
      throw ConfigError(fmt::format("--{} goes with --kernel", option));
  if (of_points && !given.config.has("points"))
    throw ConfigError("--kernel makes the matrix from points: give --points points.npy");
  if (of_points == (given.positionals.size() == 2))
    throw ConfigError(of_points ? "either A.npy is the matrix or --kernel makes one, not both"
                                : "two files are needed, A.npy and b.npy; or --kernel, and b.npy alone");

  const System system{
      given.config,
      std::make_shared<const NpyFile>(of_points ? given.config.text("points") : given.positionals[0]),
      std::make_shared<const NpyFile>(given.positionals.back()), of_points};
  const NpyFile& a = *system.a;
  const NpyFile& b = *system.b;
  if (!of_points && (a.dimensions() != 2 || a.rows() != a.columns()))
    throw InputError(fmt::format("{} has the shape {}: solving needs a square matrix", a.path().string(),
                                 data::shape_text(a.header().shape)));
  // What is wrong with the points is told first.
  if (of_points) matrix_of_points<double>(given.config, a);
  if (a.rows() != b.rows())
    throw InputError(fmt::format("{} has the shape {} and {} the shape {}: they need the same number of rows",
                                 a.path().string(), data::shape_text(a.header().shape), b.path().string(),
                                 data::shape_text(b.header().shape)));

  Config config = given.config;
  check_scheduler(config);
  if (!config.has("memory")) config.set("memory", machine::discover().memory.usable_bytes());
  require_place_for_report(config);
  const bool in_single = !of_points && a.element() == ElementType::float32 && !config.flag("refine");
  in_single ? solve<float>(system, config) : solve<double>(system, config);
  return success;
}

}  // namespace

const Subcommand solve_command{
    .name = "solve",
    .summary = "Solves A x = b for a symmetric positive definite matrix, in a file or made from points.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .reports = true};

}  // namespace fairlead::app
