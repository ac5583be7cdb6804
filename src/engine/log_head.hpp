// The head of a log file: the machine, the policy, and the options that influence the engine's decisions. With it a log
// can be replayed without the program that wrote it.
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
  std::string policy;              ///< its registered name
  std::uint64_t seed = 0;          ///< the engine's random seed
  std::size_t pipeline_depth = 0;  ///< as configured; 0: chosen by the engine
  bool keep_ids = false;           ///< see Options::keep_ids
  bool first_bodies = false;       ///< see Options::first_bodies
  bool has_what_if = false;        ///< what-if simulation was available: see Options::what_if_simulation
  std::size_t idle_cores = 0;      ///< the number of idle cores for it
  bool durations_known = false;    ///< the log contains the durations of tasks: see Options::estimate
  Topology topology;
  model::KeptDurations durations{};  ///< the initial contents of the duration model

  std::vector<std::uint64_t> words() const;
  /// Throws InputError if the words are not the head of a log.
  static LogHead from(std::span<const std::uint64_t> words);
};

}  // namespace fairlead::engine
