// fairlead factor A.npy -o A.factor: factors a matrix that may be larger than the memory, and keeps the factors in a file
// for any number of solves.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/factor/factored_matrix_run.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/run/run_options.hpp"
#include "solver/factor_file.hpp"
#include "solver/kept_factors.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {{.name = "A.npy", .help = "the matrix"}};
constexpr auto options =
    both(both(std::to_array<Setting>({{.key = "output",
                                       .type = SettingType::text,
                                       .value_name = "A.factor",
                                       .help = "file for the factors, written completely or not at all",
                                       .letter = 'o'}}),
              factor_options),
         both(rank_options, report_options));

template <class T>
int factor_and_save(const MatrixToFactor& matrix, const Config& config, const linalg::Kernels& kernels,
                    const std::string& devices) {
  const std::string& path = config.text("output");
  auto [report, recorded] = with_factors<T>(
      matrix, config, kernels,
      [&](CountedRun& run, const solver::KeptFactors<T>& factors, const solver::SolveResult& result,
          const solver::SolveOptions& solving) {
        std::optional<solver::FactorFileWriter> out;  // destroyed while signals are handled
        const solver::FactorHeader header{
            .shape = factors.shape(), .matrix = solver::factored_matrix(*matrix.a, matrix.stored, result)};
        Interrupt::removes_at_exit([&] {
          out.emplace(path, header);
          return std::vector{out->temporary()};
        });
        solver::save_factors(run, factors, *out);
        if (matrix.a->changed())
          throw InputError(fmt::format("{} has changed while it was read", matrix.a->name()));
        run.begin("completing the file");
        run.end_by([&] { out->commit(); });
        run.runtime().remove_checkpoint();
        run.remove_progress();
        const solver::RunCounters &before = run.at(solver::Milestone::started),
                                  &after = run.at(solver::Milestone::solved);
        std::vector<trace::Snapshot> traces = run.collect_traces();
        report::RunReport made = report_between(before, after, config, kernels, result.problem);
        made.operation = result.problem.operation->name;
        made.seconds = result.seconds;
        made.phases = run.phases();
        if (result.is_checked) {
          made.backward_error = result.backward_error;
          made.backward_error_limit = result.backward_error_limit;
        }
        made.refinement_steps = result.refinement_steps;
        made.condition = result.condition;
        made.growth = result.growth;
        made.asymmetry = result.asymmetry;
        made.of = matrix.a->name();
        made.required_digits = solving.required_digits;
        made.not_written = run.end_records();
        made.gflops = result.problem.flops() / (made.seconds - result.given_up_seconds) * 1e-9;
        made.devices = devices;
        return std::pair(std::move(made), std::move(traces));
      });
  try {
    publish(report, config, recorded);
  } catch (const Error& error) {
    throw SystemError(fmt::format("{}\n  The factors are in {} all the same.", error.what(), path));
  }
  return success;
}

int run_on(CommandRanks& ranks, const ParsedCommandLine& given) {
  if (!given.config.has("output")) throw ConfigError("the file for the factors is missing: give -o A.factor");
  if (!ranks.alone())
    throw ConfigError("fairlead factor works in one process: factors of several ranks cannot be saved");
  const std::string& path = given.positionals[0];
  require_distinct_files(given.config, {{"the matrix", path}}, {{"-o", given.config.text("output")}});
  const MatrixToFactor matrix(given.config, path);
  Config config = settings_of_run(given.config, ranks);
  const auto n = static_cast<std::int64_t>(matrix.a->columns()),
             m = static_cast<std::int64_t>(matrix.a->rows());
  const solver::DenseProblem problem{.operation = matrix.solving.method,
                                     .title = {},
                                     .n = n,
                                     .m = m == n ? 0 : m,
                                     .element = matrix.a->element()};
  const KernelsAndDevices loaded = load_kernels_and_devices(config, true, problem, ranks);
  return with_scalar(matrix.a->element(), [&]<class T>() {
    return factor_and_save<T>(matrix, config, loaded.kernels, loaded.devices);
  });
}

int run(const ParsedCommandLine& given) {
  return on_ranks(given.config, [&](CommandRanks& ranks) { return run_on(ranks, given); });
}

constexpr std::string_view files_of_results[] = {"output"};

}  // namespace

const Subcommand factor_command{
    .name = "factor",
    .summary = "Factors a matrix and keeps the factors in a file for later solves.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .files_of_results = files_of_results,
    .over_ranks = true};

}  // namespace fairlead::app
