// The kinds of processor that run tasks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead {

/// The kind of processor of a worker. A codelet has bodies for one kind or for several.
enum class WorkerKind : std::uint8_t {
  cpu,       // a CPU core
  emulated,  // a thread that emulates an accelerator with its own memory and link
  cuda,
  opencl,
};
inline constexpr std::size_t worker_kind_count = 4;
/// The names in files and options, by WorkerKind.
inline constexpr std::array<std::string_view, worker_kind_count> worker_kind_names{"cpu", "emulated", "cuda",
                                                                                   "opencl"};

}  // namespace fairlead
