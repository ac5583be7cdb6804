// fairlead solve A.npy b.npy -o x.npy: solves A x = b, or a least squares problem, for a matrix that may be
// larger than the memory.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/matrix/formats.hpp"
#include "data/matrix/stored_matrix.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/run_options.hpp"
#include "fairlead/solve/files_to_solve.hpp"
#include "fairlead/solve/solving.hpp"
#include "fairlead/subcommand.hpp"
#include "solver/choose_method.hpp"
#include "solver/devices/problem_devices.hpp"
#include "solver/factor_file.hpp"
#include "solver/grid_rank.hpp"
#include "solver/kept_factors.hpp"
#include "solver/method_options.hpp"

namespace fairlead::app {

using solver::alike;
using solver::choose_method;
using solver::DenseOperation;
using solver::MethodOption;
using solver::SolveOptions;
using solver::TasksRun;
using solver::Wording;

namespace {

constexpr Positional positionals[] = {
    {.name = "A.npy", .help = "the matrix; or --kernel, or --factor", .required = false},
    {.name = "b.npy", .help = "the right-hand side, or several as columns"}};
const std::string methods = solver::method_choices();  // to which an option refers
const auto options = both(
    std::to_array<Setting>(
        {{.key = "output",
          .type = SettingType::text,
          .value_name = "x.npy",
          .help = "file for the solution, written completely or not at all",
          .letter = 'o'},
         {.key = "method",
          .type = SettingType::choice,
          .default_value = "auto",
          .choices = methods,
          .help =
              "auto: cholesky if A is symmetric (or complex Hermitian) positive definite, ldlt if it is "
              "symmetric or Hermitian, triangular if it is that, qr if it is not square, otherwise lu, and "
              "the "
              "report states why; lu, lu-incremental: with partial or incremental pivoting; lu-nopivot: for "
              "a "
              "diagonally dominant A; qr: also least squares. Every solution is checked; a wrong one is an "
              "error"},
         {.key = "factor",
          .type = SettingType::text,
          .value_name = "A.factor",
          .help = "factors saved by fairlead factor; A.npy then only checks the solution"},
         {.key = "rank-tolerance",
          .type = SettingType::real,
          .minimum = "0",
          .help = "for QR: singular values up to this fraction of the largest count as zero, and "
                  "the solution is the least-squares x of least norm. 0: the columns are independent. For a "
                  "square A only if this option is given",
          .default_shown = "epsilon of the files' precision x the larger of rows and columns",
          .advanced = true},
         {.key = "kernel",
          .type = SettingType::choice,
          .choices = "rbf",
          .help = "compute the matrix from points; rbf: exp(-distance^2 / (2 length-scale^2))",
          .advanced = true},
         {.key = "points",
          .type = SettingType::text,
          .value_name = "points.npy",
          .help = "for --kernel: the file of points, one in each row",
          .advanced = true},
         {.key = "length-scale",
          .type = SettingType::real,
          .minimum = "0",
          .help = "for --kernel: the distance over which points are similar",
          .default_shown = "1",
          .advanced = true},
         {.key = "nugget",
          .type = SettingType::real,
          .minimum = "0",
          .help = "for --kernel: added to the diagonal",
          .default_shown = "0",
          .advanced = true},
         flag("refine",
              "factor in single precision and refine the solution to double; falls back to double "
              "precision if the matrix is too ill-conditioned"),
         advanced_flag(
             "tf32",
             "with --refine: compute the products of the factorization in TF32 on CUDA devices, which "
             "is faster; falls back to single precision if the matrix is too ill-conditioned"),
         advanced_flag(
             "no-condition",
             "do not estimate the condition number and the forward error (saves four sweeps over the "
             "factor)"),
         {.key = "require-digits",
          .type = SettingType::count,
          .minimum = "1",
          .maximum = "15",
          .value_name = "N",
          .help = "fail with exit status 3 and write no solution if fewer digits of it can be trusted"},
         advanced_flag("keep-anyway",
                       "write the solution even if it is wrong, the matrix is singular to rounding, or fewer "
                       "digits can be trusted than --require-digits asks for; the exit status is still 3"),
         advanced_flag("overwrite", "the solution may replace A.npy, b.npy or points.npy"),
         advanced_flag("lower", "read only the lower triangle of A.npy"),
         advanced_flag("upper", "read only the upper triangle of A.npy"),
         advanced_flag(
             "symmetrize",
             "use (A + A^T) / 2 if rounding made A not quite symmetric: half of the digits must agree")}),
    both(both(front_options, rank_options), report_options));

/// Those of the table of methods that are given.
std::vector<MethodOption> method_options(const Config& config) {
  std::vector<MethodOption> given;
  if (config.has("kernel")) given.push_back(MethodOption::kernel);
  if (config.flag("refine")) given.push_back(MethodOption::refine);
  if (config.flag("tf32")) given.push_back(MethodOption::tf32);
  if (config.flag("lower")) given.push_back(MethodOption::lower);
  if (config.flag("upper")) given.push_back(MethodOption::upper);
  if (config.flag("symmetrize")) given.push_back(MethodOption::mean);
  if (config.has("rank-tolerance")) given.push_back(MethodOption::rank_tolerance);
  return given;
}

TasksRun tasks_run(const Config& config, const CommandRanks& ranks) {
  if (front_in(config) != Front::flow) return TasksRun::in_graph;
  return ranks.alone() ? TasksRun::in_flow : TasksRun::over_ranks;
}

/// --require-digits; nothing if it is not given.
std::optional<int> required_digits(const Config& config) {
  if (!config.has("require-digits")) return std::nullopt;
  return static_cast<int>(config.count("require-digits"));
}

int solve_with_factors(CommandRanks& ranks, const ParsedCommandLine& given) {
  const Config& asked = given.config;
  if (!ranks.alone()) throw ConfigError("--factor works in one process, not on several ranks");
  for (const MethodOption option : method_options(asked))
    throw ConfigError(
        option == MethodOption::rank_tolerance
            ? "--rank-tolerance concerns the factorization: factors are kept of matrices of full rank"
            : fmt::format("{} concerns the factorization: give it to fairlead factor",
                          name_of(option, Wording::command)));
  const bool with_matrix = given.positionals.size() == 2;
  if (!with_matrix && asked.has("require-digits"))
    throw ConfigError("--require-digits needs the error of the solution: give A.npy in addition to --factor");
  const std::string &path = asked.text("factor"), &b_path = given.positionals.back();
  std::vector<NamedFile> inputs{{"--factor", path}, {"the right-hand side", b_path}};
  if (with_matrix) inputs.push_back({"the matrix", given.positionals[0]});
  require_distinct_files(asked, inputs, {{"-o", asked.text("output"), asked.flag("overwrite")}});
  const solver::LinearSystem system{.a = with_matrix ? data::open_matrix_file(given.positionals[0]) : nullptr,
                                    .b = data::open_matrix_file(b_path),
                                    .factors = std::make_shared<const solver::FactorFile>(path)};
  const DenseOperation& method = *system.factors->shape().operation;
  solver::require_match(system, method);
  const solver::SolveOptions solving{.method = &method,
                                     .condition = with_matrix && !asked.flag("no-condition"),
                                     .required_digits = required_digits(asked)};
  if (const auto problem =
          solver::digits_problem_of(system.solution(), solving.required_digits, Wording::command))
    throw ConfigError(*problem);
  Config config = asked;
  solver::set_scheduler_of_stored_factors(config);
  static_cast<void>(front_in(config));
  return solve(system, solving, settings_of_run(config, ranks), ranks);
}

int run_on(CommandRanks& ranks, const ParsedCommandLine& given) {
  if (!given.config.has("output")) throw ConfigError("the file for the solution is missing: give -o x.npy");
  if (given.config.has("factor")) return solve_with_factors(ranks, given);
  const bool of_points = given.config.has("kernel");
  const DenseOperation* const method = method_in(given.config);
  warn_of_former_name(ranks, given.config.text("method"));
  const auto refined_from =
      given.config.flag("tf32") ? solver::FactorPrecision::tf32 : solver::FactorPrecision::single;
  SolveOptions solving{
      .factor = given.config.flag("refine") ? refined_from : solver::FactorPrecision::of_solution,
      .condition = !given.config.flag("no-condition"),
      .required_digits = required_digits(given.config)};
  if (given.config.has("rank-tolerance")) solving.rank_tolerance = given.config.real("rank-tolerance");
  const std::vector<MethodOption> given_options = method_options(given.config);
  if (const auto problem = solver::problem_of({.method = method,
                                               .options = given_options,
                                               .rank_tolerance = solving.rank_tolerance,
                                               .required_digits = solving.required_digits,
                                               .condition = solving.condition},
                                              Wording::command))
    throw ConfigError(*problem);
  if (given.config.flag("tf32") && !given.config.flag("refine"))
    throw ConfigError("--tf32 requires --refine: products in TF32 keep only three digits");
  for (const std::string_view option : {"points", "length-scale", "nugget"})
    if (!of_points && given.config.has(option))
      throw ConfigError(fmt::format("--{} requires --kernel", option));
  if (of_points && stored_triangle(given.config) != linalg::Stored::both)
    throw ConfigError(
        "--symmetrize, --lower and --upper require a matrix in a file: a kernel matrix is symmetric");
  if (of_points && !given.config.has("points"))
    throw ConfigError("--kernel computes the matrix from points: give --points points.npy");
  if (of_points)
    static_cast<void>(rbf_parameters(given.config));  // throws for invalid values before files are read
  if (of_points == (given.positionals.size() == 2))
    throw ConfigError(of_points ? "give either A.npy or --kernel, not both"
                                : "two files are needed, A.npy and b.npy; or --kernel, and b.npy alone");

  const std::string a_path = of_points ? given.config.text("points") : given.positionals[0],
                    b_path = given.positionals.back();
  require_distinct_files(given.config,
                         {{of_points ? "--points" : "the matrix", a_path}, {"the right-hand side", b_path}},
                         {{"-o", given.config.text("output"), given.config.flag("overwrite")}});
  const linalg::Stored stored = stored_triangle(given.config);
  FilesToSolve files = files_to_solve(ranks, given.config, a_path, b_path, of_points);
  if (!files.same) ranks.set_readers(1);
  const solver::LinearSystem system{
      .a = files.a,
      .b = files.b,
      // Errors of the points are reported first.
      .kernel = of_points ? kernel_of_points(given.config, *files.a, std::move(files.points)) : nullptr,
      .stored = stored};
  if (system.has_complex_numbers()) {
    if (const auto problem = solver::complex_problem_of(given_options, Wording::command))
      throw ConfigError(*problem);
    solver::require_devices_for(given.config, system.solution());
  }
  choose_method(solving, system, method, tasks_run(given.config, ranks), Wording::command);
  alike(ranks.first(), [&] { solver::require_match(system, *solving.method); });
  if (const auto problem =
          solver::digits_problem_of(system.solution(), solving.required_digits, Wording::command))
    throw ConfigError(*problem);

  const Config config = settings_of_run(given.config, ranks);
  try {
    return solve(system, solving, config, ranks);
  } catch (const NumericalError& error) {
    // If an input file changed during the run, its values may mix two matrices: report the change instead.
    const std::string changed = system.changed_input();
    if (changed.empty()) throw;
    throw InputError(fmt::format("{} has changed while it was read: {}", changed, error.what()));
  }
}

int run(const ParsedCommandLine& given) {
  return on_ranks(given.config, [&](CommandRanks& ranks) { return run_on(ranks, given); });
}

constexpr std::string_view files_of_results[] = {"output"};

}  // namespace

const Subcommand solve_command{
    .name = "solve",
    .summary = "Solves A x = b, or least squares; A is in a file or computed from points.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .files_of_results = files_of_results,
    .over_ranks = true};

}  // namespace fairlead::app
