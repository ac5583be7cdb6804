// Time is an integer: nanoseconds since the start of the runtime, by the wall clock or a simulated one.
#pragma once
#include <chrono>
#include <cstdint>

namespace fairlead {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::nanoseconds;  ///< since the start of the runtime

/// The end of virtual time, after 28 years; longer durations are clamped to it. The sum of several still fits into a
/// Duration.
inline constexpr Duration end_of_virtual_time{900'000'000'000'000'000};

/// Converts nanoseconds of virtual time, clamped to end_of_virtual_time.
constexpr Duration virtual_duration(double nanoseconds) noexcept {
  return nanoseconds < static_cast<double>(end_of_virtual_time.count())
             ? Duration(static_cast<std::int64_t>(nanoseconds))
             : end_of_virtual_time;
}

constexpr double seconds(Duration duration) noexcept { return static_cast<double>(duration.count()) * 1e-9; }

}  // namespace fairlead
