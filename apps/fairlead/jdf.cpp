// fairlead jdf check|compile|draw: task graphs in the language JDF. Reads whole folders; for given sizes
// unrolls a graph, checks it from both ends of every edge, and draws it.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/suggest.hpp"
#include "config/value.hpp"
#include "fairlead/jdf/jdf_compile.hpp"
#include "fairlead/jdf/jdf_in_c.hpp"
#include "fairlead/jdf/jdf_matrices.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/subcommand.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf/parser.hpp"
#include "front/jdf/unroll.hpp"
#include "front/unrolled/check.hpp"
#include "front/unrolled/ranks.hpp"
#include "report/graph/graph_picture.hpp"
#include "report/report_file.hpp"

namespace fairlead::app {

namespace {

constexpr Setting options[] = {
    {.key = "set",
     .value_name = "NAME=VALUE",
     .help = "value of a global, or of a member of what it points to: --set NT=6 --set 'descA->mt=6'; "
             "repeatable. The graph is then unrolled and every edge is checked",
     .repeatable = true},
    {.key = "matrix",
     .value_name = "NAME=M,N,MB,NB",
     .help = "shape of a matrix of the file: M x N elements in tiles of MB x NB; sets its mt, nt, m, n, mb, "
             "nb, lm, ln, lmt, lnt, i and j; repeatable",
     .repeatable = true},
    {.key = "grid",
     .value_name = "PxQ",
     .help = "check: grid of ranks over which tiles are distributed; a task must read from memory of its own "
             "rank only"},
    type_setting,
    allow_c_setting,
    {.key = "warnings",
     .type = SettingType::flag,
     .default_value = "true",
     .help = "show warnings, too",
     .advanced = true},
    {.key = "most",
     .type = SettingType::count,
     .default_value = "5",
     .minimum = "1",
     .maximum = "1000000",
     .help = "number of findings of each kind to show; all are counted",
     .advanced = true},
    {.key = "output",
     .value_name = "FILE",
     .help = "draw: the SVG file; compile: the C++ file",
     .letter = 'o'}};
constexpr Positional positionals[] = {
    {.name = "ACTION",
     .help = "check: report errors in files and, with --set or --matrix, check every edge; draw: draw the "
             "graph of one file; compile: generate C++ and C from one file"},
    {.name = "FILE", .help = "a .jdf file; for check also a folder: all .jdf files in it", .repeated = true}};

bool has_values(const Config& config) { return config.has("set") || config.has("matrix"); }

jdf::Settings settings_of(const jdf::JdfFile& file, const Config& config) {
  jdf::Settings out(file);
  for (const std::string& matrix : lines_of(config, "matrix")) out.describe(matrix);
  for (const std::string& assignment : lines_of(config, "set")) out.set(assignment);
  allow_c(file, out, config);
  return out;
}

/// Prints the diagnostics; returns whether the file can be used.
bool tell(const jdf::JdfFile& file, const jdf::Diagnostics& diagnostics, const Config& config) {
  if (config.flag("warnings")) {
    fmt::print(stderr, "{}", jdf::shown(diagnostics, file.source));
  } else {
    for (const jdf::Diagnostic& it : diagnostics.sorted())
      if (it.severity == jdf::Severity::error) fmt::print(stderr, "{}", jdf::shown(it, file.source));
  }
  return diagnostics.errors() == 0;
}

std::string plural(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

struct Tally {
  std::size_t files = 0, sound = 0;
};

/// "2x3".
std::optional<CyclicMap> grid_of(const Config& config) {
  if (!config.has("grid")) return std::nullopt;
  const std::string& text = config.text("grid");
  const auto grid = config::parse_grid(text);
  if (!grid) throw ConfigError(fmt::format("--grid {}: give rows and columns of ranks, such as 2x3", text));
  return CyclicMap{.rank_rows = (*grid)[0], .rank_columns = (*grid)[1]};
}

void check_graph(const jdf::JdfFile& file, const Config& config, Tally& tally) {
  const jdf::Settings settings = settings_of(file, config);
  const std::optional<CyclicMap> grid = grid_of(config);
  const jdf::UnrolledGraph unrolled =
      jdf::unroll(file, settings, {.placements = grid.has_value(), .types = types_given(file, config)});
  for (const std::string& note : unrolled.notes) fmt::print(stderr, "{}\n", note);
  unrolled::CheckResult checked = unrolled::check(unrolled.graph, config.count("most"));
  if (grid) unrolled::check_placement(unrolled.graph, *grid, checked.findings);
  fmt::print(stderr, "{}", checked.findings.text());
  fmt::print("{}: {}, {}, {}\n", file.source.name(), plural(unrolled.graph.tasks.size(), "task"),
             plural(checked.edges, "edge"),
             checked.findings.errors() == 0 ? "no errors" : plural(checked.findings.errors(), "error"));
  if (checked.findings.errors() == 0) ++tally.sound;
}

void check_file(const std::string& path, const Config& config, Tally& tally) {
  ++tally.files;
  jdf::Diagnostics diagnostics;
  const jdf::JdfFile file = jdf::read(jdf::SourceFile::read(path), diagnostics);
  if (!tell(file, diagnostics, config)) {
    fmt::print("{}: {}\n", path, plural(diagnostics.errors(), "error"));
    return;
  }
  if (has_values(config)) return check_graph(file, config, tally);
  ++tally.sound;
  fmt::print("{}: {}, {}; --set or --matrix checks every edge\n", path,
             fmt::format("{} task class{}", file.classes.size(), file.classes.size() == 1 ? "" : "es"),
             plural(file.globals.size(), "global"));
}

/// All .jdf files in and below a folder, in the order of their names; links to folders are not followed.
void collect(const std::filesystem::path& folder, std::vector<std::string>& out) {
  std::error_code error;
  for (const std::string& name : list_directory(folder)) {
    const std::filesystem::path path = folder / name;
    if (std::filesystem::is_directory(std::filesystem::symlink_status(path, error)))
      collect(path, out);
    else if (path.extension() == ".jdf")
      out.push_back(path.string());
  }
}

std::vector<std::string> files_in(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> out;
  collect(path, out);
  std::ranges::sort(out);
  if (out.empty()) throw InputError(fmt::format("there is no .jdf file in {}", path));
  return out;
}

int check(const std::vector<std::string>& paths, const Config& config) {
  if (grid_of(config) && !has_values(config))
    throw ConfigError("fairlead jdf check --grid needs the sizes of the graph: give --set or --matrix");
  Tally tally;
  for (const std::string& path : paths)
    for (const std::string& file : files_in(path)) {
      const std::size_t sound = tally.sound;
      try {
        check_file(file, config, tally);
      } catch (const jdf::EvaluationError& error) {
        fmt::print(stderr, "{}\n", error.what());
      } catch (const InputError& error) {
        fmt::print(stderr, "fairlead: {}\n", error.what());
      }
      std::fflush(stdout);
      if (tally.sound == sound) fmt::print(stderr, "{} is not usable\n", file);
    }
  if (tally.files > 1) fmt::print("{} of {} are valid\n", tally.sound, plural(tally.files, "file"));
  return tally.sound == tally.files ? success : failure;
}

int draw(const std::vector<std::string>& paths, const Config& config) {
  if (paths.size() != 1) throw ConfigError("fairlead jdf draw takes one file");
  if (!config.has("output")) throw ConfigError("fairlead jdf draw needs -o FILE for the picture");
  require_distinct_files({}, {{"the graph", paths[0]}}, {{"--output", config.text("output")}});
  report::require_place_for(config.text("output"));
  jdf::Diagnostics diagnostics;
  const jdf::JdfFile file = jdf::read(jdf::SourceFile::read(paths[0]), diagnostics);
  if (!tell(file, diagnostics, config)) return failure;
  const jdf::UnrolledGraph unrolled =
      jdf::unroll(file, settings_of(file, config), {.types = types_given(file, config)});
  report::write_file(config.text("output"), report::graph_picture(unrolled.graph));
  fmt::print("{}: {}\n", config.text("output"), plural(unrolled.graph.tasks.size(), "task"));
  return success;
}

int compile(const std::vector<std::string>& paths, const Config& config) {
  if (paths.size() != 1) throw ConfigError("fairlead jdf compile takes one file");
  if (!config.has("output")) throw ConfigError("fairlead jdf compile needs -o FILE.cpp for the C++");
  return compile_jdf(paths[0], std::string(config.text("output")), config.flag("warnings"));
}

int run(const ParsedCommandLine& given) {
  const std::string& action = given.positionals[0];
  const std::vector<std::string> paths(given.positionals.begin() + 1, given.positionals.end());
  if (action == "check") return check(paths, given.config);
  if (action == "compile") return compile(paths, given.config);
  if (action == "draw") return draw(paths, given.config);
  constexpr std::string_view actions[] = {"check", "compile", "draw", "run"};
  const std::string near = did_you_mean(action, actions);
  throw ConfigError(fmt::format("fairlead jdf has no action \"{}\"{}", action,
                                near.empty() ? "; there are check, compile, draw and run" : near));
}

}  // namespace

const Subcommand jdf_command{.name = "jdf",
                             .summary = "Checks, compiles and draws task graphs in the language JDF.",
                             .positionals = positionals,
                             .options = options,
                             .run = run,
                             .settings = takes_no_settings};

}  // namespace fairlead::app
