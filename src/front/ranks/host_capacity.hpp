// The capacity of the memory in which cores compute; values sent and received share it.
#pragma once
#include "engine/runtime_core.hpp"

namespace fairlead::front {

/// The capacity on this rank, in bytes.
inline Bytes host_capacity(const engine::RuntimeCore& core) {
  return core.topology().nodes[index(core.engine().view().host())].capacity;
}

}  // namespace fairlead::front
