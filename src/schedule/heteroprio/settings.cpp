// Looks through what a user says for contradictions.
#include "schedule/heteroprio/settings.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>

#include "base/suggest.hpp"

namespace fairlead::schedule::heteroprio {

void Settings::check() const {
  std::vector<std::string_view> named;
  for (std::size_t kind = 0; kind < worker_kind_count; ++kind) {
    std::vector<std::string_view> here;
    for (const auto& group : orders[kind])
      for (const std::string& codelet : group) {
        if (std::ranges::find(here, codelet) != here.end())
          throw ConfigError(
              fmt::format("{}: the order of {} names {} twice", policy, worker_kind_names[kind], codelet));
        here.push_back(codelet);
      }
    named.insert(named.end(), here.begin(), here.end());
  }
  for (const SpeedupFactor& one : factors) {
    const std::string_view kind = worker_kind_names[index(one.fastest)];
    if (factor(one.codelet) != &one)
      throw ConfigError(fmt::format("{}: two speedup factors are given for {}", policy, one.codelet));
    if (!(one.factor >= 1))
      throw ConfigError(
          fmt::format("{}: the speedup factor of {} is {}, but the fastest kind is at least 1 "
                      "times as fast as the others",
                      policy, one.codelet, one.factor));
    if (!named.empty() && std::ranges::find(named, one.codelet) == named.end())
      throw ConfigError(fmt::format("{}: a speedup factor is given for {}, which no order names{}", policy,
                                    one.codelet, did_you_mean(one.codelet, named)));
    if (!orders[index(one.fastest)].empty() && !place(one.fastest, one.codelet).has_value())
      throw ConfigError(fmt::format(
          "{}: {} is said to be the fastest for {}, but its order does not name that. The fastest "
          "kind must be able to run a codelet, or the others wait for it in vain: name {} in the "
          "order of {}, or another kind in the speedup factor",
          policy, kind, one.codelet, one.codelet, kind));
  }
}

const SpeedupFactor* Settings::factor(std::string_view codelet) const noexcept {
  const auto found = std::ranges::find(factors, codelet, &SpeedupFactor::codelet);
  return found == factors.end() ? nullptr : &*found;
}

std::optional<std::size_t> Settings::place(WorkerKind kind, std::string_view codelet) const noexcept {
  const KindOrder& order = orders[index(kind)];
  for (std::size_t i = 0; i < order.size(); ++i)
    if (std::ranges::find(order[i], codelet) != order[i].end()) return i;
  return std::nullopt;
}

}  // namespace fairlead::schedule::heteroprio
