// Why is nothing running? What an engine says of itself at a moment: which tasks run, and for each that waits
// the datum, the copy, the memory and its holders, the worker or the hold that it waits for.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace fairlead::engine {

/// How things are called, and what the engine cannot know.
struct Naming {
  std::function<std::string(DatumId)> datum;  ///< called under the engine's lock
  std::function<bool(WorkerId)> in_body;      ///< the worker executes a body now
  Time now{};
};

struct Situation {
  std::size_t unfinished = 0;  ///< tasks and holds that the engine knows and that are not over
  bool working = false;        ///< a body runs, or a copy is under way that is not late
  bool application_waits = false;
  std::vector<std::string> lines;  ///< one for each thing, what it waits for last; may contain line ends

  /// Nothing can be expected to happen, although somebody waits for it.
  bool stalled() const noexcept { return !working && unfinished != 0; }
  /// All lines, indented.
  std::string text() const;
};

/// Copies that take so many times as long as their link's bandwidth says, and at least so long, are late.
inline constexpr int late_factor = 10;
inline constexpr Duration late_at_least{500'000'000};

}  // namespace fairlead::engine
