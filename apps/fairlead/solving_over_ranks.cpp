// fairlead solve over several ranks: each reads its tiles from the file, all solve, and rank 0 judges and writes.
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "algorithms/linalg/checked_source.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/npy_source.hpp"
#include "algorithms/linalg/symmetric_source.hpp"
#include "data/npy/npy_writer.hpp"
#include "fairlead/dense_report.hpp"
#include "fairlead/front.hpp"
#include "fairlead/interrupt.hpp"
#include "fairlead/kernels.hpp"
#include "fairlead/matrix_to_solve.hpp"
#include "fairlead/solution.hpp"
#include "fairlead/solving.hpp"
#include "fairlead/system_over_ranks.hpp"
#include "machine/machine.hpp"

namespace fairlead::app {

namespace {

using data::ElementType;
using linalg::CheckedSource;
using linalg::MatrixSource;
using linalg::NpySource;

void require_solve_over_ranks(const System& system, const Config& config) {
  require_over_ranks(config);
  if (system.a->rows() != system.a->columns() && !system.of_points)
    throw ConfigError("several ranks solve square systems: this one is for one rank");
  if (config.flag("refine")) throw ConfigError("--refine goes with one rank");
}

std::shared_ptr<const MatrixSource<double>> matrix_of(const System& system) {
  if (system.of_points) return matrix_of_points<double>(system.config, *system.a)->source();
  if (system.method != &cholesky_operation || system.stored == linalg::Stored::both)
    return std::make_shared<NpySource>(system.a, NpySource::staging_bytes, linalg::Shape::general);
  return std::make_shared<linalg::SymmetricSource>(system.a, system.stored);
}

/// How far mirrored elements may be apart; negative: it need not be symmetric, or is made so.
double tolerance_of(const System& system) {
  const bool both =
      system.method == &cholesky_operation && !system.of_points && system.stored == linalg::Stored::both;
  return both ? linalg::SymmetricNpy<double>::tolerance(system.a->header().element) : -1;
}

template <class T>
int solve_in(const System& system, const Config& config, const CommandRanks& ranks) {
  const auto n = static_cast<std::int64_t>(system.b->rows()),
             columns = static_cast<std::int64_t>(system.b->columns());
  const linalg::Kernels kernels = load_kernels(config);
  const std::size_t workers = config.count("workers");
  DenseProblem problem{.operation = system.method,
                       .title = system.method->name,
                       .n = n,
                       .element_bytes = sizeof(T),
                       .own_products = kernels.has_own_products(),
                       .memory_limit = config.bytes("memory"),
                       .reserved = reserved_over_ranks<T>(n, columns),
                       .ranks = ranks.count()};
  problem.set_tile(config, workers);

  const auto given_a = matrix_of(system);
  const auto given_b =
      std::make_shared<NpySource>(system.b, NpySource::staging_bytes, linalg::Shape::general);
  const auto a = std::make_shared<CheckedSource<T>>(
      given_a, system.of_points ? "the kernel's matrix" : system.a->path().string(), tolerance_of(system));
  SystemOverRanks<T> asked{.problem = problem, .kernels = kernels, .grid = ranks.grid(), .columns = columns};
  asked.front = config.has("front") ? front_in(config) : Front::ptg;
  asked.a = a;
  asked.b = std::make_shared<CheckedSource<T>>(given_b, system.b->path().string(), -1);
  // What is above the diagonal may be rounded otherwise: it is not what is solved with.
  asked.given_a = given_a;
  asked.given_b = given_b;
  asked.reading = "reading";
  asked.filled = [a](Runtime& runtime) {
    try {
      a->require_symmetric(gather(runtime, a->found()));
    } catch (const NumericalError& error) {
      if (runtime.rank() == 0) throw;
      throw RankError(error.what());  // all see it, and one says so
    }
  };

  SolvedOverRanks<T> solved;
  ranks.run([&](const Rank& rank) {
    SolvedOverRanks<T> own = solve_over_ranks(asked, config, rank);
    if (rank.number() == 0) solved = std::move(own);
  });
  if (!solved.report) return success;
  report::RunReport& report = *solved.report;
  report.of = fmt::format("{} x = {}", system.of_points ? "(kernel matrix)" : system.a->path().string(),
                          system.b->path().string());
  if (columns > 1) report.of += fmt::format(" ({} columns)", columns);
  if (*report.backward_error <= *report.backward_error_limit || config.flag("keep-anyway")) {  // no NaN
    const Interrupt interrupt([] {});
    data::NpyWriter out(config.text("output"), system.solution(), data::StorageOrder::c,
                        system.b->header().shape);
    Interrupt::removes_at_exit(out.temporary());
    std::vector<std::byte> staging(NpySource::staging_bytes);
    write_solution<T>(out, system.solution(), solved.x.data(), static_cast<std::uint64_t>(n),
                      static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(columns), staging);
    out.commit();
    report.solution = config.text("output");
  }
  return publish_solution(report, config, solved.recorded);
}

}  // namespace

int solve_over_ranks(const System& system, const Config& config, const CommandRanks& ranks) {
  require_solve_over_ranks(system, config);
  const bool in_single = !system.of_points && system.solution() == ElementType::float32;
  return in_single ? solve_in<float>(system, config, ranks) : solve_in<double>(system, config, ranks);
}

}  // namespace fairlead::app
