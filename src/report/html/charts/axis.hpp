// Axes: round steps, ticks and what is written at them. axis.js has the same rule for pictures that a script
// draws; tests/report/round_steps.txt is what both are held to.
#pragma once
#include <string>
#include <vector>

namespace fairlead::report::html {

/// 1, 2 or 5 times a power of ten, so that about `wanted` of them make `range`, and no more.
double round_step(double range, double wanted);
/// Multiples of `step` from `from` to `to`, as far as rounding allows.
std::vector<double> ticks_between(double from, double to, double step);

/// From zero to the first round number that is not below `most`, which is above zero.
class AxisFromZero {
 public:
  explicit AxisFromZero(double most);
  double end() const noexcept { return end_; }
  std::vector<double> ticks() const { return ticks_between(0, end_, step_); }

 private:
  double step_, end_;
};

/// As it stands at a tick: "1,200", "120", "1.25".
std::string tick_text(double value);
/// With as many digits behind the point as beside values like the largest.
std::string column_text(double value, double largest);

}  // namespace fairlead::report::html
