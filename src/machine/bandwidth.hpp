// The bandwidth of a link in each direction.
#pragma once
#include <algorithm>

namespace fairlead {

/// In bytes per second. `away` is the direction from a link's first node to its second: from the disk to RAM, from RAM
/// to a device. `back` is the opposite direction.
struct Bandwidth {
  constexpr Bandwidth(double both) noexcept : out(both), in(both) {}
  constexpr Bandwidth(double away_, double back_) noexcept : out(away_), in(back_) {}

  constexpr double of(bool away_from_home) const noexcept { return away_from_home ? out : in; }
  /// The same link with its nodes exchanged.
  constexpr Bandwidth reversed() const noexcept { return {in, out}; }
  friend constexpr bool operator==(const Bandwidth&, const Bandwidth&) = default;

  double out, in;
};

/// The bandwidth of two links in series, in each direction.
constexpr Bandwidth in_series(const Bandwidth& a, const Bandwidth& b) noexcept {
  return {std::min(a.out, b.out), std::min(a.in, b.in)};
}

}  // namespace fairlead
