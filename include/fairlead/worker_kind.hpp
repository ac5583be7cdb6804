// The kinds of processor that run tasks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead {

/// What kind of processor a worker is. A codelet has implementations for one kind or several.
enum class WorkerKind : std::uint8_t {
  cpu,       // a core
  emulated,  // an accelerator played by a thread, with memory and a wire of its own
  cuda,
  opencl,
};
inline constexpr std::size_t worker_kind_count = 4;
/// By WorkerKind, as files and options say them.
inline constexpr std::array<std::string_view, worker_kind_count> worker_kind_names{"cpu", "emulated", "cuda",
                                                                                   "opencl"};

}  // namespace fairlead
