// One call of `fairlead solve`, from files to a file: a random system and machine, a folder, the program as a
// child process, and a check of its output.
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

/// The program's cache, for all runs of a campaign. It contains a fake timing of a BLAS: otherwise each run on a busy
/// machine would start with that measurement.
class Kept {
 public:
  Kept();
  const std::filesystem::path& path() const noexcept { return folder_.path(); }
  /// Throws Wrong if it contains anything but complete files.
  void expect_nothing_left() const;
  /// After a kill: a file of the cache may be incomplete.
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

  /// Finds the memory that the run needs: runs the program until it requests no more. Throws Wrong if the
  /// solution is wrong. The shim has counted the calls of the last run; the output is as before.
  Ended find_memory(Shim* shim = nullptr, const std::vector<std::string>& more_words = {});
  /// Runs the program once, with that memory.
  Ended start(const std::vector<std::string>& environment, std::optional<Kill> kill = {},
              const std::vector<std::string>& more_words = {}) const;

  /// Restores the output as it is when a run starts.
  void restore_output() const;
  /// From now on a complete, other output exists when a run starts.
  void begin_with_output() { begins_with_output_ = true; }
  bool has_output() const;
  bool left_a_partial_output() const;
  /// Throws Wrong unless the output solves the system.
  void expect_right() const;
  /// The backward error of the output, infinite if it cannot be read.
  double output_error() const;
  double allowed() const;
  /// There is no output, or the former one.
  bool output_is_as_before() const;
  /// Throws Wrong unless only the output is new in the folder and the inputs are unchanged.
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
  Bytes other_memory_ = 0;  ///< what the program needs in addition to the memory for tiles
  bool single_ = false;     ///< the computation, or the output
  bool in_files_ = true;    ///< the matrix is in a file; otherwise it is computed from points
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
