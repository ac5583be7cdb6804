// fairlead logdet A.factor, or A.npy: the determinant of a matrix, as its sign, or the phase of a
// complex one, and the logarithm of its absolute value.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/json.hpp"
#include "base/scalar.hpp"
#include "fairlead/factor/factored_matrix_run.hpp"
#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/run/run_options.hpp"
#include "solver/factor_file.hpp"
#include "solver/kept_factors.hpp"
#include "solver/log_determinant.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {
    {.name = "A.factor", .help = "factors, as fairlead factor writes them; or a matrix, which is factored"}};
constexpr auto options = both(factor_options, both(rank_options, report_options));

/// A determinant and what it is of.
struct FoundDeterminant {
  linalg::LogDeterminant value;
  std::string method;
  std::int64_t n;
  bool is_complex;
};

template <class T>
FoundDeterminant of_stored_factors(const std::shared_ptr<const solver::FactorFile>& file,
                                   const Config& config, const linalg::Kernels& kernels) {
  WatchedRun run(config, 0, kernels);
  return run.report_failure_of([&] {
    solver::DenseProblem problem = solver::problem_of(file->shape());
    problem.memory_limit = config.bytes("memory");
    const auto factors = solver::stored_factors<T>(run.runtime(), kernels, problem, file);
    const linalg::LogDeterminant value = solver::log_determinant(run, factors);
    run.remove_progress();
    return FoundDeterminant{value, std::string(problem.operation->key), problem.n, is_complex_number<T>};
  });
}

template <class T>
FoundDeterminant of_matrix(const MatrixToFactor& matrix, const Config& config,
                           const linalg::Kernels& kernels) {
  return with_factors<T>(matrix, config, kernels,
                         [&](CountedRun& run, const solver::KeptFactors<T>& factors,
                             const solver::SolveResult&, const solver::SolveOptions&) {
                           const linalg::LogDeterminant value = solver::log_determinant(run, factors);
                           run.runtime().remove_checkpoint();
                           run.remove_progress();
                           return FoundDeterminant{value, std::string(factors.problem.operation->key),
                                                   factors.problem.n, is_complex_number<T>};
                         });
}

void require_square_shape(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  if (rows != columns)
    throw InputError(fmt::format("{} has the shape ({}, {}): only a square matrix has a determinant", name,
                                 rows, columns));
}

FoundDeterminant find(const std::string& path, const Config& config, const linalg::Kernels& kernels) {
  if (solver::is_factor_file(path)) {
    const auto file = std::make_shared<const solver::FactorFile>(path);
    require_square_shape(path, static_cast<std::uint64_t>(file->shape().rows),
                         static_cast<std::uint64_t>(file->shape().columns));
    return with_scalar(file->shape().element,
                       [&]<class T>() { return of_stored_factors<T>(file, config, kernels); });
  }
  MatrixToFactor matrix(config, path);
  matrix.solving.condition = false;
  require_square_shape(path, matrix.a->rows(), matrix.a->columns());
  return with_scalar(matrix.a->element(), [&]<class T>() { return of_matrix<T>(matrix, config, kernels); });
}

int run_on(CommandRanks& ranks, const ParsedCommandLine& given) {
  if (!ranks.alone()) throw ConfigError("fairlead logdet works in one process, not on several ranks");
  Config config = settings_of_run(given.config, ranks);
  const linalg::Kernels kernels = solver::load_kernels(config, kernel_environment(), {});
  const std::string& path = given.positionals[0];
  const FoundDeterminant found = find(path, config, kernels);
  const std::complex<double> phase = found.value.phase;
  if (config.has("json")) {
    Json json = Json::object({{"matrix", path},
                              {"n", found.n},
                              {"method", found.method},
                              {"sign", found.value.sign},
                              {"log_absolute_determinant", found.value.log_absolute}});
    if (found.is_complex) json.add("phase", Json::array({phase.real(), phase.imag()}));
    write_json(config.text("json"), json);
  }
  if (found.is_complex)
    fmt::print("phase {:.17g}{:+.17g}i, log|det| {:.17g}\n", phase.real(), phase.imag(),
               found.value.log_absolute);
  else
    fmt::print("sign {}, log|det| {:.17g}\n", found.value.sign, found.value.log_absolute);
  return success;
}

int run(const ParsedCommandLine& given) {
  return on_ranks(given.config, [&](CommandRanks& ranks) { return run_on(ranks, given); });
}

}  // namespace

const Subcommand logdet_command{
    .name = "logdet",
    .summary = "Sign or phase and logarithm of the determinant of a matrix or of kept factors.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .over_ranks = true};

}  // namespace fairlead::app
