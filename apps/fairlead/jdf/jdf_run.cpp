// fairlead jdf run: the tasks of a JDF file on matrices from files, in core or out of core, on one rank or
// several; their bodies are interpreted.
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shared_file.hpp"
#include "fairlead/jdf/jdf_in_c.hpp"
#include "fairlead/jdf/jdf_matrices.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "fairlead/ranks/input_files.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/run/run_options.hpp"
#include "fairlead/solve/counted_run.hpp"
#include "fairlead/subcommand.hpp"
#include "front/jdf/emit_bodies.hpp"
#include "front/jdf_graph/graph_check.hpp"
#include "machine/machine.hpp"
#include "solver/jdf/jdf_checkpoint.hpp"
#include "solver/jdf/jdf_steps.hpp"
#include "solver/report/ranks_report.hpp"

namespace fairlead::app {

using solver::alike;

namespace {

constexpr auto options = both(
    std::to_array<Setting>(
        {{.key = "matrix",
          .value_name = "NAME=FILE.npy",
          .help = "file of the matrix NAME, or descNAME; NAME=M,N,MB,NB: M x N zeros in tiles of MB x NB; "
                  "repeatable",
          .repeatable = true},
         {.key = "set",
          .value_name = "NAME=VALUE",
          .help = "value of a global, or of a member of what it points to: --set alpha=0.5; repeatable",
          .repeatable = true},
         {.key = "output",
          .value_name = "NAME=FILE.npy",
          .help = "file for that matrix after the run; each is written completely or not at all; repeatable",
          .letter = 'o',
          .repeatable = true},
         {.key = "tiles",
          .value_name = "[NAME=]ROWSxCOLUMNS",
          .help = "tiles that are not square, of that matrix or of all matrices in files; repeatable",
          .advanced = true,
          .repeatable = true},
         type_setting,
         {.key = "precision",
          .type = SettingType::choice,
          .default_value = "double",
          .choices = "single|double",
          .help = "precision of matrices without a file",
          .advanced = true},
         {.key = "check",
          .type = SettingType::flag,
          .default_value = "true",
          .help = "before the run, check all edges of up to 100,000 tasks, as `fairlead jdf check` does, and "
                  "samples of larger graphs",
          .advanced = true},
         advanced_flag("overwrite", "an output may replace a file that is read"),
         allow_c_setting}),
    both(rank_options, report_options));
constexpr Positional positionals[] = {{.name = "FILE", .help = "a .jdf file"}};

std::string no_graph(const jdf::RunnableJdf& program) {
  return fmt::format("{} cannot run with these sizes; --no-check tries it anyway",
                     program.file.source.name());
}

/// Values of globals, and types.
std::vector<std::string> settings_in(const Config& config) {
  std::vector<std::string> all = lines_of(config, "set");
  for (const std::string& type : lines_of(config, "type")) all.push_back("type " + type);
  return all;
}

/// The parameters of a run that all ranks share.
struct JdfTask {
  Config config;
  std::shared_ptr<jdf::RunnableJdf> program;
  std::vector<JdfMatrix> given;
  std::size_t workers = 0;
  solver::DenseProblem problem{};
  jdf::KnownOutputs known{};
  bool too_large = false;                 ///< to be checked as a whole: samples are checked
  std::shared_ptr<jdf::CLibrary> in_c{};  // null: no C
  std::optional<linalg::Kernels> kernels{};
};

std::vector<std::string> libraries_of(const linalg::Kernels& kernels) {
  std::vector<std::string> out{kernels.blas().path()};
  if (kernels.blas().lapack_path() != out[0]) out.push_back(kernels.blas().lapack_path());
  return out;
}

/// Chooses tiles, builds C, and checks the graph, the same on all processes.
void prepare(JdfTask& task, CommandRanks& ranks) {
  const std::vector<double> tiles = ranks.together(task.config, [&] {
    task.problem = solver::jdf_problem(task.given, task.config, task.workers, ranks.count());
    return static_cast<double>(task.problem.tile);
  });
  task.problem.tile = static_cast<std::int32_t>(*std::ranges::min_element(tiles));
  for (JdfMatrix& it : task.given)
    if (it.tile == TileSize(0)) it.tile = task.problem.tile;
  ranks.together(task.config, [&] {
    settle(*task.program, task.given, task.config);
    task.program->types = types_given(task.program->file, task.config);
    if (task.config.flag("allow-c")) {
      task.kernels.emplace(
          solver::load_kernels(task.config, kernel_environment()));  // C may call what they call
      task.in_c = allow_c_bodies(*task.program, libraries_of(*task.kernels));
    }
    jdf::require_values(*task.program);
    if (task.config.flag("check")) {
      const jdf::GraphCheck checked =
          jdf::check_graph(*task.program, ranks.alone() ? nullptr : &ranks.grid());
      if (!checked.errors.empty()) {
        if (ranks.first()) fmt::print(stderr, "{}", checked.errors);
        throw InputError(no_graph(*task.program));
      }
      task.too_large = !checked.known;
      if (checked.known) task.known = *checked.known;
    }
    return 0.0;
  });
  if (!task.kernels) task.kernels.emplace(solver::load_kernels(task.config, kernel_environment()));
}

/// The results of one rank.
struct JdfRunHere {
  report::RunReport report;
  std::vector<trace::Snapshot> recorded;  ///< as WatchedRun::collect_traces()
  std::vector<std::int32_t> pointed;      ///< values that globals point to, by global
};

/// Of all processes.
double all_gflop(const report::RunReport& report, Runtime& runtime, const GridRank& place) {
  double own[] = {0};
  if (place.first() || !place.rank.in_process())
    for (const report::KernelReport& it : report.kernel_calls) own[0] += it.gflop;
  if (place.alone()) return own[0];
  double sum = 0;
  for (const double one : gather(runtime, own)) sum += one;
  return sum;
}

/// On one rank or as one of several.
JdfRunHere run_here(const JdfTask& task, const GridRank& place) {
  solver::JdfRunOptions how{.known = task.known, .check_samples = task.too_large, .in_c = task.in_c};
  how.on_progress = [] {
    if (const int signal = Interrupt::signal(); signal != 0) throw Interrupted{signal};
  };
  CountedRun* running = nullptr;
  how.errors = [&](const std::string& lines) {
    running->print_line(lines.substr(0, lines.size() - 1));
    throw InputError(no_graph(*task.program));
  };
  if (task.config.has("checkpoint"))
    how.checkpoint =
        solver::identity_of(*task.program, task.given, settings_in(task.config), task.problem.tile);
  solver::JdfSteps steps(task.program, task.given, *task.kernels, place, std::move(how));
  CountedRun run(task.config, task.problem.reserved, *task.kernels, Front::flow, place.rank);
  running = &run;
  return run.report_failure_of([&]() -> JdfRunHere {
    std::vector<std::shared_ptr<data::NpyWriter>> outputs;  // destroyed while signals are handled
    for (const JdfMatrix& it : task.given) {
      if (it.output.empty() || !place.first()) continue;
      Interrupt::removes_at_exit([&] {
        outputs.push_back(solver::make_output(it));
        std::vector<std::filesystem::path> made;
        for (const auto& output : outputs) made.push_back(output->temporary());
        return made;
      });
    }
    steps.run(run, outputs, [&] {
      run.hand_over_to_first_rank();
      if (outputs.empty()) return;
      Interrupt::finish([&] {
        for (const auto& out : outputs) out->commit();
      });
    });
    run.runtime().remove_checkpoint();
    run.remove_progress();
    std::vector<trace::Snapshot> recorded = run.collect_traces();
    const solver::RunCounters &before = run.at(solver::Milestone::started),
                              &after = run.at(solver::Milestone::solved);
    report::RunReport report = report_between(before, after, task.config, *task.kernels, task.problem);
    report.seconds = steps.seconds();
    report.phases = run.phases();
    report.not_written = run.end_records();
    if (place.alone()) find_limit(report, run.at(solver::Milestone::tiled), after);
    add_matrices(report, task.given, task.problem);
    report.of = task.program->file.source.name();
    const double gflop = all_gflop(report, run.runtime(), place);
    combine_ranks(report, run.runtime(), place, before, after, task.problem.reserved, recorded.front());
    report.gflops = gflop / report.seconds;
    return {std::move(report), std::move(recorded), steps.pointed()};
  });
}

/// All processes have the same file, or all throw.
jdf::SourceFile graph_of(const std::string& path, const Config& config, CommandRanks& ranks) {
  std::optional<jdf::SourceFile> source;
  const std::vector<double> hashes = ranks.together(config, [&] {
    source = jdf::SourceFile::read(path);
    return static_cast<double>(text_hash(source->text()) >> 16);
  });
  for (std::size_t r = 1; r < hashes.size(); ++r)
    if (hashes[r] != hashes[0])
      alike(ranks.first(),
            [&] { throw InputError(fmt::format("{} differs between rank {} and rank 0", path, r)); });
  return *std::move(source);
}

int run_on(CommandRanks& ranks, const ParsedCommandLine& given) {
  Config config = given.config;
  if (config.has("record-flow"))
    throw ConfigError("--record-flow records flows only: use `fairlead simulate jdf` for this file");
  const auto program =
      read_program(graph_of(given.positionals[0], config, ranks),
                   config.flag("allow-c") ? Bodies::may_be_c : Bodies::interpreted, ranks.first());
  if (program == nullptr) return failure;
  if (config.flag("allow-c") && ranks.first())
    for (const std::string& note : jdf::omission_notes(program->file)) fmt::print(stderr, "{}\n", note);
  bool same = true;
  std::vector<JdfMatrix> matrices =
      matrices_given(program->file, config, config.text("precision") == "single",
                     [&](const std::vector<std::string>& paths) {
                       InputFiles files = open_input_files(ranks, config, paths);
                       same = files.same;
                       return std::move(files.files);
                     });
  if (!same) ranks.set_readers(1);
  set_tiles(program->file, config, matrices);
  add_outputs(program->file, config, matrices);
  alike(ranks.first(), [&] { require_all_given(program->file, matrices); });
  if (matrices.empty()) throw ConfigError("no --matrix is given: there is nothing to work on");
  std::vector<NamedFile> inputs{{"the graph", given.positionals[0]}}, outputs;
  for (const JdfMatrix& it : matrices) {
    if (it.file != nullptr) inputs.push_back({"--matrix", it.file->name()});
    if (!it.output.empty()) outputs.push_back({"-o", it.output, config.flag("overwrite")});
  }
  require_distinct_files(config, inputs, outputs);
  config = settings_of_run(std::move(config), ranks);
  if (const auto tile = solver::tile_in_checkpoint(config); tile && !config.has("tile"))
    config.set("tile", *tile);
  const std::size_t workers = config.count_or("workers", machine::discover().workers);
  JdfTask task{std::move(config), program, std::move(matrices), workers};
  prepare(task, ranks);
  const JdfRunHere here = ranks.results([&](const GridRank& place) { return run_here(task, place); });
  if (!ranks.first()) return success;
  for (std::size_t i = 0; i < here.pointed.size(); ++i)
    if (here.pointed[i] != 0) fmt::print("{} is {}\n", program->file.globals[i].name.text, here.pointed[i]);
  publish(here.report, task.config, here.recorded);
  return success;
}

int run(const ParsedCommandLine& given) {
  return on_ranks(given.config, [&](CommandRanks& ranks) { return run_on(ranks, given); });
}

constexpr std::string_view files_of_results[] = {"output"};

}  // namespace

const Subcommand jdf_run_command{.name = "jdf run",
                                 .summary = "Runs a task graph in the language JDF on matrices from files.",
                                 .positionals = positionals,
                                 .options = options,
                                 .run = run,
                                 .files_of_results = files_of_results,
                                 .over_ranks = true};

}  // namespace fairlead::app
