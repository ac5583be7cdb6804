// fairlead experiment: repeats tables and figures of papers by simulation and compares the values.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fairlead/error.hpp>
#include <fairlead/version.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backend/sim/timeline.hpp"
#include "base/file_descriptor.hpp"
#include "base/shared_file.hpp"
#include "config/given.hpp"
#include "experiment/batch_runner.hpp"
#include "experiment/output_formats.hpp"
#include "experiment/result_files.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/subcommand.hpp"
#include "report/report_file.hpp"

namespace fairlead::app {

namespace {

using namespace fairlead::experiment;

constexpr Setting options[] = {
    flag("quick", "run only a few points of each experiment"),
    {.key = "output",
     .type = SettingType::text,
     .default_value = "experiments-out",
     .value_name = "DIRECTORY",
     .help =
         "directory for tables (CSV), verdicts (JSON), pictures (SVG) and pages (HTML); none: write none"},
    {.key = "markdown",
     .type = SettingType::text,
     .unset_word = "none",
     .value_name = "FILE",
     .help = "insert the results between the two marker lines of this page"},
    flag("again", "repeat runs whose figures are kept"),
};
constexpr AcceptedSetting settings[] = {
    {.key = "workers", .help = "number of simultaneous simulations (default\tone per core)"},
    {.key = "progress", .help = "none: do not show the number of finished runs"},
    {.key = "cache-directory",
     .help = "directory that keeps figures of runs (default\t$XDG_CACHE_HOME/fairlead); none: keep none"},
};
constexpr Positional positionals[] = {
    {.name = "list|run", .help = "list the experiments, or run them"},
    {.name = "NAME",
     .help = "an experiment, a folder of them, a figure (all its panels), all, or a file (*.toml)",
     .required = false}};

/// Identifies this build, which computes the figures. Figures of other builds are not used.
std::string this_program() {
  return fmt::format("{} {:016x}", version(), text_hash(read_file("/proc/self/exe").value_or("")));
}

int list(const std::string& name) {
  const std::vector<Experiment> found = find_experiments(name);
  std::size_t width = 0;
  for (const Experiment& one : found) width = std::max(width, one.name.size());
  for (const Experiment& one : found)
    fmt::print("{:<{}}{}{}\n", one.name, width + 2, one.title,
               one.also.empty() ? "" : fmt::format(" (also {})", fmt::join(one.also, ", ")));
  return success;
}

int run_experiments(const Config& config, const std::string& name) {
  if (config.has("markdown"))
    require_distinct_files(config, {{"the experiment", name}}, {{"--markdown", config.text("markdown")}});
  const std::vector<Experiment> wanted = laid_out(find_experiments(name));
  const bool quick = config.flag("quick");
  // Errors of the outputs are reported before minutes of simulation.
  std::optional<MarkedPage> page;
  if (config.has("markdown")) page.emplace(config.text("markdown"));
  const std::string output = config.text("output") == "none" ? "" : config.text("output");
  if (!output.empty()) make_output_directory(output);
  std::vector<RunSpec> runs;
  for (const Experiment& one : wanted) {
    const auto more = runs_of(one, quick);
    runs.insert(runs.end(), more.begin(), more.end());
  }
  const std::string cache = config.has("cache-directory") && !config.flag("again")
                                ? config.text("cache-directory") + "/experiments"
                                : std::string();
  if (const std::string doubt = cache.empty() ? "" : why_unsafe(cache); !doubt.empty())
    fmt::print(stderr,
               "fairlead: warning: the directory \"{}\" {}: figures of runs are neither read from it nor "
               "kept in it\n",
               cache, doubt);
  std::atomic<bool> stop_requested{false};
  const Interrupt interrupt([&] { stop_requested.store(true); });
  BatchRunner runner(cache, this_program());
  const unsigned threads =
      static_cast<unsigned>(config.count_or("workers", std::max(1u, std::thread::hardware_concurrency())));
  const bool shows = config.text("progress") != "none";
  const Results results = runner.run_all(
      runs, threads,
      [&](const BatchProgress& progress) {
        if (shows && (progress.done % 20 == 0 || progress.done == progress.all))
          fmt::print(stderr, "{} of {} runs ({} from the cache)\n", progress.done, progress.all,
                     progress.from_cache);
      },
      &stop_requested);
  std::string sections;
  std::vector<ExperimentOutcome> outcomes;
  bool all_finished = true;
  for (const Experiment& one : wanted) {
    const Table table = table_of(one, results, quick);
    fmt::print("{}\n", text(one, table));
    if (!output.empty())
      for (const std::string& path : write_results(output, one, table, quick, stop_requested))
        fmt::print("the order of the tasks: {}\n", path);
    // The table at the end has shorter rows.
    if (!one.every_policy && one.judged.empty() && one.over.empty()) sections += markdown(one, table);
    for (const Series& series : table.series) all_finished = all_finished && series.problems.empty();
    outcomes.push_back({&one, table});
  }
  for (const ExperimentSummary& summary : summaries(outcomes)) {
    sections += summary.markdown;
    if (summary.is_text) fmt::print("{}", summary.markdown);
    if (!output.empty()) report::write_file(fmt::format("{}/{}", output, summary.file), summary.csv);
  }
  if (page) page->write(sections);
  return all_finished ? success : failure;
}

int run(const ParsedCommandLine& given) {
  const std::string& what = given.positionals[0];
  if (what == "list") {
    for (const Setting& option : options)
      if (config::is_set(given.config, option.key))
        throw ConfigError(fmt::format("--{} is for experiment run", option.key));
    return list(given.positionals.size() > 1 ? given.positionals[1] : "all");
  }
  if (what != "run")
    throw ConfigError(fmt::format("experiment: unknown action \"{}\"; use list, or run NAME", what));
  if (given.positionals.size() < 2)
    throw ConfigError(
        "experiment run: NAME is missing; `fairlead experiment list` lists the names, \"all\" runs all");
  try {
    return run_experiments(given.config, given.positionals[1]);
  } catch (const backend::SimulationStopped&) {
    throw Interrupted{Interrupt::signal()};
  }
}

}  // namespace

const Subcommand experiment_command{
    .name = "experiment",
    .summary = "Reproduces the papers' tables and figures by simulation and compares the values.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .settings = settings};

}  // namespace fairlead::app
