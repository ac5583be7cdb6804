// Many runs: each once, several at a time, and none that was run before by the same program.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/shared_file.hpp"
#include "experiment/run.hpp"

namespace fairlead::experiment {

struct BatchProgress {
  std::size_t done = 0, all = 0, from_cache = 0;
};

class BatchRunner {
 public:
  /// `directory`: where figures are kept; empty: nowhere. `program`: a word for what computes them; others'
  /// figures are not used.
  BatchRunner(std::string directory, std::string program)
      : directory_(std::move(directory)), program_(std::move(program)) {}

  /// All of them, on `threads` threads or as many as there are; `on_progress` is called under a lock after each run.
  /// `stop_requested`, which another thread may set: backend::SimulationStopped is thrown then. Runs that were over are kept.
  Results run_all(const std::vector<RunSpec>& specs, unsigned threads,
                  const std::function<void(const BatchProgress&)>& on_progress,
                  const std::atomic<bool>* stop_requested = nullptr);

 private:
  /// The cache file of the run. Its name is a hash of all inputs of the run.
  SharedFile kept(const RunSpec& spec) const;
  bool load(const RunSpec& spec, Figures& figures) const;
  void keep(const RunSpec& spec, const Figures& figures) const;

  std::string directory_, program_;
};

}  // namespace fairlead::experiment
