// Replays a logged run without its world: passes the logged events to a new engine in the batches in which they were
// served. The engine gives the same commands, since it has no other input.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "engine/engine.hpp"

namespace fairlead::engine {

struct ReplayResult {
  std::uint64_t digest = 0;    ///< of all commands; equals CommandDigest::value() of the logged run
  std::uint64_t commands = 0;  ///< launches, recalls, copies, completions, stops
  std::uint64_t events = 0;
  std::uint64_t compared = 0;  ///< batches for which the log has a digest
  /// The first batch for which this engine's commands differ from those of the logged run; empty: none.
  std::string difference{};
  /// The internal error of the engine, as in the logged run; null if none.
  std::exception_ptr fatal{};
};

/// Replays the words of a log (EventLog::words()) with this machine and policy. Of the options, pipeline depth, seed
/// and deliberate mistake must be those of the logged run, as must the presence of an estimate and of a what-if
/// simulator (with as many idle cores); their results are in the log. Throws InputError if the words are not a log, or
/// if an event cannot follow from the commands before it: then the log is damaged, or of another machine, policy or
/// version of the engine.
ReplayResult replay(const Topology& topology, std::unique_ptr<Policy> policy, Options options,
                    std::span<const std::uint64_t> words);

/// Replays a log whose head gives the machine and options; `policy` must be the policy that the head names.
ReplayResult replay(const LogHead& head, std::unique_ptr<Policy> policy,
                    std::span<const std::uint64_t> words);

}  // namespace fairlead::engine
