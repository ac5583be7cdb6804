// The recent durations of similar tasks, and the expected value. Neither cold first runs nor outliers move it far; a
// lasting change takes effect within one window.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace fairlead::model {

/// A summary of a distribution: the sorted samples at 1/16, 3/16, ... 15/16.
using Quantiles = std::array<std::int64_t, 8>;

class QuantileHistory {
 public:
  static constexpr std::size_t window = 32;
  static constexpr std::size_t enough = 4;  ///< samples for a reliable expected value

  /// Adds the duration of a task in ns. The first of a process includes cold caches and code loading: it counts only
  /// while it is the only one.
  void add(std::int64_t duration_ns) noexcept;
  /// Loads the results of earlier processes. Before the first add().
  void start_with(const Quantiles& kept) noexcept;

  /// In ns, at least 1; 0 without samples. The mean of the middle half; with few samples, of the second quarter,
  /// since half of them may be warm-up.
  std::int64_t expected_ns() const noexcept { return expected_; }
  std::size_t samples() const noexcept { return filled_; }  ///< in the window
  /// Samples of this process, including those that have left the window.
  std::uint64_t added() const noexcept { return added_; }
  /// The quantiles of the samples in the window; zeros without samples.
  Quantiles quantiles() const noexcept;

 private:
  std::span<const std::int64_t> sorted(std::array<std::int64_t, window>& room) const noexcept;
  void update() noexcept;

  std::array<std::int64_t, window> recent_;  // ring buffer; the first `filled_` are set
  std::int64_t expected_ = 0;
  std::uint64_t added_ = 0;
  std::uint32_t filled_ = 0, next_ = 0;
};

/// The quantiles of both together, with equal weights.
Quantiles merged(const Quantiles& a, const Quantiles& b) noexcept;

}  // namespace fairlead::model
