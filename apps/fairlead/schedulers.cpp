// fairlead schedulers: lists the scheduling policies and their options.
#include <fmt/format.h>

#include "fairlead/subcommand.hpp"
#include "schedule/policies.hpp"

namespace fairlead::app {

namespace {

int run(const ParsedCommandLine&) {
  for (const PolicyEntry& entry : schedule::policies()) {
    fmt::print("{:<16}{}\n", entry.name, entry.summary);
    for (const PolicyOption& option : entry.options)
      fmt::print("  {:<28}{}\n", fmt::format("{}={}", option.name, option.default_value), option.summary);
  }
  fmt::print("\nOptions follow the name: --scheduler NAME:OPTION=VALUE:OPTION=VALUE\n");
  return success;
}

}  // namespace

const Subcommand schedulers{.name = "schedulers",
                            .summary = "Lists the policies that --scheduler takes, and their options.",
                            .positionals = {},
                            .options = {},
                            .run = run,
                            .settings = takes_no_settings};

}  // namespace fairlead::app
