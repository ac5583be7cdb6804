// What a share of memory ("50%") is a share of. Declared here, where it is asked for, and defined by
// src/machine, which knows: settings come before the machine in the order of folders.
#pragma once
#include <fairlead/ids.hpp>

namespace fairlead::config {

/// All memory of this machine, or what a control group allows of it.
Bytes whole_memory();

}  // namespace fairlead::config
