// Parses the options of heteroprio and laheteroprio and checks them for contradictions. Slashes separate list items, +
// joins codelets of equal priority, @ separates the parts of an item: none of these characters is special in a shell or
// in a list of policies.
#include "schedule/heteroprio/settings.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/suggest.hpp"

namespace fairlead::schedule::heteroprio {

namespace {

constexpr std::array<std::string_view, 7> affinity_choices{"laru", "mc",   "sdh", "sdh2",
                                                           "sdhb", "smwb", "auto"};
constexpr std::string_view found = "found";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

WorkerKind read_kind(const PolicyOptions& options, std::string_view option, std::string_view text) {
  const auto kind = std::ranges::find(worker_kind_names, text);
  if (kind == worker_kind_names.end())
    options.refuse(option,
                   fmt::format("names the kind of worker \"{}\", but there are {}{}", text,
                               fmt::join(worker_kind_names, ", "), did_you_mean(text, worker_kind_names)));
  return static_cast<WorkerKind>(kind - worker_kind_names.begin());
}

KindOrder read_order(const PolicyOptions& options, std::string_view kind) {
  KindOrder order;
  if (options.text(kind) == found) return order;
  for (const std::string_view group : split(options.text(kind), '/')) {
    order.emplace_back();
    for (const std::string_view codelet : split(group, '+')) {
      if (codelet.empty())
        options.refuse(kind, fmt::format("is \"{}\", where a codelet's name is missing", options.text(kind)));
      order.back().emplace_back(codelet);
    }
  }
  return order;
}

std::vector<SpeedupFactor> read_factors(const PolicyOptions& options) {
  std::vector<SpeedupFactor> factors;
  if (options.text("speedup") == found) return factors;
  for (const std::string_view one : split(options.text("speedup"), '/')) {
    const auto parts = split(one, '@');
    SpeedupFactor factor;
    if (parts.size() != 3 || parts[0].empty() || !read_number(parts[2], factor.factor) ||
        !(factor.factor >= 1 && factor.factor <= 1e9))
      options.refuse(
          "speedup",
          fmt::format("has \"{}\", but must have a codelet, the kind of worker that is fastest, and "
                      "how many times as fast it is, from 1 on: gemm@cuda@1.4",
                      one));
    factor.codelet = parts[0];
    factor.fastest = read_kind(options, "speedup", parts[1]);
    factors.push_back(std::move(factor));
  }
  return factors;
}

/// Parses "2", or values by kind as in "cpu@2/cuda@all/others@1"; calls `set` for each.
template <class Set>
void read_by_kind(const PolicyOptions& options, std::string_view option, std::size_t least, Set&& set) {
  for (const std::string_view one : split(options.text(option), '/')) {
    const std::size_t at = one.find('@');
    const std::string_view number = at == one.npos ? one : one.substr(at + 1);
    std::size_t value = unlimited;
    if (number != "all" && (!read_number(number, value) || value < least))
      options.refuse(option,
                     fmt::format("has \"{}\", but must have whole numbers from {} on, or all, for all "
                                 "kinds of worker or by kind: cpu@2/others@all",
                                 one, least));
    if (at == one.npos || one.substr(0, at) == "others")
      for (std::size_t kind = 0; kind < worker_kind_count; ++kind) set(kind, value, false);
    else
      set(index(read_kind(options, option, one.substr(0, at))), value, true);
  }
}
void read_reach(const PolicyOptions& options, std::string_view option, std::size_t least,
                ByKind<LocalityRange>& reach, std::size_t LocalityRange::*member) {
  ByKind<bool> by_name{};
  read_by_kind(options, option, least, [&](std::size_t kind, std::size_t value, bool named) {
    if (named || !by_name[kind]) reach[kind].*member = value;
    by_name[kind] |= named;
  });
}

}  // namespace

HeteroprioSettings read_settings(const PolicyOptions& options, bool with_locality) {
  HeteroprioSettings settings;
  settings.policy = with_locality ? "laheteroprio" : "heteroprio";
  for (std::size_t kind = 0; kind < worker_kind_count; ++kind)
    settings.orders[kind] = read_order(options, worker_kind_names[kind]);
  settings.factors = read_factors(options);
  if (with_locality) {
    Locality locality = default_locality();
    const std::size_t affinity = options.choice("affinity", affinity_choices);
    if (affinity < affinity_names.size()) locality.affinity = static_cast<Affinity>(affinity);
    read_reach(options, "lambda", 1, locality.reach, &LocalityRange::lambda);
    read_reach(options, "subgroups", 0, locality.reach, &LocalityRange::subgroups);
    locality.alpha = options.number("alpha", 0, 1);
    locality.theta = options.number("theta", 0, 1e9);
    settings.locality = locality;
  }
  settings.check();
  return settings;
}

/// The paper: for devices the largest lambda is best, and for cores it matters little. Table 3 has S = 1 for devices
/// and all other nodes for cores.
Locality default_locality() {
  Locality locality;
  for (LocalityRange& reach : locality.reach) reach = {unlimited, 1};
  locality.reach[index(WorkerKind::cpu)] = {2, unlimited};
  return locality;
}

void HeteroprioSettings::check() const {
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

const SpeedupFactor* HeteroprioSettings::factor(std::string_view codelet) const noexcept {
  const auto it = std::ranges::find(factors, codelet, &SpeedupFactor::codelet);
  return it == factors.end() ? nullptr : &*it;
}

std::optional<std::size_t> HeteroprioSettings::place(WorkerKind kind,
                                                     std::string_view codelet) const noexcept {
  const KindOrder& order = orders[index(kind)];
  for (std::size_t i = 0; i < order.size(); ++i)
    if (std::ranges::find(order[i], codelet) != order[i].end()) return i;
  return std::nullopt;
}

}  // namespace fairlead::schedule::heteroprio
