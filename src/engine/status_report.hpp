// A status report of the engine: the running tasks, and for each waiting task the datum, copy, memory (and its users),
// worker or hold that it waits for.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace fairlead::engine {

/// Names and facts that the engine does not have.
struct Naming {
  std::function<std::string(DatumId)> datum;  ///< called under the engine's lock
  std::function<bool(WorkerId)> in_body;      ///< the worker executes a body now
  Time now{};
};

/// What a worker does now, by the first of its unfinished tasks.
struct WorkerStatus {
  enum class State : std::uint8_t {
    idle,                // without a task
    absent,              // takes no tasks: a lost device, or the program's thread while it does not wait
    waiting_for_memory,  // the task is not admitted
    waiting_for_data,    // the task is admitted; copies are in flight
    starting,  // the task is staged, and its body has not started, or an asynchronous body has returned
    running,
  };
  static constexpr std::array<const char*, 6> state_names{
      "idle", "absent", "waiting for memory", "waiting for data", "starting", "running"};
  State state = State::idle;
  std::string task{};  ///< "gemm(A[3,1], A[2,1], A[3,2])"; empty: none
};

struct StatusReport {
  std::size_t unfinished = 0;  ///< unfinished tasks and holds in the engine
  bool working = false;        ///< a body runs, or a copy is in flight and not late
  bool application_waits = false;
  /// one for each task or copy, with the reason of its wait last; may contain line breaks
  std::vector<std::string> lines;
  std::vector<WorkerStatus> workers;  ///< by WorkerId

  /// Whether no progress can be expected although tasks are unfinished.
  bool stalled() const noexcept { return !working && unfinished != 0; }
  /// All lines, indented.
  std::string text() const;
};

/// A copy is late if it takes late_factor times as long as its link's bandwidth predicts, and at least late_at_least.
inline constexpr int late_factor = 10;
inline constexpr Duration late_at_least{500'000'000};

}  // namespace fairlead::engine
