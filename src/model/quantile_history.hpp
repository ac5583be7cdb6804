// The last durations of tasks that should all take equally long, and the one figure to expect. Neither cold
// first runs nor outliers, however long, move it far; a lasting change moves it within one window.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace fairlead::model {

/// Eight figures that stand for a distribution: the samples at 1/16, 3/16, ... 15/16 of their order.
using Quantiles = std::array<std::int64_t, 8>;

class QuantileHistory {
 public:
  static constexpr std::size_t window = 32;
  static constexpr std::size_t enough = 4;  ///< from so many samples on, the figure is worth relying on

  /// One task took so long (ns). The first of a process pays for cold caches and code that is loaded when it
  /// is first called: it counts only as long as it is the only one.
  void add(std::int64_t duration_ns) noexcept;
  /// What earlier processes found; before the first add().
  void start_with(const Quantiles& kept) noexcept;

  /// The mean of the middle half, 0 without samples. While there are few samples, of the lower middle: then
  /// half of them may be from warming up. At least 1.
  std::int64_t expected_ns() const noexcept { return expected_; }
  std::size_t samples() const noexcept { return filled_; }  ///< within the window
  /// Of this process, whether or not they are still in the window.
  std::uint64_t added() const noexcept { return added_; }
  Quantiles quantiles() const noexcept;

 private:
  std::span<const std::int64_t> sorted(std::array<std::int64_t, window>& room) const noexcept;
  void look_again() noexcept;

  std::array<std::int64_t, window> recent_;  // a ring; the first `filled_` are set
  std::int64_t expected_ = 0;
  std::uint64_t added_ = 0;
  std::uint32_t filled_ = 0, next_ = 0;
};

/// Of both, equally heavy.
Quantiles merged(const Quantiles& a, const Quantiles& b) noexcept;

}  // namespace fairlead::model
