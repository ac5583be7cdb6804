// Who rehearses, and when it is over: beside a real run a thread of its own does; in a simulated one it takes as long as it
// would take there.
#pragma once
#include <cstddef>

#include "backend/sim/sim_world.hpp"
#include "engine/options.hpp"

namespace fairlead::front {

/// For engine::Options::rehearsal. `idle_cores`: of the host, that run none of its tasks.
decltype(engine::Options::rehearsal) rehearsals_beside_the_run(std::size_t idle_cores);
/// The world, which stays as long as the engine, tells when that much time has passed.
decltype(engine::Options::rehearsal) rehearsals_in_virtual_time(backend::SimWorld& world,
                                                                std::size_t idle_cores);

}  // namespace fairlead::front
