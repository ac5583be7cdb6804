// The state of a runtime as JSON, for the live page (live.html) and for scripts.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "engine/runtime_core.hpp"
#include "front/live/live_progress.hpp"

namespace fairlead::front {

/// What the engine does not know.
struct LiveFacts {
  std::string program{};  ///< the command line
  std::string host{};
  std::uint32_t rank = 0, ranks = 1;
  double elapsed_seconds = 0;                   ///< since the runtime was made
  std::optional<LiveProgress> progress{};       ///< none: the tasks of the runtime are counted
  std::uint64_t messages = 0, value_bytes = 0;  ///< sent to other ranks
};

/// How the run has ended.
struct LiveEnd {
  bool failed = false;
  std::string why{};  ///< of a failure
};

/// The command line of this process, with blanks between arguments, shortened.
std::string program_text();

/// `end`: null during the run. Takes the engine's lock. Any thread.
Json live_state(const LiveFacts& facts, engine::RuntimeCore& core, const engine::StatusReport& status,
                const LiveEnd* end);

}  // namespace fairlead::front
