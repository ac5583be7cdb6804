// Runs what-if simulations for the default policy and reports their completion. In a real run, a separate thread
// simulates. In a simulated run, a simulation takes as much virtual time as it would take in a real one.
#pragma once
#include <cstddef>

#include "backend/sim/sim_world.hpp"
#include "engine/options.hpp"

namespace fairlead::front {

/// The factory for engine::Options::what_if_simulation. `idle_cores`: host cores that run no tasks.
decltype(engine::Options::what_if_simulation) background_simulations(std::size_t idle_cores);
/// The same for a simulated run. `world` must outlive the engine; it reports completion when the time has passed.
decltype(engine::Options::what_if_simulation) virtual_time_simulations(backend::SimWorld& world,
                                                                       std::size_t idle_cores);

}  // namespace fairlead::front
