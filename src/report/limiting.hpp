// What kept a run from being faster, by one rule from what was measured: the same words in the text, the JSON
// and the page.
//
//   1. cores      For a quarter of the time or more workers' threads wanted a core and had none: other programs
//                 had it, the control group's quota of CPU time was used up, or there are more workers than cores.
//   2. files      Reading the input and writing the output took half of the time or more.
//   3. computing  Workers were in tasks for three quarters of the time or more.
//   4. link       They were not, and a wire carried copies for nine tenths of the time or more; or they
//                 waited for data longer than they had nothing to do. Of several wires, the one in use the
//                 longest.
//   5. tasks      Else: there were too few tasks that could run.
//
// Where tasks ran on CUDA or OpenCL devices, workers are theirs alone: beside them a core that has nothing to do loses nothing.
//
// Times of workers and wires are those between two moments, `RunReport::counted_seconds`; in them a worker is
// in a task, waits for the data of one, or has none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::report {

struct RunReport;

enum class Limit : std::uint8_t { cores, files, computing, link, tasks };

/// Why workers had no core.
enum class CoresTakenBy : std::uint8_t {
  other_programs,
  quota,        // the control group's CPU time
  own_workers,  // more of them than cores
};

/// Parts of the time, from 0 to 1.
struct Limiting {
  Limit limit = Limit::computing;
  double files = 0;                  ///< of `RunReport::seconds`: reading the input, writing the output
  double busy = 0;                   ///< of the workers' time: in tasks
  double waiting_for_data = 0;       ///< likewise: they had tasks, whose data were on their way
  double without_tasks = 0;          ///< likewise: the rest
  std::string link;                  ///< the wire that was in use the longest; empty if none was
  double link_busy = 0;              ///< of the time: it carried copies
  bool on_devices = false;           ///< workers are those of devices
  unsigned workers = 0;              ///< that are counted
  std::uint64_t tile = 0;            ///< elements a side; 0: unknown
  double without_core = 0;           ///< of the workers' time: their threads wanted a core and had none
  std::optional<double> had_core{};  ///< of the time in which they wanted one; nothing: not counted
  CoresTakenBy cores_taken_by = CoresTakenBy::other_programs;

  /// For programs: "other_programs", "cpu_quota" or "too_many_workers"; "files", "computing", "disk" or
  /// "link", "tasks".
  std::string_view name() const noexcept;
  /// For people: "other programs", "computing", "the disk", "the wire gpu0", "too few tasks".
  std::string words() const;
  /// The figures behind it, in one sentence.
  std::string reason() const;
  /// What may help; empty where nothing is to be said.
  std::string advice() const;
};

/// What is measured of a run, as the rule needs it.
struct Measured {
  struct Wire {
    std::string name;
    double busy_seconds = 0;
  };
  double seconds = 0, file_seconds = 0;  ///< of the run; of these, on the user's files
  double counted_seconds = 0;            ///< of the following
  unsigned workers = 0;
  std::uint64_t tile = 0;                                 ///< elements a side; 0: unknown
  bool on_devices = false;                                ///< those of cores are not counted
  double busy_seconds = 0, waiting_for_data_seconds = 0;  ///< sums over the workers
  std::vector<Wire> wires;
  /// Sums over the workers' threads; nothing: not counted.
  std::optional<double> on_core_seconds{}, without_core_seconds{};
  unsigned cores = 0;            ///< that the program may use; 0: unknown
  double throttled_seconds = 0;  ///< in which the control group's quota held threads up, summed over them
};
Limiting limiting(const Measured& measured);

}  // namespace fairlead::report
