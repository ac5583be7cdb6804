// What happened in one run, beside what could have: filled in by whoever ran it, written as a page or as
// JSON. What was not measured is left out of both, never shown as 0.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "memory/replica.hpp"
#include "report/bounds.hpp"
#include "report/ceiling.hpp"
#include "report/least_squares.hpp"
#include "report/limiting.hpp"
#include "report/resident.hpp"

namespace fairlead::report {

/// How RunReport::devices begins where the problem is too small to look for any: of interest to who asks for the full report.
inline constexpr std::string_view no_devices_looked_for = "none looked for";

/// How it begins where the machine has none, nor a driver for any.
inline constexpr std::string_view no_devices_there = "none there";

/// What crossed a link in one direction for one reason.
struct Traffic {
  Bytes bytes = 0;
  std::uint64_t copies = 0;
};

struct LinkReport {
  std::string name;
  std::array<Traffic, memory::cause_count> from_home{}, to_home{};  ///< by memory::Cause
  std::optional<double> busy_seconds{};                             ///< at least one copy was under way
};

struct NodeReport {
  std::string name;
  std::optional<Bytes> capacity;  ///< nothing: it takes whatever is registered (user memory, a disk)
  Bytes peak = 0;                 ///< reserved at once
  std::string lost{};             ///< why the device is gone since some moment; empty: it is there
};

/// How one worker spent the run.
struct WorkerReport {
  double busy_seconds = 0;               ///< in tasks
  double waiting_for_data_seconds = 0;   ///< it had a task, whose data were on their way
  double waiting_for_tasks_seconds = 0;  ///< the rest of the time: it had none
  std::uint64_t tasks = 0;
  bool on_device = false;  ///< of CUDA or OpenCL: beside it a core hardly counts
  /// Of its thread: CPU time, and time in which it wanted a core and had none. Nothing: not counted.
  std::optional<double> on_core_seconds{}, without_core_seconds{};

  double all() const noexcept { return busy_seconds + waiting_for_data_seconds + waiting_for_tasks_seconds; }
};

/// What tasks ran of one kernel.
struct KernelReport {
  std::string name;  ///< "gemm"
  std::uint64_t calls = 0;
  double gflop = 0;  ///< 10^9 operations, of all calls
};

/// A part of the run: "reading", "factorization", "solve", "error check". They follow each other.
struct Phase {
  std::string name;
  double seconds = 0;
  bool counts = true;  ///< within `RunReport::seconds`, which is the sum of those that do
};

/// How far the solution can be trusted.
struct ConditionReport {
  double number = 0;  ///< estimate, in norm(); infinite if it could not be held
  double forward_error =
      0;               ///< bound of || x - true x || / || x ||, in the infinity norm; infinite: none is known
  int digits = 0;      ///< that this leaves
  double seconds = 0;  ///< for the estimate
  int sweeps = 0;      ///< over the factor, its own: not those of refinement
  std::uint64_t columns = 1;  ///< of x: the bound is that of the worst, relative to its own largest component
  bool singular = false;      ///< a square matrix that cannot be told from a singular one
  bool is_exact = false;      ///< it is from the singular values, in the two norm

  std::string_view norm() const noexcept { return is_exact ? "two norm" : "infinity norm"; }
};

/// What a rank got from one other.
struct FromRankReport {
  Traffic graphs, flows, messages;  ///< values, by who wanted them: graphs, flows, the program
  double on_the_way_seconds = 0;    ///< at least one was wanted and not there
  /// Of all workers: they had no task meanwhile. Nothing: it was not recorded.
  std::optional<double> waited_seconds;

  Bytes bytes() const noexcept { return graphs.bytes + flows.bytes + messages.bytes; }
  std::uint64_t values() const noexcept { return graphs.copies + flows.copies + messages.copies; }
};

/// What one of several ranks did, within `RunReport::counted_seconds`.
struct RankReport {
  double busy_seconds = 0;  ///< of all of its workers, in tasks
  std::uint64_t tasks = 0;
  std::uint64_t messages = 0, payloads = 0;  ///< sent to others
  Bytes payload_bytes = 0;                   ///< values sent to others
  std::uint64_t payloads_read = 0;           ///< of these: others have read them in this one's memory
  Bytes payload_bytes_read = 0;
  std::uint64_t payloads_into_devices =
      0;  ///< values of others that landed straight in the memory of devices here
  Bytes payload_bytes_into_devices = 0;
  Bytes peak_memory_bytes = 0;              ///< of what its limit counts
  Bytes bytes_read = 0, bytes_written = 0;  ///< of its disk
  unsigned workers = 0;
  double counted_seconds = 0;
  std::vector<FromRankReport> from;  ///< by rank
  /// Of the time of all workers, the part in which they had no task while a value was on its way here.
  std::optional<double> waited_seconds;
};

struct RunReport {
  // What was run, where.
  std::string operation;  ///< "Cholesky solve"
  std::string version;    ///< of Fairlead
  std::string date;       ///< "2026-11-20 09:12 UTC"
  std::string machine;    ///< "2 cores of AMD EPYC 9555, 24 GiB, Debian 12"

  // The problem.
  std::uint64_t n = 0;
  std::uint64_t m = 0;   ///< rows of a matrix that is not square; 0: n
  std::string element;   ///< "FP64"
  std::string of;        ///< what was solved: "A.npy, b.npy (3 right-hand sides)"; empty: made for the run
  std::string solution;  ///< where the result is: a file; empty: it was not kept
  /// Of the file that the matrix is in, and what was read of it, again counted again; 0: it is in none.
  Bytes input_bytes = 0, input_bytes_read = 0;
  std::uint64_t tile = 0;   ///< elements a side
  std::uint64_t tiles = 0;  ///< in one dimension
  std::uint64_t tile_rows() const noexcept { return m == 0 ? tiles : (m + tile - 1) / tile; }

  // The setting.
  unsigned workers = 0;
  /// Where several computed together. What is said of workers and memory is then of rank 0, but for `ranks`; bytes of the
  /// disk are of all.
  std::vector<RankReport> ranks;
  std::string grid;     ///< "2 x 3": how tiles are dealt out to them
  std::string network;  ///< what carries their messages
  std::string
      why_not_read{};  ///< why not all ranks of a machine copy values from each other's memory; empty: they do
  std::string landing{};  ///< where values of others may land on rank 0, and why
  std::string
      devices;  ///< which were found, which of them are used, and why or why not; empty: nobody looked
  std::vector<std::string> through_ram{};  ///< of devices that might copy to each other: why they do not
  std::string scheduler;
  std::string deputy;   ///< the policy that decided for it in the end, if it chooses among several
  std::string front;    ///< how its tasks were said: "flow", "ptg", "jdf"; empty: there is no choice
  std::string kernels;  ///< which BLAS, told to be for which core
  Bytes memory_limit_bytes = 0;
  std::optional<std::string> spill_directory;
  std::optional<double> disk_cap_bytes_per_second;  ///< both directions together

  // What came of it.
  double seconds = 0;  ///< in core from RAM to RAM, out of core from disk to disk, flushed
  double gflops = 0;  ///< 10^9 operations per second, over `seconds` but those of attempts that were given up
  std::vector<Phase> phases;
  std::optional<double> backward_error;
  std::optional<double> backward_error_limit;  ///< above it the result is wrong
  /// By how much the triangles of a matrix differ, relative to the elements (SymmetricNpy::tolerance), if they do: it is
  /// factored with the lower one, and x is refined and judged with the whole.
  std::optional<double> asymmetry{};
  /// By what part of its size the solution is off in its file, whose type it does not fit: in the backward error, too.
  std::optional<double> lost_in_file{};
  /// By what part of its size a solution in double precision is rounded in a file in single, whose type it fits; not in the
  /// backward error, which it may raise by as much.
  std::optional<double> rounded_in_file{};
  std::string changed_input{};  ///< what was written to while it was read: a file; empty: none was
  std::optional<std::uint64_t> calls_in_tf32{};  ///< of cuBLAS, for the factor; none: they were not wanted
  std::optional<int> refinement_steps;           ///< of a factor in single precision, up to that error
  std::optional<ConditionReport> condition;
  std::optional<int> required_digits{};          ///< fewer that can be trusted are an error
  std::optional<double> growth;                  ///< the largest element of U beside that of A
  std::optional<LeastSquaresResidual> residual;  ///< in the two norm, where it cannot be zero
  std::optional<NumericalRank> numerical_rank;   ///< likewise
  std::uint64_t tasks = 0;
  std::uint64_t evictions = 0;
  std::vector<KernelReport> kernel_calls;  ///< within `seconds`

  // What it is measured against.
  /// Of all workers: what one does while the others compute the same, times them.
  std::optional<double> gemm_peak_gflops;
  std::optional<Ceiling> ceiling;  ///< of the tiled algorithm with the kernels of this run
  std::optional<double> ceiling_gflops;
  std::optional<TileRates> tile_rates;  ///< of one core, from which the ceiling follows

  // Bytes between memory and disk.
  Bytes bytes_read = 0, bytes_written = 0;  ///< by the engine's count
  /// By the kernel's, of the same stretch of time.
  std::optional<Bytes> kernel_bytes_read, kernel_bytes_written;
  std::optional<IoBounds> bounds;
  std::vector<LinkReport> links;
  Traffic generated;  ///< data computed where they would have been read; not among bytes_read

  // Memory.
  Bytes peak_memory_bytes = 0;                  ///< of what the limit counts, by the engine
  std::optional<Bytes> peak_resident_bytes;     ///< of the whole process, by the kernel
  std::optional<ResidentParts> resident_parts;  ///< of it
  std::vector<NodeReport> nodes;
  /// What bytes read and written may be compared with. Null where none is known, and where nothing moved: all fitted, and was made
  /// in memory.
  const IoBounds* bounds_of_what_moved() const noexcept;
  /// Both directions, of the floor. Nothing below 1, where memory holds nearly all: the floor is a formula, and no bound.
  std::optional<double> times_the_floor() const noexcept;
  /// The most that the process had in RAM beside the nodes' memory and what else the limit counts.
  std::optional<Bytes> outside_limit_bytes() const;

  // What follows is of so many seconds, in which workers were in tasks, waited for data or had no task.
  double counted_seconds = 0;
  std::vector<WorkerReport> worker_times;
  std::optional<Limiting> limiting;

  std::string not_written;  ///< why a log or record that was asked for is missing, in words for people

  // To compare runs by. In JSON only, as hexadecimal text: not every reader has 64-bit integers.
  std::optional<std::uint64_t> factor_digest;   ///< of the bits of L
  std::optional<std::uint64_t> command_digest;  ///< of all that the engine commanded
};

/// "n = 16,384", or "5,000 x 200".
std::string size_text(const RunReport& report);
inline bool is_rank_reduced(const RunReport& report) noexcept {
  return report.numerical_rank && report.numerical_rank->is_reduced();
}
/// RunReport::devices, and what else there is to say of them.
std::string devices_text(const RunReport& report);
/// "rehearsed (blocks)": with the policy that it took, if it chooses among several.
inline std::string scheduler_text(const RunReport& report) {
  return report.deputy.empty() ? report.scheduler : report.scheduler + " (" + report.deputy + ")";
}
/// Workers whose tasks use a memory of that name are a CUDA or OpenCL device's; emulated ones are cores.
inline bool is_of_device(std::string_view node) noexcept {
  return node.starts_with("cuda ") || node.starts_with("opencl ");
}
/// What a worker was not in tasks nor waiting for data it had none: to `seconds` in all.
void fill_up_times(std::vector<WorkerReport>& workers, double seconds);
/// What the rule of limiting() needs of workers, and of those links whose use was measured.
Measured measured(const std::vector<WorkerReport>& workers, double seconds,
                  const std::vector<LinkReport>& links = {});

/// All of it, at most 100 columns wide as long as names are not, with a newline at the end.
std::string text(const RunReport& report);
/// What somebody wants to know who wants the result: what was solved, how well, how long it took, what
/// limited it, where the solution is. Eight lines where they fit in 100 columns.
std::string summary(const RunReport& report);

/// The same as one object; sizes in bytes, times in seconds, rates in GFlop/s, as the names say.
Json json(const RunReport& report);

}  // namespace fairlead::report
