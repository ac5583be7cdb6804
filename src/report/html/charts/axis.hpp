// Axes: round steps, ticks and their labels. axis.js implements the same rule for charts drawn by scripts;
// tests/report/round_steps.txt checks both.
#pragma once
#include <string>
#include <vector>

namespace fairlead::report::html {

/// 1, 2 or 5 times a power of ten, so that `range` has about `wanted` steps, and no more.
double round_step(double range, double wanted);
/// Multiples of `step` from `from` to `to`, with a tolerance for rounding.
std::vector<double> ticks_between(double from, double to, double step);

/// An axis from zero to the first round number that is at least `most`, which must be above zero.
class AxisFromZero {
 public:
  explicit AxisFromZero(double most);
  double end() const noexcept { return end_; }
  std::vector<double> ticks() const { return ticks_between(0, end_, step_); }

 private:
  double step_, end_;
};

/// A tick label: "1,200", "120", "1.25".
std::string tick_text(double value);
/// A number with as many decimal places as a column of values up to `largest` needs.
std::string column_text(double value, double largest);

}  // namespace fairlead::report::html
