// fairlead bench cholesky: a generated system, factored out of core or in core against the clock, then solved
// once to see that the factor is right.
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/choose_tile.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/tile_digest.hpp"
#include "fairlead/cholesky_report.hpp"
#include "fairlead/kernels.hpp"
#include "fairlead/subcommand.hpp"
#include "fairlead/watched_run.hpp"
#include "machine/machine.hpp"
#include "report/bounds.hpp"

namespace fairlead::app {

namespace {

constexpr Bytes least_for_tiles = Bytes{4} << 20;  // where a part of the triangle is less: tiny matrices

constexpr Positional positionals[] = {{.name = "WHAT", .help = "what to run: cholesky"}};
constexpr Setting options[] = {
    {.key = "n",
     .type = SettingType::count,
     .fallback = "16384",
     .minimum = "1",
     .maximum = "10000000",
     .help = "rows and columns of the matrix"},
    {.key = "precision",
     .type = SettingType::choice,
     .fallback = "double",
     .choices = "double|single",
     .help = "of the elements"},
    {.key = "memory-fraction",
     .type = SettingType::real,
     .fallback = "0.25",
     .minimum = "0.001",
     .maximum = "1000",
     .help = "the memory limit as a part of the matrix's triangle, where --memory is not given"},
    {.key = "digest",
     .type = SettingType::flag,
     .fallback = "false",
     .help = "put a digest of the factor's bits into the JSON"},
};

template <class T>
int bench_cholesky(Config config) {
  const auto n = static_cast<std::int64_t>(config.count("n"));
  CholeskyProblem problem{.operation = "Cholesky factorization", .n = n, .element_bytes = sizeof(T)};

  require_place_for_report(config);
  const linalg::Kernels kernels = load_kernels(config);
  const std::size_t workers = config.count_or("workers", machine::discover().workers);
  // Besides the tiles: the right-hand side that becomes the solution, and what judging it takes.
  const Bytes reserved =
      static_cast<Bytes>(n) * sizeof(T) + workers * linalg::BackwardError<T>::scratch_bytes_per_worker(1);
  problem.reserved = reserved;
  if (!config.has("memory")) {
    const auto triangle =
        static_cast<double>(report::triangle_bytes(static_cast<std::uint64_t>(n), sizeof(T)));
    const auto part = static_cast<Bytes>(config.real("memory-fraction") * triangle);
    config.set("memory", std::max(part, reserved + least_for_tiles));
  }
  problem.memory_limit = config.bytes("memory");
  const Bytes for_tiles = problem.memory_limit > reserved ? problem.memory_limit - reserved : 0;
  problem.tile = config.has("tile")
                     ? static_cast<std::int32_t>(std::min<std::uint64_t>(config.count("tile"), 1 << 30))
                     : linalg::choose_cholesky_tile(n, sizeof(T), for_tiles, workers);
  const std::int64_t tiles = (n + problem.tile - 1) / problem.tile;

  report::RunReport report;
  {
    WatchedRun run(config, reserved, kernels);
    std::vector<T> x(static_cast<std::size_t>(n));
    const TiledMatrix<T> a = run.runtime().template tiled<T>("A", n, n, problem.tile, Tiles::lower);
    const TiledMatrix<T> tiled_x =
        run.runtime().template tiled_in_place<T>("x", x.data(), n, 1, n, problem.tile);
    const bool in_core = problem.fits();

    run.begin("generation", static_cast<std::uint64_t>(tiles * (tiles + 1) / 2));
    linalg::fill<T>(run.flow(), std::make_shared<linalg::GeneratedSpd<T>>(n, config.count("seed")), a,
                    Tiles::lower);
    run.end(!in_core);
    if (!in_core) run.runtime().drop_clean();

    const Counts before = counts_of(run.runtime());
    const double size = static_cast<double>(n);
    run.begin("factorization", linalg::cholesky_tasks(tiles), report::cholesky_flops(size));
    linalg::cholesky(run.flow(), kernels, a);
    const double seconds = run.end(!in_core);
    const Counts after = counts_of(run.runtime());

    linalg::LowerDigest<T> digest;
    if (config.flag("digest")) {
      run.begin("digest", static_cast<std::uint64_t>(digest.tasks(tiles)));
      digest.submit(run.flow(), a);
      run.end();
    }

    run.begin("solve", linalg::solve_tasks(tiles, 1), report::cholesky_solve_flops(size, 1));
    linalg::GeneratedUniform<T>(n, 1, config.count("seed") + 1).read(0, n, 0, 1, x.data(), n);
    linalg::solve_factored(run.flow(), kernels, a, tiled_x);
    run.end();

    run.begin("error check", linalg::BackwardError<T>::tasks(n));
    linalg::BackwardError<T> error(
        kernels, std::make_shared<linalg::GeneratedSpd<double>>(n, config.count("seed")),
        std::make_shared<linalg::GeneratedUniform<double>>(n, 1, config.count("seed") + 1), x.data(), 1);
    error.submit(run.flow());
    run.end();
    run.stop_showing();

    report = report_between(before, after, config, kernels, problem);
    report.seconds = seconds;
    report.gflops = report::cholesky_flops(size) / seconds * 1e-9;
    report.phases = run.phases();
    report.backward_error = error.value();
    if (config.flag("digest")) report.factor_digest = digest.value();
    run.runtime().flush();  // everything that was told is served: no more commands come
    report.command_digest = run.runtime().command_digest().value;
  }
  measure_ceiling(report, kernels, problem);
  publish(report, config);
  return success;
}

int run(const ParsedCommandLine& given) {
  if (given.positionals.front() != "cholesky")
    throw ConfigError(
        fmt::format("there is no benchmark \"{}\"; there is cholesky", given.positionals.front()));
  return given.config.text("precision") == "single" ? bench_cholesky<float>(given.config)
                                                    : bench_cholesky<double>(given.config);
}

}  // namespace

const Subcommand bench{.name = "bench",
                       .summary = "Measures: bench cholesky factors a generated matrix out of core.",
                       .positionals = positionals,
                       .options = options,
                       .run = run};

}  // namespace fairlead::app
