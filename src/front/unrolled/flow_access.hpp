// The access of a task to the value of one of its flows.
#pragma once
#include <cstdint>

namespace fairlead::unrolled {

/// How a task uses the value of a flow; a control has none.
enum class FlowAccess : std::uint8_t { read, write, read_write, control };

}  // namespace fairlead::unrolled
