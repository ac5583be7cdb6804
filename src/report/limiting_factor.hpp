// The limiting factor of a run, determined by one rule from the measurements; text, JSON and page use the same words.
//
//   1. cores      For a quarter of the time or more, workers' threads were runnable without a core: other programs
//                 used it, the control group's quota of CPU time was exhausted, or there are more workers than cores.
//   2. files      Reading the input and writing the output took half of the time or more.
//   3. computing  Workers ran tasks for three quarters of the time or more.
//   4. link       They did not, and a link carried copies for nine tenths of the time or more, or workers waited
//                 longer for data than for tasks. Of several links, the one that was in use the longest.
//   5. tasks      Otherwise: there were too few runnable tasks.
//
// If tasks ran on CUDA or OpenCL devices, only workers of devices count: idle cores next to them lose nothing.
//
// Times of workers and links refer to an interval of `RunReport::counted_seconds`, in which a worker runs a task, waits
// for the data of one, or has none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::report {

struct RunReport;

/// The limiting factors, in the order of the rules above.
enum class Limit : std::uint8_t { cores, files, computing, link, tasks };

/// Why workers had no core.
enum class CoresTakenBy : std::uint8_t {
  other_programs,
  quota,             // the control group's quota of CPU time
  too_many_workers,  // more workers than cores
};

/// The limiting factor, with the fractions of time that determine it, from 0 to 1.
struct LimitingFactor {
  Limit limit = Limit::computing;
  double files = 0;                  ///< of `RunReport::seconds`: reading the input, writing the output
  double busy = 0;                   ///< of the workers' time: running tasks
  double waiting_for_data = 0;       ///< of the workers' time: waiting for the data of a task
  double without_tasks = 0;          ///< of the workers' time: the rest
  std::string link;                  ///< the link that was in use the longest; empty if none was
  double link_busy = 0;              ///< of the time: the link carried copies
  bool on_devices = false;           ///< the workers are those of devices
  unsigned workers = 0;              ///< number of workers that count
  std::uint64_t tile = 0;            ///< elements per side; 0: unknown
  double runnable_without_core = 0;  ///< of the workers' time: their threads were runnable without a core
  std::optional<double> runnable_on_core{};  ///< of the time in which they were runnable; none: not measured
  CoresTakenBy cores_taken_by = CoresTakenBy::other_programs;

  /// For scripts: "other_programs", "cpu_quota" or "too_many_workers"; "files", "computing", "disk" or "link", "tasks".
  std::string_view name() const noexcept;
  /// For display: "other programs", "computing", "the disk", "the wire gpu0", "too few tasks".
  std::string display_name() const;
  /// The figures behind it, as one sentence.
  std::string reason() const;
  /// A hint; empty if there is none.
  std::string advice() const;
};

/// The measurements of a run that the rule uses.
struct Measured {
  struct LinkUse {
    std::string name;
    double busy_seconds = 0;
  };
  double seconds = 0, file_seconds = 0;  ///< of the run; of these, on the user's files
  double counted_seconds = 0;            ///< the interval of the following fields
  unsigned workers = 0;
  std::uint64_t tile = 0;                                 ///< elements per side; 0: unknown
  bool on_devices = false;                                ///< workers of cores do not count
  double busy_seconds = 0, waiting_for_data_seconds = 0;  ///< sums over the workers
  std::vector<LinkUse> wires;
  /// Sums over the workers' threads; none: not measured.
  std::optional<double> on_core_seconds{}, without_core_seconds{};
  unsigned cores = 0;  ///< available to the program; 0: unknown
  /// Time in which the control group's quota delayed threads, summed over them.
  double throttled_seconds = 0;
};
LimitingFactor limiting(const Measured& measured);

}  // namespace fairlead::report
