// What kept a run from being faster, by one rule from what was measured: the same words in the text, the JSON
// and the page.
//
//   1. files      Reading the input and writing the output took half of the time or more.
//   2. computing  Workers were in tasks for three quarters of the time or more.
//   3. link       They were not, and a wire carried copies for nine tenths of the time or more; or they
//                 waited for data longer than they had nothing to do. Of several wires, the one in use the
//                 longest.
//   4. tasks      Else: there were too few tasks that could run.
//
// Where tasks ran on CUDA or OpenCL devices, workers are theirs alone: beside them a core that has nothing to do loses nothing.
//
// Times of workers and wires are those between two moments, `RunReport::counted_seconds`; in them a worker is
// in a task, waits for the data of one, or has none.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::report {

struct RunReport;

enum class Limit : std::uint8_t { files, computing, link, tasks };

/// Parts of the time, from 0 to 1.
struct Limiting {
  Limit limit = Limit::computing;
  double files = 0;             ///< of `RunReport::seconds`: reading the input, writing the output
  double busy = 0;              ///< of the workers' time: in tasks
  double waiting_for_data = 0;  ///< likewise: they had tasks, whose data were on their way
  double without_tasks = 0;     ///< likewise: the rest
  std::string link;             ///< the wire that was in use the longest; empty if none was
  double link_busy = 0;         ///< of the time: it carried copies
  bool on_devices = false;      ///< workers are those of devices

  /// For programs: "files", "computing", "disk" or "link", "tasks".
  std::string_view name() const noexcept;
  /// For people: "computing", "the disk", "the wire gpu0", "too few tasks".
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
  bool on_devices = false;                                ///< those of cores are not counted
  double busy_seconds = 0, waiting_for_data_seconds = 0;  ///< sums over the workers
  std::vector<Wire> wires;
};
Limiting limiting(const Measured& measured);

}  // namespace fairlead::report
