// fairlead machines: lists the included machine files, or prints one of them as a template.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"

namespace fairlead::app {

namespace {

std::string parts_of(const machine::MachineDescription& machine) {
  std::string parts = fmt::format("{} cores, {} devices, {}, {}", machine.cores, machine.devices.size(),
                                  machine.disk ? "a disk" : "no disk",
                                  machine.unified_memory ? "unified memory" : "no unified memory");
  if (machine.network.nodes > 1)
    parts += fmt::format("; {} nodes with {} network interface{} each", machine.network.nodes,
                         machine.network.interfaces, machine.network.interfaces == 1 ? "" : "s");
  return parts;
}

int run(const ParsedCommandLine& given) {
  if (given.positionals.empty()) {
    std::size_t width = 0;
    for (const EmbeddedFile& file : machine::built_in_machine_files())
      width = std::max(width, file.name.size());
    for (const EmbeddedFile& file : machine::built_in_machine_files())
      fmt::print("{:<{}}{}\n", file.name, width + 2, machine::load_machine(file.name).summary);
    fmt::print("\nfairlead machines NAME prints a machine file: change it and give its path to --machine.\n");
    return success;
  }
  const machine::MachineDescription machine = machine::load_machine(given.positionals[0]);
  for (const EmbeddedFile& file : machine::built_in_machine_files())
    if (file.name == given.positionals[0]) {
      fmt::print("{}", file.text);
      return success;
    }
  fmt::print("{}: {}\n{}\n", machine.name, machine.summary, parts_of(machine));
  return success;
}

constexpr Positional positionals[] = {
    {.name = "NAME",
     .help = "a machine, to print its file; or the path of a machine file, to check it",
     .required = false}};

}  // namespace

const Subcommand machines{.name = "machines",
                          .summary = "Lists the machines that can be simulated; you can describe your own.",
                          .positionals = positionals,
                          .options = {},
                          .run = run,
                          .settings = takes_no_settings};

}  // namespace fairlead::app
