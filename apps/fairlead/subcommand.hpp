// A subcommand of `fairlead`: one file each, listed in main.cpp. Fairlead's settings are options of every
// subcommand; what it declares here comes on top and is read from the same Config.
#pragma once
#include <fairlead/config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/help.hpp"
#include "config/join_tables.hpp"

namespace fairlead::app {

/// The exit status of the process.
enum ExitCode : int {
  success = 0,
  failure = 1,         // the command was valid but failed
  usage = 2,           // usage error: the command line, the environment or the configuration file
  wrong_result = 3,    // computed but unusable: wrong, of a singular matrix, or with too few certain digits
  to_be_resumed = 75,  // stopped after a checkpoint, as requested: EX_TEMPFAIL of sysexits.h
  interrupted = 128,   // plus the signal's number, as the shell has it: 130 for Ctrl-C
};

/// Thrown when the user interrupted the run, to clean up: main() reports it and returns
/// `interrupted` + the signal. Thrown by the code that installs the handler for SIGINT.
struct Interrupted {
  int signal;
};

/// The meanings in the help, in this order.
inline constexpr config::ExitStatus exit_statuses[] = {
    {"0", "success"},
    {"1", "failure: the command was valid but did not succeed"},
    {"2", "usage error: in the command line, the environment or a configuration file"},
    {"3",
     "unusable result: its backward error is too large, the matrix is singular, or too few digits are "
     "certain"},
    {"75", "stopped after a checkpoint: the same command resumes"},
    {"128+N", "ended by signal N: 130 for Ctrl-C, 143 for SIGTERM"}};

/// An option that is off by default.
constexpr Setting flag(std::string_view key, std::string_view help) {
  return {.key = key, .type = SettingType::flag, .default_value = "false", .help = help};
}
/// The same, which --help omits and --help-all lists.
constexpr Setting advanced_flag(std::string_view key, std::string_view help) {
  Setting option = flag(key, help);
  option.advanced = true;
  return option;
}

/// For subcommands that take none of Fairlead's settings (an empty list would be all).
inline constexpr AcceptedSetting takes_no_settings[] = {
    {.key = "memory", .refused = "has no effect here: --help lists what has"}};

struct Subcommand {
  std::string_view name;     ///< one word, or two
  std::string_view summary;  ///< one line
  std::span<const Positional> positionals;
  std::span<const Setting> options;
  /// Errors are thrown; main() prints them.
  int (*run)(const ParsedCommandLine&);
  bool hidden = false;                          ///< not listed
  std::span<const AcceptedSetting> settings{};  ///< see CommandLine
  bool config_lists = false;                    ///< see CommandLine
  /// Settings that name files for its results. If one is given, the output only reports on the work: it may
  /// be lost, and the exit status is that of the work. Otherwise the output is the result, and a standard
  /// output that cannot be written is a failure.
  std::span<const std::string_view> files_of_results{};
  /// Whether processes that mpirun started run it together.
  bool over_ranks = false;
};

extern const Subcommand solve_command;
extern const Subcommand factor_command;
extern const Subcommand logdet_command;
extern const Subcommand plan_command;
extern const Subcommand bench;
extern const Subcommand info;
extern const Subcommand calibrate;
extern const Subcommand schedulers;
extern const Subcommand machines;
extern const Subcommand simulate_command;
extern const Subcommand simulate_jdf_command;
extern const Subcommand compare;
extern const Subcommand experiment_command;
extern const Subcommand jdf_command;
extern const Subcommand jdf_run_command;
extern const Subcommand replay_log;
extern const Subcommand status_command;
extern const Subcommand completion_command;
extern const Subcommand help;

/// Every subcommand, in the order of `fairlead --help`.
std::span<const Subcommand* const> subcommands() noexcept;
/// The command line of `subcommand`; `program`, "fairlead NAME", must outlive it.
CommandLine command_line_of(const Subcommand& subcommand, std::string_view program);
/// The command lines of all that are listed.
class ListedCommandLines {
 public:
  ListedCommandLines();
  std::span<const CommandLine> get() const noexcept { return lines_; }

 private:
  std::vector<std::string> programs_;
  std::vector<CommandLine> lines_;
};
/// Throws ConfigError with the nearest name if there is none of that name.
const Subcommand& find_subcommand(std::string_view name);
/// The same by the first word, or the first two; `second` may be empty.
const Subcommand& find_subcommand(std::string_view first, std::string_view second);
/// What `fairlead help NAME` prints; of an empty name, the list of subcommands.
std::string help_of(std::string_view name, HelpDetail detail = HelpDetail::common);

}  // namespace fairlead::app
