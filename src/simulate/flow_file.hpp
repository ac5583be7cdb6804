// A program for the simulator from the file that the setting record-flow makes of a real one. Lines of words:
//
//   fairlead-flow 1                         the format's version; first
//   codelet NUMBER KINDS UNIT NAME          UNIT: what WORK of its tasks counts: flops, nanoseconds, none
//   file NUMBER NAME
//   datum NUMBER BYTES MATRIX ROW COLUMN value|empty NAME
//                                           -1 for what is no tile; value: before its first task
//   phase NUMBER                            from 1; the program waited for all tasks before, if it is not the first
//   task CODELET FILE:LINE PRIORITY WORK ACCESS...
//                                           ACCESS: r, w, rw, c (commutative) or x (reduction), and a datum
//   duration KIND SIZE TASKS NANOSECONDS CODELET
//                                           measured; SIZE: WORK of one task, or the bytes it uses
//   left-out COUNT WHAT                     what the simulation does not know of
//   unrecorded WHY                          nothing after this could be written down
//   end DATA TASKS                          last
//
// Numbers of codelets, files and data count from 0 in the order of their lines, which come before those that name them.
// A NAME is the rest of its line. KINDS: of workers that have a body, as "cpu,cuda". Lines end with \n or \r\n. For people:
// docs/workloads.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

/// Where nothing says how many operations a task is: what a core is taken to do in the time that was measured
/// ...
inline constexpr double assumed_flops_per_nanosecond = 10;
/// ... and if nothing was measured, how many operations there are for a byte that a task uses.
inline constexpr double assumed_flops_per_byte = 1;

struct FlowFile {
  Program program;
  std::uint64_t phases = 0;  ///< in the file
  /// Of the program's tasks, by where their work is from.
  std::uint64_t counted = 0, measured = 0, assumed = 0;
  std::vector<std::string> left_out;  ///< a line each, for people
};

/// `phase`: only its tasks, and what they use; else all. `file`: for messages. Throws InputError naming file
/// and line, ConfigError for a phase that there is not.
FlowFile read_flow_text(std::string_view text, std::string_view file, Precision precision,
                        std::optional<std::uint64_t> phase = {});
/// Throws SystemError if the file cannot be read.
FlowFile read_flow_file(const std::string& path, Precision precision,
                        std::optional<std::uint64_t> phase = {});

}  // namespace fairlead::simulate
