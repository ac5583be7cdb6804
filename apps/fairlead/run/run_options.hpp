// The options that the commands that compute share, and their settings for a run.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/stored.hpp>

#include <array>
#include <string_view>

#include "fairlead/ranks/command_ranks.hpp"
#include "fairlead/subcommand.hpp"
#include "solver/dense_problem.hpp"
#include "solver/execution.hpp"

namespace fairlead::app {

using solver::Front;

/// --front, with the front ends that a command has.
constexpr Setting front_option(std::string_view choices, std::string_view explanation) {
  return {.key = "front",
          .type = SettingType::choice,
          .choices = choices,
          .help = explanation,
          .default_shown = "flow; ptg over several ranks",
          .advanced = true};
}
inline constexpr std::array front_options{front_option(
    "flow|ptg",
    "front end of factorizations, solves and products: a flow, one task after the other, or a "
    "parameterized graph, which never has all its tasks in memory; the tasks and the result are the same")};
inline constexpr std::array front_options_with_jdf{
    front_option("flow|ptg|jdf",
                 "front end of factorizations, solves and products: a flow, one task after the other; a "
                 "parameterized graph, which never has all its tasks in memory; or such a graph from a "
                 "JDF file with interpreted bodies (cholesky, lu-nopivot, gemm). The result is the same")};

/// Options of commands that end with a report: how much they print.
inline constexpr std::array report_options{
    Setting{.key = "report-text",
            .type = SettingType::choice,
            .default_value = "short",
            .choices = "short|full",
            .help = "report printed at the end: a few lines, or all figures with their bounds",
            .advanced = true},
    Setting{.key = "quiet",
            .type = SettingType::flag,
            .default_value = "false",
            .help = "print nothing but errors",
            .letter = 'q'}};

/// Throws ConfigError for options that require flows.
Front front_in(const Config& config);
/// The same for a benchmark: some are not available as JDF.
Front front_in(const Config& config, const solver::DenseOperation& operation);
/// The front end of a run on a rank. The default is a flow; with several ranks, graphs.
Front front_at(const Config& config, const GridRank& place, const solver::DenseOperation& operation);

/// By --lower, --upper and --symmetrize. Throws ConfigError if more than one is given.
linalg::Stored stored_triangle(const Config& config);
/// --method; null: auto. Throws ConfigError if no factorization has that name.
const solver::DenseOperation* method_in(const Config& config);

/// Turns progress off if --quiet is given.
void apply_quiet(Config& config);
/// Sets each rank's workers if the settings leave them open.
void set_workers_of_ranks(Config& config, const CommandRanks& ranks);
/// The settings of a run on these ranks, with a memory limit. Throws ConfigError if the scheduler does not exist,
/// SystemError if the report cannot be written. Call it before anything takes time.
Config settings_of_run(Config config, const CommandRanks& ranks);

/// Prints a warning, on the first rank, if the operation was given by a former name.
void warn_of_former_name(const CommandRanks& ranks, std::string_view operation);

}  // namespace fairlead::app
