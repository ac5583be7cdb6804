// The kinds of processor that run tasks.
#pragma once
#include <cstdint>

namespace fairlead {

/// What kind of processor a worker is. A codelet has at most one implementation per kind.
enum class WorkerKind : std::uint8_t { cpu, emulated, cuda, opencl };

}  // namespace fairlead
