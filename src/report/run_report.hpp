// The measurements of one run, with their bounds. The caller that made the run fills it in; it is written as text, a
// page or JSON. Values that were not measured are omitted in all of them, never shown as 0.
#pragma once
#include <fairlead/element_type.hpp>
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
#include "report/limiting_factor.hpp"
#include "report/resident.hpp"

namespace fairlead::report {

/// The beginning of RunReport::devices if the problem is too small for devices; shown only in the full report.
inline constexpr std::string_view no_devices_looked_for = "none looked for";

/// The beginning of RunReport::devices if the machine has no devices and no driver.
inline constexpr std::string_view no_devices_there = "none there";

/// The transfers over a link in one direction for one cause, added up.
struct TransferTotals {
  Bytes bytes = 0;
  std::uint64_t copies = 0;
};

/// The traffic of one link.
struct LinkReport {
  std::string name;
  std::array<TransferTotals, memory::cause_count> from_home{}, to_home{};  ///< by memory::Cause
  std::optional<double> busy_seconds{};  ///< time in which at least one copy was in flight
};

/// The use of one memory node.
struct NodeReport {
  std::string name;
  std::optional<Bytes> capacity;  ///< none: unlimited (user memory, a disk)
  Bytes peak = 0;                 ///< bytes reserved at once
  std::string lost{};             ///< why the device failed; empty: it did not
};

/// The time of one worker.
struct WorkerReport {
  double busy_seconds = 0;               ///< running tasks
  double waiting_for_data_seconds = 0;   ///< waiting for the data of a task
  double waiting_for_tasks_seconds = 0;  ///< the rest: without a task
  std::uint64_t tasks = 0;
  bool on_device = false;  ///< a CUDA or OpenCL device; next to it cores hardly count
  /// CPU time of the thread, and time in which it was runnable without a core. Nothing: not measured.
  std::optional<double> on_core_seconds{}, without_core_seconds{};

  double all() const noexcept { return busy_seconds + waiting_for_data_seconds + waiting_for_tasks_seconds; }
};

/// The tasks of one kernel.
struct KernelReport {
  std::string name;  ///< "gemm"
  std::uint64_t calls = 0;
  double gflop = 0;  ///< 10^9 operations, all calls together
};

/// A phase of the run: "reading", "factorization", "solve", "error check". Phases are consecutive.
struct PhaseReport {
  std::string name;
  double seconds = 0;
  bool counts = true;  ///< included in `RunReport::seconds`, which is the sum of the included phases
};

/// The accuracy of the solution.
struct ConditionReport {
  double number = 0;         ///< estimate, in norm(); infinite on overflow
  double forward_error = 0;  ///< bound of || x - true x || / || x ||, in the infinity norm; infinite: unknown
  int digits = 0;            ///< correct digits by that bound
  double seconds = 0;        ///< for the estimate
  int sweeps = 0;            ///< sweeps over the factor for the estimate only, without those of refinement
  std::uint64_t columns = 1;  ///< of x: the bound is for the worst one, relative to its own largest component
  bool singular = false;      ///< a square matrix that is numerically singular
  bool is_exact = false;      ///< from the singular values, in the two norm

  std::string_view norm() const noexcept { return is_exact ? "two norm" : "infinity norm"; }
};

/// The values that a rank received from another rank.
struct FromRankReport {
  TransferTotals graphs, flows,
      messages;                  ///< values, by their consumer: graphs, flows, messages of the program
  double in_flight_seconds = 0;  ///< time in which at least one requested value had not arrived
  /// Time that workers spent without a task in the meantime, summed over them. None: not recorded.
  std::optional<double> waited_seconds;

  Bytes bytes() const noexcept { return graphs.bytes + flows.bytes + messages.bytes; }
  std::uint64_t values() const noexcept { return graphs.copies + flows.copies + messages.copies; }
};

/// The work of one of several ranks, within `RunReport::counted_seconds`.
struct RankReport {
  double busy_seconds = 0;  ///< running tasks, summed over its workers
  std::uint64_t tasks = 0;
  std::uint64_t messages = 0, payloads = 0;  ///< sent to other ranks
  Bytes payload_bytes = 0;                   ///< values sent to other ranks
  std::uint64_t payloads_read = 0;  ///< of these: other ranks read them directly in this rank's memory
  Bytes payload_bytes_read = 0;
  std::uint64_t payloads_into_devices = 0;  ///< values of other ranks received directly into device memory
  Bytes payload_bytes_into_devices = 0;
  Bytes peak_memory_bytes = 0;              ///< of the memory under its limit
  Bytes bytes_read = 0, bytes_written = 0;  ///< of its disk
  unsigned workers = 0;
  double counted_seconds = 0;
  std::vector<FromRankReport> from;  ///< by rank
  /// Time of all workers without a task while a value was in flight to this rank, summed over them.
  std::optional<double> waited_seconds;
};

/// "FP64", "FP32", "complex FP64", "complex FP32".
constexpr const char* element_name(ElementType type) noexcept {
  if (is_complex(type)) return is_single(type) ? "complex FP32" : "complex FP64";
  return is_single(type) ? "FP32" : "FP64";
}

/// The report of one run.
struct RunReport {
  // The operation and the machine.
  std::string operation;      ///< "Cholesky solve"
  std::string method;         ///< of a solve, as the command line has it: "cholesky"
  std::string method_reason;  ///< why, if the method was chosen; otherwise empty
  std::string version;        ///< of Fairlead
  std::string date;           ///< "2026-11-20 09:12 UTC"
  std::string machine;        ///< "2 cores of AMD EPYC 9555, 24 GiB, Debian 12"

  // The problem.
  std::uint64_t n = 0;
  std::uint64_t m = 0;   ///< rows of a matrix that is not square; 0: n
  std::string element;   ///< as element_name()
  std::string of;        ///< the input: "A.npy, b.npy (3 right-hand sides)"; empty: generated for the run
  std::string solution;  ///< file of the result; empty: not kept
  /// The size of the matrix's file, and the bytes read from it, counting repeated reads; 0: not from a file.
  Bytes input_bytes = 0, input_bytes_read = 0;
  std::uint64_t tile = 0;   ///< elements per side
  std::uint64_t tiles = 0;  ///< in one dimension
  std::uint64_t tile_rows() const noexcept { return m == 0 ? tiles : (m + tile - 1) / tile; }

  // The setting.
  unsigned workers = 0;
  /// With several ranks. Figures of workers and memory then refer to rank 0, except for `ranks`; bytes of the disk are
  /// totals.
  std::vector<RankReport> ranks;
  std::string grid;     ///< "2 x 3": the distribution of tiles
  std::string network;  ///< the transport of messages
  /// Why some ranks of a machine do not copy values directly from each other's memory; empty: all do.
  std::string no_direct_read_reason{};
  std::string receive_memory{};  ///< where values of other ranks may arrive on rank 0, and why
  std::string devices;  ///< the devices found, which of them are used, and why; empty: not searched for
  std::vector<std::string> no_peer_copy_reasons{};  ///< why devices that could copy to each other do not
  std::string scheduler;
  std::string active_policy;  ///< last active policy, if the policy selects among several
  std::string front;          ///< source of the tasks: "flow", "ptg", "jdf"; empty: no choice
  std::string kernels;        ///< BLAS library, and the core type that it is configured for
  Bytes memory_limit_bytes = 0;
  std::optional<std::string> spill_directory;
  std::optional<double> disk_cap_bytes_per_second;  ///< both directions together

  // The results.
  double seconds = 0;  ///< in core from RAM to RAM, out of core from disk to disk, including the flush
  double gflops = 0;   ///< 10^9 operations per second, over `seconds` without abandoned attempts
  std::vector<PhaseReport> phases;
  std::optional<double> backward_error;
  std::optional<double> backward_error_limit;  ///< a larger error means a wrong result
  /// The maximum difference of the matrix's triangles, relative to the elements (SymmetricReader::tolerance), if they
  /// differ. The lower triangle is factored; x is refined and checked with the whole matrix.
  std::optional<double> asymmetry{};
  /// The relative error of storing the solution in its file, whose type cannot represent it; included in the backward
  /// error.
  std::optional<double> lost_in_file{};
  /// The relative rounding error of a double-precision solution in a single-precision file that can represent it; not
  /// included in the backward error, which it may raise by as much.
  std::optional<double> rounded_in_file{};
  std::string changed_input{};  ///< a file that was modified while it was read; empty: none
  /// Calls of cuBLAS for the factor; none: TF32 was not requested.
  std::optional<std::uint64_t> calls_in_tf32{};
  std::optional<int> refinement_steps;  ///< from a single-precision factor to that error
  std::optional<ConditionReport> condition;
  std::optional<int> required_digits{};          ///< fewer correct digits are an error
  std::optional<double> growth;                  ///< largest element of U divided by that of A
  std::optional<LeastSquaresResidual> residual;  ///< in the two norm, where it cannot be zero
  std::optional<NumericalRank> numerical_rank;   ///< in least squares problems
  std::uint64_t tasks = 0;
  std::uint64_t evictions = 0;
  std::vector<KernelReport> kernel_calls;  ///< within `seconds`

  // Bounds and references.
  /// All workers together: the rate of one worker while the others do the same, times their number.
  std::optional<double> gemm_peak_gflops;
  std::optional<Ceiling> ceiling;  ///< of the tiled algorithm with the kernels of this run
  std::optional<double> ceiling_gflops;
  std::optional<TileRates> tile_rates;  ///< of one core; the ceiling is derived from them

  // Bytes between memory and disk.
  Bytes bytes_read = 0, bytes_written = 0;  ///< counted by the engine
  /// Counted by the kernel, for the same interval.
  std::optional<Bytes> kernel_bytes_read, kernel_bytes_written;
  std::optional<IoBounds> bounds;
  std::vector<LinkReport> links;
  TransferTotals generated;  ///< data computed instead of read; not included in bytes_read

  // Memory.
  Bytes peak_memory_bytes = 0;                  ///< of the memory under the limit, counted by the engine
  std::optional<Bytes> peak_resident_bytes;     ///< of the whole process, by the kernel
  std::optional<ResidentParts> resident_parts;  ///< of the process
  std::vector<NodeReport> nodes;
  /// The bounds for the bytes read and written. Null if they are unknown, or if nothing was moved because all data
  /// fitted and were generated in memory.
  const IoBounds* io_bounds() const noexcept;
  /// Bytes in both directions divided by the floor. None below 1, which occurs if memory holds nearly everything: the
  /// floor is a formula, not a bound.
  std::optional<double> ratio_to_floor() const noexcept;
  /// The peak of the process in RAM, minus the memory of the nodes and of what the limit counts.
  std::optional<Bytes> unaccounted_bytes() const;

  // The following fields refer to an interval of this length, in which workers ran tasks, waited for data or had no
  // task.
  double counted_seconds = 0;
  std::vector<WorkerReport> worker_times;
  std::optional<LimitingFactor> limiting;

  std::string not_written;  ///< why a requested log or trace is missing, for display

  // For comparing runs. Only in JSON, as hexadecimal text, since not every reader has 64-bit integers.
  std::optional<std::uint64_t> factor_digest;   ///< hash of the bits of L
  std::optional<std::uint64_t> command_digest;  ///< hash of all commands of the engine
};

/// "n = 16,384", or "5,000 x 200".
std::string size_text(const RunReport& report);
inline bool is_rank_reduced(const RunReport& report) noexcept {
  return report.numerical_rank && report.numerical_rank->is_reduced();
}
/// RunReport::devices, with further notes about devices.
std::string devices_text(const RunReport& report);
/// The name of the policy, with the active one in parentheses if it selects among several.
inline std::string scheduler_text(const RunReport& report) {
  return report.active_policy.empty() ? report.scheduler
                                      : report.scheduler + " (" + report.active_policy + ")";
}
/// True if workers of that memory node belong to a CUDA or OpenCL device; emulated devices run on cores.
inline bool is_of_device(std::string_view node) noexcept {
  return node.starts_with("cuda ") || node.starts_with("opencl ");
}
/// Sets the time without tasks of each worker to the rest of `seconds`.
void fill_up_times(std::vector<WorkerReport>& workers, double seconds);
/// The input of limiting(), from workers and the links whose use was measured.
Measured measured(const std::vector<WorkerReport>& workers, double seconds,
                  const std::vector<LinkReport>& links = {});

/// The full report, at most 100 columns wide unless names are longer; ends with a newline.
std::string text(const RunReport& report);
/// The short report for users: the problem, the accuracy, the time, the limiting factor, and the location of the
/// solution. Nine lines, ten if the method was chosen, if they fit in 100 columns.
std::string summary(const RunReport& report);

/// The report as one JSON object; sizes in bytes, times in seconds, rates in GFlop/s, as the names state.
Json json(const RunReport& report);

}  // namespace fairlead::report
