// How fast bytes go over a wire, in each of its directions.
#pragma once
#include <algorithm>

namespace fairlead {

/// Bytes per second. Away from home is from a link's first node to its second: from the disk to RAM, from RAM
/// to a device.
struct Bandwidth {
  constexpr Bandwidth(double both) noexcept : away(both), back(both) {}
  constexpr Bandwidth(double away_, double back_) noexcept : away(away_), back(back_) {}

  constexpr double of(bool away_from_home) const noexcept { return away_from_home ? away : back; }
  /// Of the same wire, seen from its other end.
  constexpr Bandwidth reversed() const noexcept { return {back, away}; }
  friend constexpr bool operator==(const Bandwidth&, const Bandwidth&) = default;

  double away, back;
};

/// Of two wires one after the other, both ways.
constexpr Bandwidth slower(const Bandwidth& a, const Bandwidth& b) noexcept {
  return {std::min(a.away, b.away), std::min(a.back, b.back)};
}

}  // namespace fairlead
