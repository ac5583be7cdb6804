// Time is an integer everywhere: nanoseconds since the runtime began, by the wall clock or by a simulated
// one.
#pragma once
#include <chrono>
#include <cstdint>

namespace fairlead {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::nanoseconds;  ///< since the runtime began

/// Virtual time ends there, after 28 years: what takes longer is as long as this. The sum of some such is a Duration still.
inline constexpr Duration end_of_virtual_time{900'000'000'000'000'000};

/// So many nanoseconds of it.
constexpr Duration virtual_duration(double nanoseconds) noexcept {
  return nanoseconds < static_cast<double>(end_of_virtual_time.count())
             ? Duration(static_cast<std::int64_t>(nanoseconds))
             : end_of_virtual_time;
}

constexpr double seconds(Duration duration) noexcept { return static_cast<double>(duration.count()) * 1e-9; }

}  // namespace fairlead
