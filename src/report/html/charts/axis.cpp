// The same rule as in axis.js.
#include "report/html/charts/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report/units.hpp"

namespace fairlead::report::html {

double round_step(double range, double wanted) {
  const double rough = range / wanted, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double nice : {1.0, 2.0, 5.0})
    if (rough <= nice * power) return nice * power;
  return 10 * power;
}

std::vector<double> ticks_between(double from, double to, double step) {
  std::vector<double> ticks;
  const double first = std::ceil(from / step - 1e-6) + 0.0;  // + 0.0 avoids -0
  const double last = std::floor(to / step + 1e-6);
  for (double k = 0; first + k <= last; ++k) ticks.push_back((first + k) * step);
  return ticks;
}

AxisFromZero::AxisFromZero(double most)
    : step_(round_step(most, 6)), end_(std::ceil(most / step_ - 1e-9) * step_) {}

std::string tick_text(double value) {
  if (value >= 999.5 && value < 1e15) return with_commas(static_cast<std::uint64_t>(value + 0.5));
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string column_text(double value, double largest) {
  if (largest >= 1000) return tick_text(std::max(value, 0.0));
  return fmt::format("{:.{}f}", value, largest >= 100 ? 0 : largest >= 10 ? 1 : largest >= 1 ? 2 : 4);
}

}  // namespace fairlead::report::html
