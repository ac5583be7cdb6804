// A small random number generator. Its sequence is the same on every machine and with every standard library, so
// decisions and simulated runs can be reproduced from their seed.
#pragma once
#include <cstdint>

namespace fairlead {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
  __extension__ using Wide = unsigned __int128;

 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15u); }

  /// Uniform in [0, bound); `bound` > 0. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  /// Uniform in [low, high], both included.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  /// True with probability 1 / `times`.
  constexpr bool once_in(std::uint64_t times) noexcept { return below(times) == 0; }
  /// Uniform in [0, 1).
  constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// A well-mixed function of one number, usable as a stateless hash.
  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace fairlead
