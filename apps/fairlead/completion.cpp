// fairlead completion: prints the script by which a shell completes the command's words.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "config/completion.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"
#include "schedule/policies.hpp"
#include "simulate/workload.hpp"
#include "solver/dense_problem.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {{.name = "SHELL", .help = "bash, zsh or fish"}};

struct NamedShell {
  std::string_view name;
  config::Shell shell;
};
constexpr NamedShell shells[] = {
    {"bash", config::Shell::bash}, {"zsh", config::Shell::zsh}, {"fish", config::Shell::fish}};

std::vector<config::CompletedWords> known_words() {
  std::vector<std::string_view> machines, workloads, subcommand_names;
  for (const simulate::Workload& workload : simulate::workloads()) workloads.push_back(workload.name);
  for (const EmbeddedFile& file : machine::built_in_machine_files()) machines.push_back(file.name);
  for (const Subcommand* subcommand : subcommands())
    if (!subcommand->hidden && subcommand->name.find(' ') == std::string_view::npos)
      subcommand_names.push_back(subcommand->name);
  std::vector<std::string_view> operations;
  for (const solver::DenseOperation* one : solver::all_operations()) operations.push_back(one->key);
  std::vector<std::string_view> shell_names;
  for (const NamedShell& one : shells) shell_names.push_back(one.name);
  return {{.name = "WHAT", .subcommand = "bench", .words = operations},
          {.name = "scheduler", .words = schedule::policy_names()},
          {.name = "machine", .words = machines},
          {.name = "NAME", .subcommand = "machines", .words = machines},
          {.name = "WORKLOAD", .words = workloads},
          {.name = "ACTION", .words = {"check", "draw", "compile"}},
          {.name = "list|run", .words = {"list", "run"}},
          {.name = "SUBCOMMAND", .words = subcommand_names},
          {.name = "SHELL", .words = shell_names}};
}

int run(const ParsedCommandLine& given) {
  const std::string_view name = given.positionals[0];
  for (const NamedShell& one : shells)
    if (one.name == name) {
      fmt::print("{}", config::completion_script(one.shell, ListedCommandLines().get(), known_words()));
      return success;
    }
  throw ConfigError(fmt::format("unknown shell \"{}\": there are bash, zsh and fish", name));
}

}  // namespace

const Subcommand completion_command{.name = "completion",
                                    .summary = "Prints the script by which a shell completes this command.",
                                    .positionals = positionals,
                                    .options = {},
                                    .run = run,
                                    .settings = takes_no_settings};

}  // namespace fairlead::app
