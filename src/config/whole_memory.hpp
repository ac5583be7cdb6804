// The memory to which a share such as "50%" refers. Declared here and defined in src/machine: src/config must not
// depend on it.
#pragma once
#include <fairlead/ids.hpp>

namespace fairlead::config {

/// The memory of this machine, or the limit of its control group, in bytes.
Bytes total_memory_or_limit();

}  // namespace fairlead::config
