// Parses "option=value:option=value" and reports errors.
#include "policy/policy_options.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/suggest.hpp"

namespace fairlead {

PolicyOptions::PolicyOptions(std::string_view policy, std::span<const PolicyOption> known,
                             std::string_view written, std::string_view kind)
    : kind_(kind), policy_(policy) {
  std::vector<std::string_view> names;
  for (const PolicyOption& option : known) {
    names.push_back(option.name);
    values_.emplace(option.name, option.default_value);
  }
  while (!written.empty()) {
    const std::string_view one = written.substr(0, written.find(':'));
    written.remove_prefix(std::min(one.size() + 1, written.size()));
    const std::size_t equals = one.find('=');
    const std::string_view name = one.substr(0, equals);
    const auto found = values_.find(name);
    if (found == values_.end())
      throw ConfigError(known.empty()
                            ? fmt::format("the {} {} has no options, but is given \"{}\"", kind, policy, one)
                            : fmt::format("the {} {} has no option \"{}\"{}; it has {}", kind, policy, name,
                                          did_you_mean(name, names), fmt::join(names, ", ")));
    if (equals == one.npos || equals + 1 == one.size()) refuse(name, "is given no value: write option=value");
    if (!given_.emplace(name, true).second) refuse(name, "is set twice");
    found->second = one.substr(equals + 1);
  }
}

PolicyOptions::~PolicyOptions() = default;

const std::string& PolicyOptions::text(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    throw UsageError(
        fmt::format("the policy {} reads an option \"{}\" that it does not list", policy_, name));
  return found->second;
}

std::size_t PolicyOptions::choice(std::string_view name, std::span<const std::string_view> choices) const {
  const auto found = std::ranges::find(choices, text(name));
  if (found == choices.end())
    refuse(name, fmt::format("is \"{}\", but must be one of {}{}", text(name), fmt::join(choices, ", "),
                             did_you_mean(text(name), choices)));
  return static_cast<std::size_t>(found - choices.begin());
}

double PolicyOptions::number(std::string_view name, double least, double most) const {
  const std::string& written = text(name);
  double value = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (error != std::errc{} || end != written.data() + written.size() || !(value >= least && value <= most))
    refuse(name, fmt::format("is \"{}\", but must be a number from {} to {}", written, least, most));
  return value;
}

std::int64_t PolicyOptions::integer(std::string_view name, std::int64_t least, std::int64_t most) const {
  const std::string& written = text(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (error != std::errc{} || end != written.data() + written.size() || value < least || value > most)
    refuse(name, fmt::format("is \"{}\", but must be a whole number from {} to {}", written, least, most));
  return value;
}

bool PolicyOptions::flag(std::string_view name) const {
  constexpr std::array<std::string_view, 2> choices{"no", "yes"};
  return choice(name, choices) == 1;
}

void PolicyOptions::refuse(std::string_view name, std::string_view why) const {
  throw ConfigError(fmt::format("the option {} of the {} {} {}", name, kind_, policy_, why));
}

}  // namespace fairlead
