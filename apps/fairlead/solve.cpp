// fairlead solve A.npy b.npy -o x.npy: solves A x = b for a symmetric positive definite matrix that may be
// larger than the memory.
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/choose_tile.hpp"
#include "algorithms/linalg/npy_source.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/cholesky_report.hpp"
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
     .default_shown = "0"}};

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

template <class T>
int solve(Config config, MatrixToSolve<T>& matrix, const std::shared_ptr<const NpyFile>& b_file) {
  const std::int64_t n = matrix.n();
  const auto columns = static_cast<std::int64_t>(b_file->columns());
  const machine::Machine machine = machine::discover();
  check_scheduler(config);
  if (!config.has("memory")) config.set("memory", machine.memory.usable_bytes());
  CholeskyProblem problem{.operation = "Cholesky solve", .n = n, .element_bytes = sizeof(T)};
  problem.memory_limit = config.bytes("memory");

  require_place_for_report(config);
  const linalg::Kernels kernels = load_kernels(config);
  // From here on a signal is heeded almost at once: where files have to have names, this one would be left.
  data::NpyWriter out(config.text("output"), b_file->element(), data::StorageOrder::c,
                      b_file->header().shape);

  const std::size_t workers = config.count_or("workers", machine.workers);
  const Bytes scratch = std::max<Bytes>(matrix.tiling_bytes_per_worker(),
                                        linalg::BackwardError<T>::scratch_bytes_per_worker(columns) +
                                            matrix.source_bytes_per_worker() + small_staging_bytes);
  const Bytes reserved = static_cast<Bytes>(n) * static_cast<Bytes>(columns) * sizeof(T) + matrix.bytes() +
                         workers * scratch + linalg::NpySource::staging_bytes;
  problem.reserved = reserved;
  const Bytes for_tiles = problem.memory_limit > reserved ? problem.memory_limit - reserved : 0;
  problem.tile = config.has("tile")
                     ? static_cast<std::int32_t>(std::min<std::uint64_t>(config.count("tile"), 1 << 30))
                     : linalg::choose_cholesky_tile(n, sizeof(T), for_tiles, workers);
  const std::int64_t tiles = (n + problem.tile - 1) / problem.tile;

  report::RunReport report;
  {
    WatchedRun run(config, reserved, kernels);
    const Bytes memory = run.runtime().capacity_bytes();
    const Counts before = counts_of(run.runtime());
    const TiledMatrix<T> a = run.runtime().template tiled<T>("A", n, n, problem.tile, Tiles::lower);
    std::vector<T> x;
    {
      std::vector<std::byte> staging(linalg::NpySource::staging_bytes);
      x = read_vectors<T>(*b_file, staging);
    }
    const TiledMatrix<T> tiled_x =
        run.runtime().template tiled_in_place<T>("x", x.data(), n, columns, n, problem.tile);

    run.begin(matrix.phase(), matrix.tasks(a, memory));
    matrix.submit(run.flow(), a, memory);
    double seconds = run.end();
    matrix.end_tiling();

    const double size = static_cast<double>(n), sides = static_cast<double>(columns);
    run.begin("factorization", linalg::cholesky_tasks(tiles), report::cholesky_flops(size));
    linalg::cholesky(run.flow(), kernels, a);
    seconds += run.end();
    run.begin("solve", linalg::solve_tasks(tiles, tiled_x.tile_columns()),
              report::cholesky_solve_flops(size, sides));
    linalg::solve_factored(run.flow(), kernels, a, tiled_x);
    seconds += run.end();
    const Counts after = counts_of(run.runtime());

    run.begin("error check", linalg::BackwardError<T>::tasks(n));
    linalg::BackwardError<T> error(kernels, matrix.source(),
                                   std::make_shared<linalg::NpySource>(b_file, small_staging_bytes), x.data(),
                                   columns);
    error.submit(run.flow());
    run.end();
    matrix.forget_pages();
    if (!std::isfinite(error.value()))
      throw NumericalError(
          "the solution is not finite: the matrix is too close to singular for this precision");

    run.begin("writing");
    {
      std::vector<std::byte> staging(linalg::NpySource::staging_bytes);
      if (b_file->element() == ElementType::float64)
        write_as<double>(out, x, b_file->rows(), b_file->columns(), staging);
      else
        write_as<float>(out, x, b_file->rows(), b_file->columns(), staging);
    }
    out.commit();
    seconds += run.end();
    run.stop_showing();

    report = report_between(before, after, config, kernels, problem);
    report.seconds = seconds;
    report.gflops =
        (report::cholesky_flops(size) + report::cholesky_solve_flops(size, sides)) / seconds * 1e-9;
    report.phases = run.phases();
    report.backward_error = error.value();
    if (const auto traffic = matrix.traffic()) report.links.push_back(*traffic);
  }
  publish(report, config);
  return success;
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

  const auto a =
      std::make_shared<const NpyFile>(of_points ? given.config.text("points") : given.positionals[0]);
  const auto b = std::make_shared<const NpyFile>(given.positionals.back());
  const auto check_rows = [&] {
    if (a->rows() == b->rows()) return;
    throw InputError(fmt::format("{} has the shape {} and {} the shape {}: they need the same number of rows",
                                 a->path().string(), data::shape_text(a->header().shape), b->path().string(),
                                 data::shape_text(b->header().shape)));
  };
  const auto solve_with = [&]<class T>(std::unique_ptr<MatrixToSolve<T>> matrix) {
    check_rows();
    return solve<T>(given.config, *matrix, b);
  };
  if (of_points) return solve_with(matrix_of_points(given.config, *a));
  return a->element() == ElementType::float32 ? solve_with(matrix_in_file<float>(a))
                                              : solve_with(matrix_in_file<double>(a));
}

}  // namespace

const Subcommand solve_command{
    .name = "solve",
    .summary = "Solves A x = b for a symmetric positive definite matrix, in a file or made from points.",
    .positionals = positionals,
    .options = options,
    .run = run};

}  // namespace fairlead::app
