// The command line: finds the subcommand, reads its options, and converts exceptions to a message and an exit
// status.
#include "fairlead/commit.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/run/standard_streams.hpp"
#include "fairlead/subcommand.hpp"

#include <fairlead/error.hpp>
#include <fairlead/ranks.hpp>
#include <fairlead/version.hpp>

#include "algorithms/linalg/blas/blas_timing.hpp"
#include "algorithms/linalg/singular_error.hpp"
#include "base/suggest.hpp"
#include "config/environment.hpp"
#include "config/launcher.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::app {

namespace {

constexpr const Subcommand* all[] = {&solve_command,
                                     &factor_command,
                                     &logdet_command,
                                     &plan_command,
                                     &bench,
                                     &info,
                                     &calibrate,
                                     &schedulers,
                                     &machines,
                                     &simulate_command,
                                     &simulate_jdf_command,
                                     &compare,
                                     &experiment_command,
                                     &jdf_command,
                                     &jdf_run_command,
                                     &replay_log,
                                     &status_command,
                                     &completion_command,
                                     &help};

/// A usage error may concern this process only, and the others would wait for it.
void notify_other_ranks(const Error& why) {
  try {
    launched_rank().give_up(message_to_ranks(why));
  } catch (const Error&) {
    // They cannot be notified.
  }
}

/// `reports`: whether the output only reports on the work, and is not its result.
int run(int argc, const char* const* argv, bool& reports) {
  if (argc < 2) {
    fmt::print(stderr, "{}", help_of(""));
    return usage;
  }
  const std::string_view first = argv[1];
  // Hidden: this program started by itself to time a BLAS in a process of its own.
  if (first == "time-blas") return linalg::time_blas_main(std::vector<std::string>(argv + 2, argv + argc));
  if (first == "--version") {
    constexpr std::string_view of_commit = commit;
    fmt::print("fairlead {}{}\n", version(), of_commit.empty() ? "" : fmt::format(" (commit {})", of_commit));
    return success;
  }
  if (first == "--help" || first == "--help-all" || first == "-h") {
    fmt::print("{}", help_of(""));
    return success;
  }
  const Subcommand& subcommand = find_subcommand(first, argc > 2 ? argv[2] : "");
  const int words = subcommand.name.find(' ') == std::string_view::npos ? 1 : 2;
  const std::string program = fmt::format("fairlead {}", subcommand.name);
  std::optional<ParsedCommandLine> understood;
  try {
    understood = Config::parse(argc - words, argv + words, command_line_of(subcommand, program));
  } catch (const Error& error) {
    if (subcommand.over_ranks) notify_other_ranks(error);
    throw;
  }
  const ParsedCommandLine& parsed = *understood;
  if (parsed.help) {
    fmt::print("{}", help_of(subcommand.name, parsed.help_detail));
    return success;
  }
  if (!subcommand.over_ranks) require_distinct_files(parsed.config);
  reports = std::ranges::any_of(subcommand.files_of_results,
                                [&](std::string_view key) { return parsed.config.has(key); });
  return subcommand.run(parsed);
}

}  // namespace

std::span<const Subcommand* const> subcommands() noexcept { return all; }

CommandLine command_line_of(const Subcommand& subcommand, std::string_view program) {
  return {.program = program,
          .summary = subcommand.summary,
          .positionals = subcommand.positionals,
          .options = subcommand.options,
          .settings = subcommand.settings,
          .config_lists = subcommand.config_lists};
}

ListedCommandLines::ListedCommandLines() {
  programs_.reserve(subcommands().size());  // the command lines refer to them
  for (const Subcommand* subcommand : subcommands())
    if (!subcommand->hidden)
      lines_.push_back(
          command_line_of(*subcommand, programs_.emplace_back(fmt::format("fairlead {}", subcommand->name))));
}

const Subcommand& find_subcommand(std::string_view name) {
  const auto found = std::ranges::find(subcommands(), name, &Subcommand::name);
  if (found != subcommands().end()) return **found;
  std::vector<std::string_view> names;
  for (const Subcommand* subcommand : subcommands())
    if (!subcommand->hidden) names.push_back(subcommand->name);
  if (name.starts_with('-'))
    throw ConfigError(
        fmt::format("unknown option {}: a subcommand comes first, one of {}", name, fmt::join(names, ", ")));
  const std::string near = did_you_mean(name, names);
  throw ConfigError(fmt::format("unknown subcommand \"{}\"{}", name,
                                near.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : near));
}

const Subcommand& find_subcommand(std::string_view first, std::string_view second) {
  const std::string both = fmt::format("{} {}", first, second);
  const auto found = std::ranges::find(subcommands(), both, &Subcommand::name);
  return found != subcommands().end() ? **found : find_subcommand(first);
}

}  // namespace fairlead::app

namespace {

/// The terminate handler: for an exception out of a noexcept function, or during the unwinding of another
/// one. Lack of memory is an ordinary error without a core dump. Allocates nothing.
[[noreturn]] void end_by_exception() {
  if (std::current_exception() != nullptr) try {
      throw;
    } catch (const std::bad_alloc&) {
      fairlead::app::Interrupt::end_out_of_memory(fairlead::app::failure);
    } catch (...) {
    }
  std::abort();
}

int run_and_complain(int argc, char** argv) {
  using namespace fairlead;
  // A write beyond the limit of file sizes is then an error (EFBIG) and does not end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  app::StandardStreams streams;
  const auto launched = config::detect_launcher(config::process_environment());
  // One line per error: what() includes the remedy.
  const auto complain = [&](const char* what, int code) {
    // Of several processes the first prints a usage error that all share.
    if (!launched || (launched->rank == 0 && code == app::usage))
      fmt::print(stderr, "fairlead: {}\n", what);
    else if (code != app::usage)
      fmt::print(stderr, "fairlead, rank {}: {}\n", launched->rank, what);
    return code;
  };
  const auto ended_by = [&](int signal) {
    const auto what =
        fmt::format("{} (SIG{})", signal == SIGINT ? "interrupted" : "terminated", ::sigabbrev_np(signal));
    return complain(what.c_str(), app::interrupted + signal);
  };
  try {
    bool reports = false;
    const int code = app::run(argc, argv, reports);
    if (const int error = streams.output_error(); error != 0) {
      const auto what = fmt::format("cannot write to the standard output: {}", std::strerror(error));
      return complain(what.c_str(), reports ? code : app::failure);
    }
    return code;
  } catch (const app::Interrupted& interrupted) {
    return ended_by(interrupted.signal);
  } catch (const ConfigError& error) {
    return complain(error.what(), app::usage);
  } catch (const CheckpointStop& error) {
    return complain(error.what(), app::to_be_resumed);
  } catch (const RankError& error) {
    if (const int signal = app::Interrupt::signal(); signal != 0) return ended_by(signal);
    // The first rank prints the error of another one.
    const auto status = app::status_of_remote_error(error);
    if (launched && launched->rank != 0) return status;
    return complain(error.what(), status);
  } catch (const Error& error) {
    // An error that follows from the interruption is not reported.
    if (const int signal = app::Interrupt::signal(); signal != 0) return ended_by(signal);
    const bool singular = dynamic_cast<const linalg::SingularError*>(&error) != nullptr;
    return complain(error.what(), singular ? app::wrong_result : app::failure);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return complain(error.what(), app::failure);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairlead;
  std::set_terminate(end_by_exception);
  try {
    return run_and_complain(argc, argv);
  } catch (
      const std::bad_alloc&) {  // also before the options are known, and while an error is put into words
    app::Interrupt::say_out_of_memory();
    return app::failure;
  }
}
