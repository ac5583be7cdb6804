// What comes from other ranks and goes to them shares the memory in which the cores compute.
#pragma once
#include "engine/runtime_core.hpp"

namespace fairlead::front {

/// Of this rank.
inline Bytes host_capacity(const engine::RuntimeCore& core) {
  return core.topology().nodes[index(core.engine().view().host())].capacity;
}

}  // namespace fairlead::front
