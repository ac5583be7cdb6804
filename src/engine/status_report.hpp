// A status report of the engine: the running tasks, and for each waiting task the datum, copy, memory (and its users),
// worker or hold that it waits for.
#pragma once
#include <fairlead/ids.hpp>

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

struct StatusReport {
  std::size_t unfinished = 0;  ///< unfinished tasks and holds in the engine
  bool working = false;        ///< a body runs, or a copy is in flight and not late
  bool application_waits = false;
  /// one for each task or copy, with the reason of its wait last; may contain line breaks
  std::vector<std::string> lines;

  /// Whether no progress can be expected although tasks are unfinished.
  bool stalled() const noexcept { return !working && unfinished != 0; }
  /// All lines, indented.
  std::string text() const;
};

/// A copy is late if it takes late_factor times as long as its link's bandwidth predicts, and at least late_at_least.
inline constexpr int late_factor = 10;
inline constexpr Duration late_at_least{500'000'000};

}  // namespace fairlead::engine
