// A processor that is slower for a while, for a reason that no policy knows: others use it, it is too hot.
#pragma once
#include <string_view>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "machine/topology.hpp"

namespace fairlead::simulate {

struct Slowdown {
  bool is_device = false;  ///< else a core
  std::size_t number = 0;  ///< of those that are used
  double times = 1;        ///< what it does takes so much longer
  Time from{}, until = Time::max();
};

/// "gpu1:4:0.5-0.9,core0:2": device 1 takes four times as long from 0.5 s to 0.9 s, core 0 twice as long all
/// the time. Throws ConfigError that shows how it is written.
std::vector<Slowdown> slowdowns_in(std::string_view written);

/// For each of its workers. Throws ConfigError if there is no such processor.
std::vector<backend::WorkerSlowdown> by_worker(const std::vector<Slowdown>& slowdowns,
                                               const Topology& topology);

}  // namespace fairlead::simulate
