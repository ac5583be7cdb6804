// What a logged engine was made with: its machine, its policy, and the options that enter its decisions. It
// stands at the head of a log file, so that a log can be replayed without the run that wrote it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine/topology.hpp"
#include "model/kept_duration.hpp"

namespace fairlead::engine {

struct LogHead {
  std::string policy;              ///< by the name under which it is registered
  std::uint64_t seed = 0;          ///< of the engine
  std::size_t pipeline_depth = 0;  ///< as it was set; 0: chosen by the engine
  bool keep_ids = false;           ///< see Options::keep_ids
  bool first_bodies = false;       ///< see Options::first_bodies
  bool rehearses = false;          ///< there was somebody to play tasks beforehand: see Options::rehearsal
  std::size_t idle_cores = 0;      ///< how many it had for that
  bool durations_known = false;    ///< the log says how long tasks take: see Options::estimate
  Topology topology;
  model::KeptDurations durations{};  ///< what its model of durations started with

  std::vector<std::uint64_t> words() const;
  /// Throws InputError if that is no head of a log.
  static LogHead from(std::span<const std::uint64_t> words);
};

}  // namespace fairlead::engine
