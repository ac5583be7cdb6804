// Slowdowns: a processor is slower for a while, for a reason unknown to policies, such as other users or heat.
#pragma once
#include <string_view>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "machine/topology.hpp"

namespace fairlead::simulate {

struct Slowdown {
  bool is_device = false;  ///< false: a core
  std::size_t number = 0;  ///< among those that are used
  double times = 1;        ///< factor on its durations
  Time from{}, until = Time::max();
};

/// Parses "gpu1:4:0.5-0.9,core0:2": device 1 takes four times as long from 0.5 s to 0.9 s, core 0 twice as long all the
/// time. Throws ConfigError with the syntax.
std::vector<Slowdown> slowdowns_in(std::string_view written);

/// The slowdowns by worker. Throws ConfigError for an unknown processor.
std::vector<backend::WorkerSlowdown> by_worker(const std::vector<Slowdown>& slowdowns,
                                               const Topology& topology);

}  // namespace fairlead::simulate
