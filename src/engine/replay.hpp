// A logged run once more, without its world: the events of a log go to a fresh engine in the batches in which
// they were served, and the engine gives the same commands, since it has no other input. So a log shows what
// an engine did.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "engine/engine.hpp"

namespace fairlead::engine {

struct ReplayResult {
  std::uint64_t digest = 0;    ///< of all commands: equal to CommandDigest::value() of the logged run
  std::uint64_t commands = 0;  ///< launches, recalls, copies, completions, stops
  std::uint64_t events = 0;
  std::uint64_t compared = 0;  ///< batches of events of which the log tells how they were answered
  /// Where and how this engine first answered otherwise than that of the logged run; empty: nowhere.
  std::string difference{};
  /// What went wrong inside the engine, as it did in the logged run; null if nothing did.
  std::exception_ptr fatal{};
};

/// Feeds the words of a log (EventLog::words()) to an engine with this machine and policy. Of the options,
/// the depth of pipelines, the seed and the deliberate mistake must be those of the logged run, and whether
/// there are an estimate and a rehearsal (with as many idle cores): what they said is in the log. Throws InputError if the words are no
/// log, or if an event cannot follow from the commands before it: the log is damaged, or belongs to another
/// machine, policy, or version of the engine.
ReplayResult replay(const Topology& topology, std::unique_ptr<Policy> policy, Options options,
                    std::span<const std::uint64_t> words);

/// The words of a log whose head tells machine and options; the policy must be of the name that it has.
ReplayResult replay(const LogHead& head, std::unique_ptr<Policy> policy,
                    std::span<const std::uint64_t> words);

}  // namespace fairlead::engine
