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
#include "algorithms/linalg/symmetric_npy.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/cholesky_report.hpp"
#include "fairlead/kernels.hpp"
#include "fairlead/subcommand.hpp"
#include "fairlead/watched_run.hpp"
#include "machine/machine.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {
    {.name = "A.npy", .help = "the matrix: square, symmetric, positive definite"},
    {.name = "b.npy", .help = "the right-hand side, or several as columns"}};
constexpr Setting options[] = {{.key = "output",
                                .type = SettingType::text,
                                .value_name = "x.npy",
                                .help = "where the solution goes; it appears whole or not at all",
                                .letter = 'o'}};

constexpr std::size_t small_staging_bytes = 64 * 1024;

using data::ElementType;
using data::NpyFile;

/// The right-hand sides as T, column-major. Throws NumericalError naming the place of what is not finite.
template <class T>
std::vector<T> read_right_hand_sides(const NpyFile& file, std::span<std::byte> staging) {
  std::vector<T> b(file.rows() * file.columns());
  file.read_block<T>(0, file.rows(), 0, file.columns(), b.data(), file.rows(), staging);
  const auto bad = std::ranges::find_if_not(b, [](T value) { return std::isfinite(value); });
  if (bad != b.end()) {
    const auto at = static_cast<std::uint64_t>(bad - b.begin());
    throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                     file.path().string(), at % file.rows(), at / file.rows(),
                                     std::isnan(*bad) ? "not a number (NaN)" : "infinite"));
  }
  return b;
}

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
int solve(Config config, const std::shared_ptr<const NpyFile>& a_file,
          const std::shared_ptr<const NpyFile>& b_file) {
  const auto n = static_cast<std::int64_t>(a_file->rows());
  const auto columns = static_cast<std::int64_t>(b_file->columns());
  const machine::Machine machine = machine::discover();
  check_scheduler(config);
  if (!config.has("memory")) config.set("memory", machine.memory.usable_bytes());
  CholeskyProblem problem{.operation = "Cholesky solve", .n = n, .element_bytes = sizeof(T)};
  problem.memory_limit = config.bytes("memory");

  require_place_for_report(config);
  auto reader = std::make_unique<linalg::SymmetricNpy<T>>(a_file);
  const linalg::Kernels kernels = load_kernels(config);
  // From here on a signal is heeded almost at once: where files have to have names, this one would be left.
  data::NpyWriter out(config.text("output"), b_file->element(), data::StorageOrder::c,
                      b_file->header().shape);

  const std::size_t workers = config.count_or("workers", machine.workers);
  const Bytes scratch = std::max<Bytes>(linalg::SymmetricNpy<T>::scratch_bytes_per_worker,
                                        linalg::BackwardError<T>::scratch_bytes_per_worker(columns) +
                                            linalg::NpySource::staging_bytes + small_staging_bytes);
  const Bytes reserved = static_cast<Bytes>(n) * static_cast<Bytes>(columns) * sizeof(T) + workers * scratch +
                         linalg::NpySource::staging_bytes;
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
      x = read_right_hand_sides<T>(*b_file, staging);
    }
    const TiledMatrix<T> tiled_x =
        run.runtime().template tiled_in_place<T>("x", x.data(), n, columns, n, problem.tile);

    run.begin("reading", reader->tasks(a, memory));
    reader->submit(run.flow(), a, memory);
    double seconds = run.end();
    reader->require_symmetric();
    reader.reset();
    a_file->forget_pages();

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
    linalg::BackwardError<T> error(kernels, std::make_shared<linalg::NpySource>(a_file),
                                   std::make_shared<linalg::NpySource>(b_file, small_staging_bytes), x.data(),
                                   columns);
    error.submit(run.flow());
    run.end();
    a_file->forget_pages();
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
    report::LinkReport source{"A.npy", {}, {}};
    source.from_home[static_cast<std::size_t>(memory::Cause::demand)] = {a_file->header().data_bytes(), 1};
    report.links.push_back(source);
  }
  publish(report, config);
  return success;
}

int run(const ParsedCommandLine& given) {
  if (!given.config.has("output")) throw ConfigError("where should the solution go? Give -o x.npy");
  const auto a = std::make_shared<const NpyFile>(given.positionals[0]);
  const auto b = std::make_shared<const NpyFile>(given.positionals[1]);
  const auto& shape = a->header().shape;
  if (a->dimensions() != 2 || a->rows() != a->columns())
    throw InputError(fmt::format("{} has the shape {}: solving needs a square matrix", a->path().string(),
                                 data::shape_text(shape)));
  if (b->rows() != a->rows())
    throw InputError(fmt::format("{} has the shape {} and {} the shape {}: they need the same number of rows",
                                 a->path().string(), data::shape_text(shape), b->path().string(),
                                 data::shape_text(b->header().shape)));
  return a->element() == ElementType::float32 ? solve<float>(given.config, a, b)
                                              : solve<double>(given.config, a, b);
}

}  // namespace

const Subcommand solve_command{
    .name = "solve",
    .summary = "Solves A x = b for a symmetric positive definite matrix in a file.",
    .positionals = positionals,
    .options = options,
    .run = run};

}  // namespace fairlead::app
