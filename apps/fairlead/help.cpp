// fairlead help [SUBCOMMAND]: what there is. With --markdown: the page docs/configuration.md.
#include <fmt/format.h>
#include <fairlead/config.hpp>

#include "config/help.hpp"
#include "fairlead/subcommand.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {
    {.name = "SUBCOMMAND", .help = "the one to explain", .required = false}};
constexpr Setting options[] = {{.key = "markdown",
                                .type = SettingType::flag,
                                .fallback = "false",
                                .help = "print docs/configuration.md"}};

int run(const ParsedCommandLine& given) {
  if (given.config.flag("markdown"))
    fmt::print("{}", config::configuration_page());
  else
    fmt::print("{}", help_of(given.positionals.empty() ? "" : given.positionals.front()));
  return success;
}

}  // namespace

const Subcommand help{.name = "help",
                      .summary = "Explains a subcommand.",
                      .positionals = positionals,
                      .options = options,
                      .run = run};

std::string help_of(std::string_view name) {
  if (!name.empty()) {
    const Subcommand& subcommand = find_subcommand(name);
    const std::string program = fmt::format("fairlead {}", subcommand.name);
    return help_text({.program = program,
                      .summary = subcommand.summary,
                      .positionals = subcommand.positionals,
                      .options = subcommand.options,
                      .settings = subcommand.settings,
                      .config_lists = subcommand.config_lists});
  }
  std::string out =
      "usage: fairlead SUBCOMMAND [arguments] [options]\n\n"
      "Runs graphs of tasks whose data do not fit where the computing happens.\n\n";
  for (const Subcommand* subcommand : subcommands())
    if (!subcommand->hidden) out += fmt::format("  {:<11}{}\n", subcommand->name, subcommand->summary);
  out += "\nfairlead SUBCOMMAND --help shows its options; fairlead --version the version.\n";
  return out;
}

}  // namespace fairlead::app
