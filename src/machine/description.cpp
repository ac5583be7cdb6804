// Rates of kernels, and lookup by name.
#include "machine/description.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>

#include "base/suggest.hpp"

namespace fairlead::machine {

double KernelRate::rate(double side) const noexcept {
  if (by_side.empty()) return half_side > 0 ? flops_per_second * side / (side + half_side) : flops_per_second;
  const auto after = std::ranges::lower_bound(by_side, side, {}, &std::pair<double, double>::first);
  if (after == by_side.begin()) return by_side.front().second;
  if (after == by_side.end()) return by_side.back().second;
  const auto& [from, slow] = *(after - 1);
  const auto& [to, fast] = *after;
  return slow + (fast - slow) * (side - from) / (to - from);
}

Duration KernelRate::duration(double flops, double side) const noexcept {
  const double nanoseconds = flops > 0 ? std::ceil(flops / rate(std::max(side, 1.0)) * 1e9) : 0;
  return overhead + std::max(virtual_duration(nanoseconds), Duration(1));
}

const KernelRate* ProcessorDescription::rate_of(std::string_view kernel,
                                                std::string_view precision) const noexcept {
  for (const std::string_view wanted : {kernel, std::string_view("*")})
    for (const KernelRate& rate : rates)
      if (rate.kernel == wanted && (rate.precision.empty() || rate.precision == precision)) return &rate;
  return nullptr;
}

const ProcessorDescription& MachineDescription::processor(std::string_view wanted) const {
  std::vector<std::string_view> names;
  for (const ProcessorDescription& one : processors) {
    if (one.name == wanted) return one;
    names.push_back(one.name);
  }
  throw ConfigError(fmt::format("the machine {} describes no processor \"{}\"{}; it has {}", name, wanted,
                                did_you_mean(wanted, names), fmt::join(names, ", ")));
}

}  // namespace fairlead::machine
