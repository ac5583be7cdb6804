// One call of `fairlead solve`, from files to a file: a drawn system and machine, a folder, the program as a
// child, and a look at what it left.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "misuse/command/folder.hpp"
#include "shim/shim.hpp"
#include "torture/campaign.hpp"
#include "torture/library_runs.hpp"
#include "torture/machine.hpp"
#include "torture/plain.hpp"

namespace fairlead::torture {

using shim::Effect;
using shim::FileOperation;
using shim::Shim;
using shim::ShimPlan;

/// How a child ended.
struct Ended {
  int status = 0;  ///< as waitpid() has it
  double seconds = 0;
  std::string errors{};

  bool exited() const;
  int exit_code() const;  ///< -1: by a signal
  std::string text() const;
};

/// What the program keeps of this machine, for all runs of a campaign. That a BLAS has been timed is
/// pretended: on a busy machine, where that cannot be done well, each run would begin with it.
class Kept {
 public:
  Kept();
  const std::filesystem::path& path() const noexcept { return folder_.path(); }
  /// Throws Wrong if there is something else than whole files.
  void expect_nothing_left() const;
  /// After a kill: what is kept may have been being written.
  void remove_half_written() const;

 private:
  Scratch folder_;
};

/// To be sent to a child.
struct Kill {
  int signal;
  double after_seconds;
};

class CommandSolve {
 public:
  /// `small`: an out-of-core run that takes tens of milliseconds, without devices.
  CommandSolve(Run& run, const Kept& kept, Devices devices, bool small);
  CommandSolve(const CommandSolve&) = delete;
  CommandSolve& operator=(const CommandSolve&) = delete;
  ~CommandSolve();

  /// Finds the memory that the run needs: runs the program until it does not ask for more. What comes then is
  /// right, or Wrong is thrown. The shim has counted the calls of the last run; the output is as before.
  Ended find_memory(Shim* shim = nullptr, const std::vector<std::string>& more_words = {});
  /// Runs it once, with the memory that was found.
  Ended start(const std::vector<std::string>& environment, std::optional<Kill> kill = {},
              const std::vector<std::string>& more_words = {}) const;

  /// The output as it is when a run begins.
  void restore_output() const;
  /// From now on there is an output when a run begins: another one, whole.
  void begin_with_output() { begins_with_output_ = true; }
  bool has_output() const;
  bool left_a_partial_output() const;
  /// The output is what the system wants; else Wrong is thrown.
  void expect_right() const;
  /// The backward error of the output, infinite if it cannot be read.
  double output_error() const;
  double allowed() const;
  /// There is no output, or what was there before.
  bool output_is_as_before() const;
  /// Nothing but the output is new in the folder, and the inputs are as they were; else Wrong is thrown.
  void expect_nothing_left() const;

  std::string command() const;

 private:
  std::string old_output() const;
  void write_points(Random& random);
  std::vector<std::string> words() const;

  Run& run_;
  const Kept& kept_;
  misuse::Folder folder_;
  System system_;
  Machine machine_;
  std::vector<std::string> options_{};
  Bytes beside_ = 0;      ///< what the program needs besides the memory for tiles
  bool single_ = false;   ///< the computation, or the output
  bool in_files_ = true;  ///< the matrix; else it is made of points
  bool begins_with_output_ = false;
  std::string other_disk_{};
  std::map<std::string, std::string> before_{};
};

/// Systems solved from file to file.
std::unique_ptr<Campaign> command_runs(Devices devices);
/// File operations that fail.
std::unique_ptr<Campaign> faults();
/// Runs that are killed.
std::unique_ptr<Campaign> kills();
/// Bits that change on the disk.
std::unique_ptr<Campaign> flips();

}  // namespace fairlead::torture
