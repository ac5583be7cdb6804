// fairlead plan A.npy b.npy: what a solve would need, without running it.
#include <fairlead/error.hpp>
#include <fairlead/matrix_file.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "algorithms/linalg/source_matrix.hpp"
#include "data/matrix/formats.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/run/run_options.hpp"
#include "fairlead/subcommand.hpp"
#include "front/runtime/scheduler_setting.hpp"
#include "machine/machine.hpp"
#include "solver/choose_method.hpp"
#include "solver/matrix_sample.hpp"
#include "solver/method_options.hpp"
#include "solver/plan.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {
    {.name = "A.npy", .help = "the matrix; or --rows", .required = false},
    {.name = "b.npy", .help = "the right-hand sides; otherwise see --sides", .required = false}};
constexpr Setting options[] = {
    {.key = "rows",
     .type = SettingType::count,
     .minimum = "1",
     .value_name = "N",
     .help = "plan for a matrix of N rows that does not exist yet"},
    {.key = "columns",
     .type = SettingType::count,
     .minimum = "1",
     .value_name = "N",
     .help = "with --rows: its columns",
     .default_shown = "as many as rows"},
    {.key = "type",
     .type = SettingType::choice,
     .default_value = "f8",
     .choices = "f4|f8|c8|c16",
     .help = "with --rows: the type of its elements: real or complex, in single or double precision"},
    {.key = "sides",
     .type = SettingType::count,
     .minimum = "1",
     .value_name = "K",
     .help = "right-hand sides, without b.npy",
     .default_shown = "1"},
    {.key = "method",
     .type = SettingType::text,
     .default_value = "auto",
     .value_name = "METHOD",
     .help = "a method of fairlead solve, or auto: that which a sample of A suits"},
    flag("refine", "factor in single precision, and refine"),
    flag("no-condition", "do not estimate the condition number"),
    advanced_flag("lower", "A is symmetric: read only its lower triangle"),
    advanced_flag("upper", "A is symmetric: read only its upper triangle"),
    advanced_flag("symmetrize", "use (A + A^T) / 2")};

constexpr AcceptedSetting settings[] = {
    {.key = "memory"},          {.key = "tile"},
    {.key = "disk-directory"},  {.key = "disk-bandwidth"},
    {.key = "workers"},         {.key = "scheduler"},
    {.key = "window"},          {.key = "pipeline-depth"},
    {.key = "keep-durations"},  {.key = "blas"},
    {.key = "blas-coretype"},   {.key = "blas-products"},
    {.key = "cache-directory"}, {.key = "json", .help = "write the plan to this file (default\tnone)"}};

/// The matrix and the right-hand sides: of files, or their shapes.
solver::LinearSystem system_of(const ParsedCommandLine& given) {
  const Config& config = given.config;
  const bool exists = !given.positionals.empty();
  if (exists == config.has("rows"))
    throw ConfigError(exists ? "give either A.npy or --rows, not both" : "give A.npy, or --rows N");
  const auto count = [&](const char* key, std::uint64_t otherwise) {
    return static_cast<std::int64_t>(config.count_or(key, otherwise));
  };
  if (exists && config.has("columns")) throw ConfigError("--columns requires --rows: A.npy has a shape");
  if (given.positionals.size() == 2 && config.has("sides"))
    throw ConfigError("give either b.npy or --sides, not both");
  solver::LinearSystem system{.a = nullptr, .b = nullptr, .stored = stored_triangle(config)};
  if (exists) {
    system.a = data::open_matrix_file(given.positionals[0]);
  } else {
    const auto rows = count("rows", 0);
    const std::string type = config.text("type");
    system.a =
        solver::shape_only("the matrix", element_type(type == "f4" || type == "c8", type.starts_with("c")),
                           rows, count("columns", static_cast<std::uint64_t>(rows)));
  }
  system.b = given.positionals.size() == 2
                 ? data::open_matrix_file(given.positionals[1])
                 : solver::shape_only("the right-hand side", system.a->element(),
                                      static_cast<std::int64_t>(system.a->rows()), count("sides", 1));
  return system;
}

int run(const ParsedCommandLine& given) {
  const solver::DenseOperation* const method = method_in(given.config);
  std::vector<solver::MethodOption> named;
  if (given.config.flag("refine")) named.push_back(solver::MethodOption::refine);
  const linalg::Stored stored = stored_triangle(given.config);
  if (const auto triangle = solver::option_of(stored)) named.push_back(*triangle);
  if (const auto problem = solver::problem_of({.method = method, .options = named}, solver::Wording::command))
    throw ConfigError(*problem);
  require_distinct_files(given.config, given.positionals.empty()
                                           ? std::vector<NamedFile>{}
                                           : std::vector<NamedFile>{{"the matrix", given.positionals[0]}});
  const solver::LinearSystem system = system_of(given);
  solver::SolveOptions solving{.factor = given.config.flag("refine") ? solver::FactorPrecision::single
                                                                     : solver::FactorPrecision::of_solution,
                               .condition = !given.config.flag("no-condition")};
  solver::choose_method(solving, system, method, solver::TasksRun::in_flow, solver::Wording::command);
  solver::require_match(system, *solving.method);
  Config config = given.config;
  if (config.has("scheduler")) front::make_scheduler(config, config.text("scheduler"));
  if (!config.has("memory")) config.set("memory", machine::discover().memory.usable_bytes());
  require_place_for_report(config);
  const linalg::Kernels kernels = solver::load_kernels(config, kernel_environment(), {});
  const linalg::SolvePlan plan = solver::plan_solve(system, solving, config, kernels);
  fmt::print("{}", solver::text_of(plan));
  if (config.has("json")) write_json(config.text("json"), solver::json_of(plan));
  return plan.disk_space > plan.free_disk_space ? failure : success;
}

}  // namespace

const Subcommand plan_command{.name = "plan",
                              .summary = "Predicts memory, disk space, bytes and time of a solve.",
                              .positionals = positionals,
                              .options = options,
                              .run = run,
                              .settings = settings};

}  // namespace fairlead::app
