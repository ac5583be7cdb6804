// The random runs that the tests make, one or many of them, outside the tests.
#pragma once
#include <fairlead/config.hpp>

namespace fairlead::app {

/// What `fairlead simulate --replay` does: the run of --seed, shown; or those of --seeds, of which only
/// failures are shown. The policy follows from the seed if --scheduler does not say. Returns the process's
/// exit code. Throws ConfigError for options that say nothing here.
int replay_seeds(const Config& config);

}  // namespace fairlead::app
