// The option --front of the commands that compute.
#pragma once
#include <fairlead/config.hpp>

#include <array>
#include <string_view>

#include "fairlead/subcommand.hpp"
#include "solver/dense_problem.hpp"
#include "solver/execution.hpp"

namespace fairlead::app {

using solver::Front;

inline constexpr std::array front_options{Setting{
    .key = "front",
    .type = SettingType::choice,
    .choices = "flow|ptg",
    .help =
        "front end of factorizations, solves and products: a flow, one task after the other, or a "
        "parameterized graph, which never has all its tasks in memory; the tasks and the result are the same",
    .default_shown = "flow; ptg over several ranks",
    .advanced = true}};
inline constexpr std::array front_options_with_jdf{
    Setting{.key = "front",
            .type = SettingType::choice,
            .choices = "flow|ptg|jdf",
            .help = "front end of factorizations, solves and products: a flow, one task after the other; a "
                    "parameterized graph, which never has all its tasks in memory; or such a graph from a "
                    "JDF file with interpreted bodies (cholesky, lu-nopivot, gemm). The result is the same",
            .default_shown = "flow; ptg over several ranks",
            .advanced = true}};

/// Throws ConfigError for options that require flows.
Front front_in(const Config& config);
/// The same for a benchmark: some are not available as JDF.
Front front_in(const Config& config, const solver::DenseOperation& operation);
/// Throws ConfigError if no JDF file has that name.
void require_in_jdf(std::string_view workload);

}  // namespace fairlead::app
