// fairlead status PID: the current state of a run, and what waits for what.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "fairlead/subcommand.hpp"
#include "report/progress/status_server.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {{.name = "PID", .help = "the process ID of the run"}};

int run(const ParsedCommandLine& given) {
  const std::string& text = given.positionals.front();
  pid_t process = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), process);
  if (error != std::errc() || end != text.data() + text.size() || process <= 0)
    throw ConfigError(fmt::format("\"{}\" is not a process ID", text));
  fmt::print("{}", report::status_of(process));
  return success;
}

}  // namespace

const Subcommand status_command{.name = "status",
                                .summary = "Shows what a run does now, and what waits for what.",
                                .positionals = positionals,
                                .options = {},
                                .run = run,
                                .settings = takes_no_settings};

}  // namespace fairlead::app
