// fairlead machines: the machine files that come with it, or one of them as it stands, to be changed.
#include <fmt/format.h>

#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"

namespace fairlead::app {

namespace {

int run(const ParsedCommandLine& given) {
  if (given.positionals.empty()) {
    for (const machine::MachineFile& file : machine::machine_files())
      fmt::print("{:<14}{}\n", file.name, machine::find_machine(file.name).summary);
    fmt::print("\nfairlead machines NAME prints a file: change it and give its path to --machine.\n");
    return success;
  }
  machine::find_machine(given.positionals[0]);
  for (const machine::MachineFile& file : machine::machine_files())
    if (file.name == given.positionals[0]) fmt::print("{}", file.text);
  return success;
}

constexpr Positional positionals[] = {
    {.name = "NAME", .help = "of a machine, to print its file", .required = false}};

}  // namespace

const Subcommand machines{.name = "machines",
                          .summary = "Lists the machines that can be simulated; one can write one's own.",
                          .positionals = positionals,
                          .options = {},
                          .run = run};

}  // namespace fairlead::app
