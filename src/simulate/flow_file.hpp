// Reads a recorded flow, the file that the setting record-flow writes, as a program for the simulator. Lines of words:
//
//   fairlead-flow 1                         the format's version; first
//   codelet NUMBER KINDS UNIT NAME          UNIT: the unit of WORK of its tasks: flops, nanoseconds, none
//   file NUMBER NAME
//   datum NUMBER BYTES MATRIX ROW COLUMN value|empty NAME
//                                           -1 if it is not a tile; value: has one before its first task
//   phase NUMBER                            from 1; before each but the first, the program waited for all tasks
//   task CODELET FILE:LINE PRIORITY WORK ACCESS...
//                                           ACCESS: r, w, rw, c (commutative) or x (reduction), and a datum
//   duration KIND SIZE TASKS NANOSECONDS CODELET
//                                           measured; SIZE: WORK of one task, or the bytes it uses
//   left-out COUNT WHAT                     not represented in the simulation
//   unrecorded WHY                          nothing after this could be recorded
//   end DATA TASKS                          last
//
// Codelets, files and data are numbered from 0 in the order of their lines, which precede the lines that use them. A
// NAME is the rest of its line. KINDS: kinds of worker that have a body, as in "cpu,cuda". Lines end with LF or CR LF.
// User documentation: docs/workloads.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

/// Tasks without a count of operations but with a measured duration: operations of a core per ns.
inline constexpr double assumed_flops_per_nanosecond = 10;
/// Tasks without either: operations per byte that the task uses.
inline constexpr double assumed_flops_per_byte = 1;

struct FlowFile {
  Program program;
  std::uint64_t phases = 0;  ///< in the file
  /// The number of tasks by the origin of their work.
  std::uint64_t counted = 0, measured = 0, assumed = 0;
  std::vector<std::string> left_out;  ///< one line of text each
};

/// `phase`: read only its tasks and their data; none: all. `file`: for messages. Throws InputError naming file and
/// line, ConfigError if the phase does not exist.
FlowFile read_flow_text(std::string_view text, std::string_view file, Precision precision,
                        std::optional<std::uint64_t> phase = {});
/// The same for a file. Throws SystemError if it cannot be read.
FlowFile read_flow_file(const std::string& path, Precision precision,
                        std::optional<std::uint64_t> phase = {});

}  // namespace fairlead::simulate
