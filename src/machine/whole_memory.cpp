// See config/whole_memory.hpp.
#include "config/whole_memory.hpp"

#include <algorithm>

#include "machine/memory.hpp"

namespace fairlead {

Bytes config::total_memory_or_limit() {
  const machine::MachineMemory found = machine::detect_memory(machine::SystemFiles());
  return std::min(found.total_bytes, found.limit_bytes.value_or(found.total_bytes));
}

}  // namespace fairlead
