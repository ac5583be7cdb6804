// fairlead simulate jdf: the graph of a JDF file on a simulated machine. Bodies do not run: the simulator
// counts the work of their calls.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/given.hpp"
#include "fairlead/jdf/jdf_in_c.hpp"
#include "fairlead/jdf/jdf_matrices.hpp"
#include "fairlead/simulate/simulate_on_machine.hpp"
#include "fairlead/subcommand.hpp"
#include "simulate/flow_file.hpp"
#include "simulate/jdf_program.hpp"

namespace fairlead::app {

namespace {

constexpr auto options =
    both(simulate::simulation_settings,
         std::array{Setting{.key = "set",
                            .value_name = "NAME=VALUE",
                            .help = "value of a global, or of a member of what it points to: --set "
                                    "'descA->mt=57' makes descA a matrix of 57 x 57 whole tiles; repeatable",
                            .repeatable = true},
                    Setting{.key = "matrix",
                            .value_name = "NAME=M,N,MB,NB",
                            .help = "a matrix of M x N elements in tiles of MB x NB; repeatable",
                            .repeatable = true},
                    allow_c_setting, runs_setting});
constexpr Positional positionals[] = {{.name = "FILE", .help = "a .jdf file"}};

/// Matrices with a number of tiles only have whole tiles.
void describe_by_tiles(jdf::RunnableJdf& program, const std::vector<JdfMatrix>& given, std::int64_t tile) {
  const jdf::JdfFile& file = program.file;
  const auto member = [&](std::uint32_t global, std::string_view name) -> std::optional<std::int64_t> {
    for (std::uint32_t i = 0; i < file.members.size(); ++i)
      if (jdf::aligned_with(file, file.members[i].global) == global && file.members[i].last == name)
        if (const auto value = program.settings.member(i)) return value->integer();
    return std::nullopt;
  };
  for (std::uint32_t i = 0; i < file.globals.size(); ++i) {
    if (!file.globals[i].is_collection || std::ranges::find(given, i, &JdfMatrix::global) != given.end())
      continue;
    const auto rows = member(i, "mt"), columns = member(i, "nt");
    if (!rows && !columns) continue;
    program.settings.describe(
        i, {rows.value_or(*columns) * tile, columns ? *columns * tile : *rows * tile, tile, tile});
  }
}

int run(const ParsedCommandLine& given) {
  const Config& config = given.config;
  if (config::is_set(config, "n"))
    throw ConfigError("--n has no effect here: --matrix NAME=M,N,MB,NB sets the size of matrices");
  const auto program = read_program(jdf::SourceFile::read(given.positionals[0]), Bodies::may_be_c);
  if (program == nullptr) return failure;
  const simulate::Precision precision = simulate::precision_in(config);
  std::vector<JdfMatrix> matrices =
      matrices_given(program->file, config, precision == simulate::Precision::single);
  const auto tile = static_cast<std::int64_t>(config.count_or("tile", 1920));
  for (JdfMatrix& it : matrices)
    if (it.tile == TileSize(0)) it.tile = static_cast<std::int32_t>(tile);
  for (const std::string& assignment : lines_of(config, "set")) program->settings.set(assignment);
  describe_by_tiles(*program, matrices, tile);
  settle(*program, matrices, config);
  allow_c(program->file, program->settings, config);
  jdf::require_values(*program);
  simulate::JdfProgram made = simulate::program_of(*program, tile, precision);
  for (const std::string& note : made.notes) fmt::print(stderr, "{}\n", note);
  if (made.program.tasks.empty())
    throw InputError(given.positionals[0] + " has no tasks that compute anything");
  if (made.assumed != 0)
    fmt::print("{} tasks of unknown cost count as {} operation per byte of their data\n", made.assumed,
               simulate::assumed_flops_per_byte);
  if (made.forwarding_tasks != 0)
    fmt::print("{} tasks only forward data: they take no time\n", made.forwarding_tasks);
  return run_on_machine(
      {given.positionals[0], std::move(made.program), nullptr, {.n = 0, .tile = 0, .precision = precision}},
      config);
}

}  // namespace

const Subcommand simulate_jdf_command{
    .name = "simulate jdf",
    .summary = "Simulates a task graph in the language JDF on a machine that you need not have.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .settings = settings_of_simulate};

}  // namespace fairlead::app
